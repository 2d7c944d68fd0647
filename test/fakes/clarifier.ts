import { setTimeout as sleep } from 'node:timers/promises';
import type { Clarification, Clarifier } from '../../ports/clarifier.ts';
import { CancelledError } from '../../ports/errors.ts';

export interface FakeClarifier {
  readonly clarifier: Clarifier;
  shown(text: string): Promise<void>;
  seen(): string;
  write(text: string): void;
  leave(): void;
}

const POLL_MS = 2;
const POLLS = 1000;

/** A person in memory, who writes when the test says so. */
export function createFakeClarifier(): FakeClarifier {
  let text = '';
  let typed = '';
  let gone = false;
  let last: Promise<unknown> = Promise.resolve();

  const answer = async (timeoutMs: number, signal: AbortSignal): Promise<Clarification> => {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (signal.aborted) throw new CancelledError();
      const end = typed.indexOf('\n');
      if (end >= 0) {
        const line = typed.slice(0, end).trim();
        typed = typed.slice(end + 1);
        return line === '' ? { kind: 'unanswered', reason: 'empty' } : { kind: 'answered', text: line };
      }
      if (gone) return { kind: 'unanswered', reason: 'ended' };
      if (performance.now() >= deadline) return { kind: 'unanswered', reason: 'timeout' };
      await sleep(POLL_MS);
    }
  };

  return {
    clarifier: {
      ask(question, signal) {
        const asked = last.then(() => {
          if (signal.aborted) throw new CancelledError();
          text += `${question.text}\n`;
          return answer(question.timeoutMs, signal);
        });
        last = asked.catch(() => {});
        return asked;
      },
    },
    async shown(wanted) {
      for (let poll = 0; poll < POLLS && !text.includes(wanted); poll += 1) await sleep(POLL_MS);
      if (!text.includes(wanted)) throw new Error(`not shown: ${wanted}`);
    },
    seen: () => text,
    write: (line) => {
      typed += line;
    },
    leave: () => {
      gone = true;
    },
  };
}

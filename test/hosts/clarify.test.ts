import { describe, expect, it } from 'vitest';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { announced } from '../../hosts/clarify.ts';
import type { Question } from '../../ports/clarifier.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { RunEvent } from '../../ports/event.ts';

const signal = new AbortController().signal;

function person(answer: () => Promise<{ readonly kind: 'answered'; readonly text: string }>) {
  const events: RunEvent[] = [];
  const asked: Question[] = [];
  const inner = {
    ask: (question: Question) => {
      asked.push(question);
      return answer();
    },
  };
  const edges = { onEvent: (event: RunEvent) => events.push(event) };
  return {
    events,
    asked,
    clarifier: announced(inner, edges, { now: () => 7 }, createRandomIds(), (text) => text.replaceAll('canary', '[REDACTED]')),
  };
}

describe('a person who is asked', () => {
  it('sees text that cannot steer the terminal, between two events of the run', async () => {
    const { clarifier, asked, events } = person(async () => ({ kind: 'answered', text: 'x' }));
    await clarifier.ask({ text: 'a\u001b[2J\u202eb', timeoutMs: 5, run: 'r1' }, signal);
    expect(asked).toEqual([{ text: 'a\\x1b[2J\\u202eb', timeoutMs: 5, run: 'r1' }]);
    const [first, second] = events;
    expect(first).toMatchObject({ type: 'question_asked', text: 'a\\x1b[2J\\u202eb', runId: 'r1', at: 7 });
    expect(second).toEqual({
      type: 'question_answered',
      question_id: first?.type === 'question_asked' && first.question_id,
      runId: 'r1',
      at: 7,
    });
  });

  it('sees no secret', async () => {
    const { clarifier, asked, events } = person(async () => ({ kind: 'answered', text: 'x' }));
    await clarifier.ask({ text: 'is canary right?', timeoutMs: 5 }, signal);
    expect([asked[0]?.text, events[0]?.type === 'question_asked' && events[0].text]).toEqual([
      'is [REDACTED] right?',
      'is [REDACTED] right?',
    ]);
  });

  it('is done with when asking fails, too', async () => {
    const { clarifier, events } = person(() => Promise.reject(new CancelledError()));
    await expect(clarifier.ask({ text: 'a', timeoutMs: 5 }, signal)).rejects.toThrow('cancelled');
    expect(events.map(({ type }) => type)).toEqual(['question_asked', 'question_answered']);
  });
});

import assert from 'node:assert/strict';
import type { Clarifier } from '../../ports/clarifier.ts';
import { hasCode } from '../../ports/errors.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** The person's side of the subject. */
export interface ClarifierSeat {
  readonly clarifier: Clarifier;
  /** Resolves once this question was shown. */
  shown(text: string): Promise<void>;
  /** All that was shown so far. */
  seen(): string;
  /** What the person writes, line end included. */
  write(text: string): void;
  /** The person goes away for good. */
  leave(): void;
  close(): Promise<void>;
}

export interface ClarifierHarness {
  sit(): Promise<ClarifierSeat>;
}

const never = new AbortController().signal;
const LONG_MS = 60_000;

function seated(id: string, sentence: string, test: (seat: ClarifierSeat) => Promise<void>): ContractCase<ClarifierHarness> {
  return {
    id: `clarifier/${id}`,
    sentence,
    async run(harness) {
      const seat = await harness.sit();
      try {
        await test(seat);
      } finally {
        await seat.close();
      }
    },
  };
}

/** The contract of {@link Clarifier}. */
export const clarifierSuite: ContractSuite<ClarifierHarness> = {
  port: 'Clarifier',
  cases: [
    seated('words', "`ask` gives the person's words, without the line end and the spaces around them", async (seat) => {
      const asked = seat.clarifier.ask({ text: 'Which one?', timeoutMs: LONG_MS }, never);
      await seat.shown('Which one?');
      seat.write('  the red one, é \r\n');
      assert.deepEqual(await asked, { kind: 'answered', text: 'the red one, é' });
    }),
    seated('empty', 'silence is `unanswered`: an empty line is `empty`', async (seat) => {
      const asked = seat.clarifier.ask({ text: 'Which one?', timeoutMs: LONG_MS }, never);
      await seat.shown('Which one?');
      seat.write(' \n');
      assert.deepEqual(await asked, { kind: 'unanswered', reason: 'empty' });
    }),
    seated('ended', 'silence is `unanswered`: the end of the input is `ended`', async (seat) => {
      const asked = seat.clarifier.ask({ text: 'Which one?', timeoutMs: LONG_MS }, never);
      await seat.shown('Which one?');
      seat.leave();
      assert.deepEqual(await asked, { kind: 'unanswered', reason: 'ended' });
    }),
    seated('timeout', 'silence is `unanswered`: the time limit is `timeout`', async (seat) => {
      assert.deepEqual(await seat.clarifier.ask({ text: 'Which one?', timeoutMs: 50 }, never), { kind: 'unanswered', reason: 'timeout' });
    }),
    seated('cancel', 'when `signal` fires while waiting, or has fired, it rejects with `CancelledError`', async (seat) => {
      const controller = new AbortController();
      const asked = seat.clarifier.ask({ text: 'Which one?', timeoutMs: LONG_MS }, controller.signal);
      await seat.shown('Which one?');
      controller.abort();
      await assert.rejects(asked, (error) => hasCode(error, 'cancelled'));
      const late = seat.clarifier.ask({ text: 'Which one?', timeoutMs: LONG_MS }, controller.signal);
      await assert.rejects(late, (error) => hasCode(error, 'cancelled'));
    }),
    seated('in-turn', 'questions are shown one at a time, in the order they came', async (seat) => {
      const first = seat.clarifier.ask({ text: 'First?', timeoutMs: LONG_MS }, never);
      const second = seat.clarifier.ask({ text: 'Second?', timeoutMs: LONG_MS }, never);
      await seat.shown('First?');
      assert.ok(!seat.seen().includes('Second?'), 'the second question was shown before the first was answered');
      seat.write('one\n');
      assert.deepEqual(await first, { kind: 'answered', text: 'one' });
      await seat.shown('Second?');
      seat.write('two\n');
      assert.deepEqual(await second, { kind: 'answered', text: 'two' });
    }),
  ],
};

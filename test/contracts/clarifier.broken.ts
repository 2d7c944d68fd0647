import type { Clarification, Clarifier } from '../../ports/clarifier.ts';
import { createFakeClarifier } from '../fakes/clarifier.ts';
import type { ClarifierHarness } from './clarifier.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: Clarifier) => Clarifier;

/** The fake clarifier as a seat of the suite, with or without a fault. */
export function fakeSeat(fault: Fault = (plain) => plain): ClarifierHarness {
  return {
    async sit() {
      const { clarifier, ...seat } = createFakeClarifier();
      return { clarifier: fault(clarifier), ...seat, close: async () => {} };
    },
  };
}

const changed =
  (change: (came: Clarification) => Clarification): Fault =>
  (plain) => ({ ask: async (question, signal) => change(await plain.ask(question, signal)) });

const instead = (reason: string, came: Clarification): Fault =>
  changed((told) => (told.kind === 'unanswered' && told.reason === reason ? came : told));

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<ClarifierHarness> => ({
  name,
  caughtBy: `clarifier/${caughtBy}`,
  harness: fakeSeat(fault),
});

/** Clarifiers that each break one sentence. */
export const brokenClarifiers: readonly BrokenAdapter<ClarifierHarness>[] = [
  broken(
    'keeps the spaces',
    'words',
    changed((came) => (came.kind === 'answered' ? { ...came, text: ` ${came.text}` } : came)),
  ),
  broken('takes an empty line for an answer', 'empty', instead('empty', { kind: 'answered', text: '' })),
  broken('takes the end for an empty line', 'ended', instead('ended', { kind: 'unanswered', reason: 'empty' })),
  broken('takes the time limit for a yes', 'timeout', instead('timeout', { kind: 'answered', text: 'yes' })),
  broken('answers when it is cancelled', 'cancel', (plain) => ({
    ask: (question, signal) => plain.ask(question, signal).catch((): Clarification => ({ kind: 'unanswered', reason: 'ended' })),
  })),
  broken('shows all questions at once', 'in-turn', (plain) => {
    let open = 0;
    return {
      ask(question, signal) {
        open += 1;
        return plain.ask(open === 1 ? { ...question, text: `${question.text} Second?` } : question, signal);
      },
    };
  }),
];

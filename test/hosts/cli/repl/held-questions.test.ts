import { describe, expect, it } from 'vitest';
import { createHeldQuestions } from '../../../../hosts/cli/repl/held-questions.ts';
import type { Consent } from '../../../../hosts/mcp-client/consent.ts';
import { CancelledError } from '../../../../ports/errors.ts';

const REQUEST = { card: 'a card', count: 1, question: 'Approve it?' };
const never = new AbortController().signal;
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A person whose answers the test gives. */
function personOf() {
  const open: ((numbers: readonly number[]) => void)[] = [];
  const consent: Consent = (_request, signal) =>
    new Promise((resolve, reject) => {
      open.push(resolve);
      signal.addEventListener('abort', () => reject(new CancelledError()), { once: true });
    });
  return { consent, open };
}

describe('questions while an input is read', () => {
  it('wait until it is sent, are told to wait, and are answered before the turn begins', async () => {
    const { consent, open } = personOf();
    const held = createHeldQuestions();
    const told: string[] = [];
    const ask = held.guard(consent, (card) => told.push(card));
    await held.hold(never);
    const answer = ask(REQUEST, never);
    await soon();
    expect(open).toHaveLength(0);
    expect(told).toEqual(['a card']);
    const order: string[] = [];
    const released = held.release(never).then(() => order.push('turn'));
    void answer.then(() => order.push('answer'));
    await soon();
    await soon();
    expect(order).toEqual([]);
    open[0]?.([1]);
    await released;
    expect(order).toEqual(['answer', 'turn']);
    expect(await answer).toEqual([1]);
  });

  it('are asked at once in between, and the next input waits for the one that is open', async () => {
    const { consent, open } = personOf();
    const held = createHeldQuestions();
    const ask = held.guard(consent, () => expect.unreachable());
    const answer = ask(REQUEST, never);
    let reads = false;
    const holding = held.hold(never).then(() => {
      reads = true;
    });
    await soon();
    expect([open.length, reads]).toEqual([1, false]);
    open[0]?.([]);
    await holding;
    expect(await answer).toEqual([]);
  });

  it('end with no when they are refused, and neither input nor turn waits once it is over', async () => {
    const { consent } = personOf();
    const held = createHeldQuestions();
    const ask = held.guard(consent, () => {});
    const first = ask(REQUEST, never);
    held.refuse();
    expect(await first).toEqual([]);
    const second = ask(REQUEST, never);
    await held.hold(AbortSignal.abort());
    const closing = new AbortController();
    const third = ask(REQUEST, closing.signal);
    await held.release(AbortSignal.abort());
    held.refuse();
    expect(await Promise.all([second, third])).toEqual([[], []]);
  });

  it('are given up with their signal, also while they wait', async () => {
    const { consent, open } = personOf();
    const held = createHeldQuestions();
    const ask = held.guard(consent, () => {});
    await held.hold(never);
    const closing = new AbortController();
    const answer = ask(REQUEST, closing.signal);
    closing.abort();
    await expect(answer).rejects.toBeInstanceOf(CancelledError);
    expect(open).toHaveLength(0);
  });
});

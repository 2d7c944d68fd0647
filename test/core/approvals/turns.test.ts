import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../core/approvals/turns.ts';

const never = new AbortController().signal;

describe('turns', () => {
  it('are taken one at a time, in order, also after work that fails', async () => {
    const turns = createTurns();
    const log: string[] = [];
    const work = (name: string, fails = false) =>
      turns.take(never, async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    await Promise.allSettled([work('a'), work('b', true), work('c')]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('that are given up while waiting leave the line in order', async () => {
    const turns = createTurns();
    const hold = Promise.withResolvers<void>();
    const controller = new AbortController();
    const first = turns.take(never, () => hold.promise);
    let ran = false;
    const second = turns.take(controller.signal, async () => {
      ran = true;
    });
    const third = turns.take(never, async () => 'third');
    controller.abort();
    await expect(second).rejects.toThrow('cancelled');
    hold.resolve();
    await first;
    expect([await third, ran]).toEqual(['third', false]);
  });
});

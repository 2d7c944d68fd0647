import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTerminalClarifier } from '../../adapters/approver/clarifier.ts';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { brokenClarifiers, fakeSeat } from './clarifier.broken.ts';
import { type ClarifierHarness, clarifierSuite } from './clarifier.suite.ts';

const atTerminal: ClarifierHarness = {
  async sit() {
    const input = new PassThrough();
    const output = new PassThrough();
    let text = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return {
      clarifier: createTerminalClarifier({ terminal: () => ({ input, output }), clock: createSystemClock() }),
      async shown(wanted) {
        for (let poll = 0; poll < 1000 && !text.includes(wanted); poll += 1) await sleep(2);
        expect(text).toContain(wanted);
      },
      seen: () => text,
      write: (line) => void input.write(line),
      leave: () => void input.end(),
      close: async () => {
        input.destroy();
        output.destroy();
      },
    };
  },
};

const subjects = { 'the person at the terminal': atTerminal, 'the fake clarifier': fakeSeat() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a clarifier`, () => {
    for (const { id, sentence, run } of clarifierSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a clarifier', () => {
  it.each(brokenClarifiers)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = clarifierSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

import assert from 'node:assert/strict';
import type { Ids } from '../../ports/ids.ts';
import type { ContractSuite } from './suite.ts';

export interface IdsHarness {
  make(): Ids;
  /** True for an implementation that says it is for tests: its ids may be foreseen. */
  readonly predictable?: boolean;
}

/** What every {@link Ids} keeps. */
export const idsSuite: ContractSuite<IdsHarness> = {
  port: 'ids',
  cases: [
    {
      id: 'ids/length',
      sentence: 'hex(n) returns 2n digits.',
      async run({ make }) {
        const ids = make();
        for (const bytes of [4, 8, 16, 32]) assert.equal(ids.hex(bytes).length, 2 * bytes);
      },
    },
    {
      id: 'ids/lower-case-hex',
      sentence: 'The digits are lower-case hex.',
      async run({ make }) {
        const ids = make();
        for (let draw = 0; draw < 50; draw += 1) assert.match(ids.hex(16), /^[0-9a-f]+$/);
      },
    },
    {
      id: 'ids/unique',
      sentence: 'No id comes twice.',
      async run({ make }) {
        const ids = make();
        const drawn = Array.from({ length: 5000 }, () => ids.hex(8));
        assert.equal(new Set(drawn).size, drawn.length);
      },
    },
    {
      id: 'ids/unpredictable',
      sentence: 'Ids are unpredictable: two sources never agree, and every bit changes.',
      async run({ make, predictable }) {
        if (predictable === true) return;
        const ids = make();
        const other = make();
        assert.notEqual(ids.hex(16), other.hex(16));
        const draws = Array.from({ length: 64 }, () => BigInt(`0x${ids.hex(16)}`));
        const ever = draws.reduce((bits, draw) => bits | draw, 0n);
        const always = draws.reduce((bits, draw) => bits & draw, (1n << 128n) - 1n);
        assert.equal(ever, (1n << 128n) - 1n);
        assert.equal(always, 0n);
      },
    },
  ],
};

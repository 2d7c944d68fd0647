import type { UsageFigures } from '../../../../hosts/cli/usage/report.ts';

const own = { provider: 'openai', estimated: 0 } as const;
const big = {
  ...own,
  model: 'big-model',
  calls: 41,
  input: 61_200,
  cacheRead: 512_400,
  output: 18_900,
  costMicroUsd: 620_800,
  unpriced: 0,
};
const judge = { ...own, model: 'small-model', calls: 4, input: 22_300, output: 1_100, unpriced: 4 };
const local = { model: 'qwen', provider: 'local', calls: 6, input: 31_000, output: 2_400, estimated: 6, unpriced: 6 };
const all = { calls: 51, input: 114_500, cacheRead: 512_400, output: 22_400, costMicroUsd: 620_800, estimated: 6, unpriced: 10 };

/** The figures behind the example in docs/usage.md. */
export const SHOWN: UsageFigures = {
  calls: [
    { ...local, purpose: 'main' },
    { ...big, purpose: 'main' },
    { ...judge, purpose: 'side' },
  ],
  days: [
    { ...big, day: '2026-09-28', calls: 20, input: 30_000, cacheRead: 250_000, output: 9_000, costMicroUsd: 301_000 },
    { ...all, day: '2026-09-30', calls: 31, input: 84_500, cacheRead: 262_400, output: 13_400, costMicroUsd: 319_800 },
  ],
  models: [big, judge, local],
  surfaces: [
    { ...big, surface: 'run' },
    { surface: 'repl', calls: 10, input: 53_300, output: 3_500, estimated: 6, unpriced: 10 },
  ],
  total: [all],
};

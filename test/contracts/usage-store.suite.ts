import assert from 'node:assert/strict';
import type { Clock } from '../../ports/clock.ts';
import type { Usage } from '../../ports/message.ts';
import type { JournalRecord, SessionStore } from '../../ports/session.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { ContractSuite } from './suite.ts';

/** A ledger and the sessions that fill it, empty at first. */
export interface UsagePlace {
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
  close(): Promise<void>;
}

export interface UsageStoreHarness {
  /** `surface` is the one under which the sessions are written; `now` is what the clock says, in milliseconds since the epoch. */
  place(given: { readonly surface: string; readonly now: Clock['now'] }): Promise<UsagePlace>;
}

interface Call {
  readonly provider?: string;
  readonly model?: string;
  readonly purpose?: 'main' | 'side';
  readonly usage?: Partial<Usage>;
  readonly cost?: number;
}

interface Trial extends UsagePlace {
  /** Books calls in a session of their own. */
  book(...calls: readonly Call[]): Promise<string>;
  at(time: number): void;
}

const NOON = new Date(2026, 2, 10, 12).getTime();
let sessions = 0;

function recordOf({ provider = 'p', model = 'm', purpose = 'main', usage, cost }: Call): JournalRecord {
  return {
    kind: 'usage',
    run: 'a'.repeat(32),
    provider,
    model,
    purpose,
    usage: { input: 10, output: 5, estimated: false, ...usage },
    ...(cost !== undefined && { costMicroUsd: cost }),
  };
}

async function inTrial(harness: UsageStoreHarness, work: (trial: Trial) => Promise<void>): Promise<void> {
  let now = NOON;
  const place = await harness.place({ surface: 'run', now: () => now });
  const book = async (...calls: readonly Call[]): Promise<string> => {
    sessions += 1;
    const id = `usage-${sessions}`;
    const facts = { title: 't', provider: 'p', model: 'm', workspace: '/', listed: false, externalRefs: [] };
    const writer = await place.sessions.create({ id, ...facts });
    await writer.append(calls.map(recordOf));
    await writer.close();
    return id;
  };
  const at = (time: number): void => {
    now = time;
  };
  try {
    await work({ ...place, book, at });
  } finally {
    await place.close();
  }
}

/** What every {@link UsageStore} keeps. */
export const usageStoreSuite: ContractSuite<UsageStoreHarness> = {
  port: 'usage-store',
  cases: [
    {
      id: 'usage-store/once',
      sentence: 'A call is in the totals once the append of its usage record resolved, and once only.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage }) => {
          await book({}, { usage: { input: 1, output: 2 } });
          await book({ purpose: 'side' });
          const [total, ...more] = await usage.totals({ by: [] });
          assert.deepEqual(more, []);
          assert.deepEqual({ calls: total?.calls, input: total?.input, output: total?.output }, { calls: 3, input: 21, output: 12 });
        }),
    },
    {
      id: 'usage-store/groups',
      sentence: 'There is one total for each group that has a call, and none for others; exactly the dimensions asked for are there.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage }) => {
          assert.deepEqual(await usage.totals({ by: [] }), []);
          assert.deepEqual(await usage.totals({ by: ['model'] }), []);
          await book({ model: 'b' }, { model: 'a', purpose: 'side' }, { model: 'b', purpose: 'side' }, { model: 'b' });
          const totals = await usage.totals({ by: ['model', 'purpose', 'surface'] });
          assert.deepEqual(
            totals.map(({ model, purpose, surface, calls }) => ({ model, purpose, surface, calls })),
            [
              { model: 'a', purpose: 'side', surface: 'run', calls: 1 },
              { model: 'b', purpose: 'main', surface: 'run', calls: 2 },
              { model: 'b', purpose: 'side', surface: 'run', calls: 1 },
            ],
          );
          assert.ok(totals.every((total) => !('day' in total) && !('provider' in total)));
        }),
    },
    {
      id: 'usage-store/order',
      sentence: 'Totals come in the order of their dimensions, the first one first.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage }) => {
          await book({ provider: 'x', model: '2' }, { provider: 'y', model: '1' }, { provider: 'x', model: '3' });
          const order = async (...by: readonly ('provider' | 'model')[]) =>
            (await usage.totals({ by })).map(({ provider, model }) => `${provider}${model}`);
          assert.deepEqual(await order('provider', 'model'), ['x2', 'x3', 'y1']);
          assert.deepEqual(await order('model', 'provider'), ['y1', 'x2', 'x3']);
        }),
    },
    {
      id: 'usage-store/range',
      sentence: 'since is included, until is not.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage, at }) => {
          for (const offset of [0, 1, 2, 3]) {
            at(NOON + offset);
            await book({ model: String(offset) });
          }
          const models = (await usage.totals({ since: NOON + 1, until: NOON + 3, by: ['model'] })).map(({ model }) => model);
          assert.deepEqual(models, ['1', '2']);
        }),
    },
    {
      id: 'usage-store/day',
      sentence: "A day begins at midnight of the machine's time zone.",
      run: (harness) =>
        inTrial(harness, async ({ book, usage, at }) => {
          const midnight = new Date(2026, 2, 11).getTime();
          for (const time of [midnight - 1, midnight, midnight + 3_600_000 * 12]) {
            at(time);
            await book({});
          }
          const days = (await usage.totals({ by: ['day'] })).map(({ day, calls }) => [day, calls]);
          assert.deepEqual(days, [
            ['2026-03-10', 1],
            ['2026-03-11', 2],
          ]);
        }),
    },
    {
      id: 'usage-store/unknown',
      sentence: 'Figures that no call of a group reported are absent, not zero.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage }) => {
          await book({ model: 'silent' }, { model: 'zero', usage: { cache_read: 0, cache_write: 0 } });
          await book({ model: 'half', usage: { cache_read: 7 } }, { model: 'half' });
          const [half, silent, zero] = await usage.totals({ by: ['model'] });
          assert.equal(half?.cacheRead, 7);
          assert.ok(half !== undefined && !('cacheWrite' in half));
          assert.ok(silent !== undefined && !('cacheRead' in silent) && !('cacheWrite' in silent) && !('costMicroUsd' in silent));
          assert.deepEqual([zero?.cacheRead, zero?.cacheWrite], [0, 0]);
        }),
    },
    {
      id: 'usage-store/cost',
      sentence: 'A call without a known price is counted as such and adds nothing to the cost; estimates are counted.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage }) => {
          await book({ cost: 0, model: 'free' }, { cost: 30 }, { cost: 12, usage: { estimated: true } }, {});
          const totals = await usage.totals({ by: ['model'] });
          assert.deepEqual(
            totals.map(({ costMicroUsd, unpriced, estimated }) => ({ costMicroUsd, unpriced, estimated })),
            [
              { costMicroUsd: 0, unpriced: 0, estimated: 0 },
              { costMicroUsd: 42, unpriced: 1, estimated: 1 },
            ],
          );
        }),
    },
    {
      id: 'usage-store/stays',
      sentence: 'Figures stay when their session is removed or discarded.',
      run: (harness) =>
        inTrial(harness, async ({ book, usage, sessions: store }) => {
          const removed = await book({});
          assert.equal(await store.remove([removed]), 1);
          const kept = await book({});
          const writer = await store.open(kept, { waitMs: 0 }, new AbortController().signal);
          await writer.append([recordOf({})]);
          await writer.close({ discard: true });
          await book({});
          assert.equal((await usage.totals({ by: [] }))[0]?.calls, 4);
        }),
    },
  ],
};

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import { until } from '../support/processes.ts';
import type { Stage } from '../support/stage.ts';
import { ANN, countOf, onChatStage } from './stage.ts';

const ROUNDS = 3;
const REPORT = 'The nightly report.';

/** Different in each run of the suite, the same within it. */
function instants(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function withStore<T>({ state }: Pick<Stage, 'state'>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({
    path: `${state}/odek.db`,
    surface: 'test',
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

describe('daemon and bot, killed at any instant', { timeout: 180_000 }, () => {
  it('deliver a result that is never lost, run nothing twice, and repeat at most once a kill', () =>
    onChatStage(
      () => ({ text: REPORT, delayMs: 300 }),
      async (stage) => {
        const { telegram, start, bot, run } = stage;
        const seed = Date.now() % 100_000;
        const next = instants(seed);
        const added = await run([
          'schedule',
          'add',
          '--cron',
          '0 0 1 1 *',
          '--name',
          'nightly',
          '--deliver',
          'telegram',
          '--catchup',
          'report',
        ]);
        expect(added.code).toBe(0);
        let kills = 0;
        for (let round = 0; round < ROUNDS; round += 1) {
          // Due once: the one time of this year was missed.
          await withStore(stage, async ({ schedules }) => {
            const found = await schedules.jobs.get('nightly');
            if (found === undefined) throw new Error('the job is gone');
            await schedules.jobs.remove(found.job.id);
            await schedules.jobs.put({ ...found.job, id: `jb-0000000${round}` }, Date.now() - 366 * 86_400_000);
          });
          const daemon = start(['schedule', 'daemon']);
          await daemon.untilTold('scheduler started');
          const chat = await bot();
          await delay(next() * 2_000);
          const victim = next() < 0.5 ? daemon : chat;
          victim.child.kill('SIGKILL');
          kills += 1;
          await victim.ended;
          // Where the bot became the scheduler meanwhile, a second one is refused.
          const heir = victim === daemon ? start(['schedule', 'daemon']) : await bot();
          // Whoever is the scheduler looks at once, instead of at the next minute.
          const poke = setInterval(() => telegram.say({ chatId: ANN, text: '/schedule enable nightly' }), 2_000);
          await until(`round ${round} of seed ${seed} is settled`, () =>
            withStore(stage, async ({ schedules }) => {
              const fires = await schedules.fires.find({ limit: 100 });
              const open = (await schedules.outbox.list(100)).filter(({ state }) => state !== 'sent');
              return fires.length === round + 1 && fires.every(({ endedAt }) => endedAt !== undefined) && open.length === 0;
            }),
          ).finally(() => clearInterval(poke));
          for (const each of [daemon, chat, heir]) {
            each.child.kill('SIGKILL');
            await each.ended;
          }
          await withStore(stage, async ({ schedules }) => {
            const [fire] = await schedules.fires.find({ limit: 1 });
            expect(['ran', 'interrupted', 'missed'], `seed ${seed}`).toContain(fire?.state);
          });
        }
        const { ran, told } = await withStore(stage, async ({ schedules }) => {
          const fires = await schedules.fires.find({ limit: 100 });
          return { ran: fires.filter(({ state }) => state === 'ran').length, told: (await schedules.outbox.list(100)).length };
        });
        const results = countOf(telegram, REPORT);
        const repeats = countOf(telegram, 'This may have come before');
        expect(results - repeats, `seed ${seed}`).toBe(ran);
        expect(repeats, `seed ${seed}`).toBeLessThanOrEqual(kills);
        expect(countOf(telegram, '🗓 nightly'), `seed ${seed}`).toBe(told + repeats);
        expect(telegram.history(ANN).length).toBeGreaterThan(0);
      },
      { telegram: { default_chat_id: ANN } },
    ));
});

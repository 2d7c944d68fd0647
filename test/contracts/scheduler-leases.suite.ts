import assert from 'node:assert/strict';
import { inPlace, lease, MINUTE, NOON, refused, type ScheduleHarness } from './schedule-store.suite.ts';
import type { ContractSuite } from './suite.ts';

/** The contract of {@link SchedulerLeases}. */
export const schedulerLeasesSuite: ContractSuite<ScheduleHarness> = {
  port: 'SchedulerLeases',
  cases: [
    {
      id: 'scheduler-leases/one',
      sentence: '`acquire` gives the lease to one process and tells every other who has it',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          assert.equal(await there.leases.holder(), undefined);
          await lease(here);
          const other = await there.leases.acquire('telegram');
          assert.ok('pid' in other, 'two processes have the lease');
          assert.deepEqual({ surface: other.surface, since: other.since }, { surface: 'schedule', since: NOON });
          assert.deepEqual(await there.leases.holder(), other);
        }),
    },
    {
      id: 'scheduler-leases/dead',
      sentence: 'a holder that died is taken over with a higher fence',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          const before = await lease(dead);
          assert.equal(await here.leases.holder(), undefined);
          assert.ok((await lease(here)).fence > before.fence);
        }),
    },
    {
      id: 'scheduler-leases/silent',
      sentence: 'a holder that has not beaten for 60 s is taken over with a higher fence',
      run: (harness) =>
        inPlace(harness, async ({ here, there, at }) => {
          const before = await lease(there);
          at(NOON + MINUTE);
          await there.leases.beat(before);
          at(NOON + 2 * MINUTE);
          assert.ok('pid' in (await here.leases.acquire('schedule')), 'a holder that beats was taken over');
          at(NOON + 2 * MINUTE + 1_000);
          assert.ok((await lease(here)).fence > before.fence);
        }),
    },
    {
      id: 'scheduler-leases/seen',
      sentence: 'a lease says when the holder before it was last seen, also one that released it',
      run: (harness) =>
        inPlace(harness, async ({ here, there, at }) => {
          const first = await lease(there);
          assert.equal(first.seenBefore, undefined);
          at(NOON + MINUTE);
          await there.leases.beat(first);
          await there.leases.release(first);
          at(NOON + 9 * MINUTE);
          assert.equal((await lease(here)).seenBefore, NOON + MINUTE);
        }),
    },
    {
      id: 'scheduler-leases/lost',
      sentence: '`beat` of a lease that another took rejects with `lease_lost`',
      run: (harness) =>
        inPlace(harness, async ({ here, there, at }) => {
          const before = await lease(there);
          at(NOON + 5 * MINUTE);
          const mine = await lease(here);
          await refused(there.leases.beat(before), 'lease_lost');
          await here.leases.beat(mine);
        }),
    },
    {
      id: 'scheduler-leases/released',
      sentence: '`release` lets the next one in at once; of a lost lease it does nothing',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          const mine = await lease(here);
          await here.leases.release(mine);
          const theirs = await lease(there);
          await here.leases.release(mine);
          assert.ok('pid' in (await here.leases.acquire('schedule')), 'the lease of another was released');
          await there.leases.beat(theirs);
        }),
    },
  ],
};

import assert from 'node:assert/strict';
import type { Advance, FireEnd } from '../../ports/schedule.ts';
import { claimed, inPlace, job, lease, MINUTE, NOON, refused, type ScheduleHarness, type ScheduleParts } from './schedule-store.suite.ts';
import type { ContractSuite } from './suite.ts';

const RAN: FireEnd = { state: 'ran', outcome: 'answer', result: 'done', tokens: 12, deliveries: [] };
const IDS = { sessionId: 's1', runId: 'r1' };

async function decision(parts: ScheduleParts, changes: Partial<Advance> = {}): Promise<Advance> {
  const found = await parts.jobs.get('jb-00000001');
  assert.ok(found);
  return {
    jobId: found.job.id,
    revision: found.revision,
    from: found.cursor,
    to: NOON + 3 * MINUTE,
    closed: [
      { dueAt: NOON + MINUTE, state: 'missed', reason: 'odek was not running' },
      { dueAt: NOON + 2 * MINUTE, state: 'skipped', reason: 'still running' },
    ],
    claim: { dueAt: NOON + 3 * MINUTE, state: 'claimed' },
    ...changes,
  };
}

const statesOf = async (parts: ScheduleParts) => (await parts.fires.find({ limit: 99 })).map((each) => each.state);

/** The contract of {@link FireLedger}. */
export const fireLedgerSuite: ContractSuite<ScheduleHarness> = {
  port: 'FireLedger',
  cases: [
    {
      id: 'fire-ledger/advance',
      sentence:
        '`advance` stores records, claim and cursor together; it gives undefined, and stores nothing, when revision or cursor are not those of the decision, or a run of the job is under way that it would run beside',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.jobs.put(job('jb-00000001'), NOON);
          const mine = await lease(here);
          const first = await decision(here);
          await there.jobs.put(job('jb-00000001', { task: 'another' }), NOON);
          assert.equal(await here.fires.advance(first, mine), undefined, 'of an older revision');
          const byHand = await there.fires.claim('jb-00000001', { at: NOON });
          assert.ok(byHand);
          assert.equal(await here.fires.advance(await decision(here), mine), undefined, 'beside a run by hand');
          await there.fires.finish(byHand, { state: 'skipped', deliveries: [] }, NOON);
          assert.deepEqual(await statesOf(here), ['skipped']);
          const second = await decision(here);
          const claim = await here.fires.advance(second, mine);
          assert.equal(claim?.dueAt, NOON + 3 * MINUTE);
          assert.equal(await here.fires.advance(second, mine), undefined, 'of an older cursor');
          assert.equal((await there.jobs.get('jb-00000001'))?.cursor, NOON + 3 * MINUTE);
          assert.deepEqual(await statesOf(there), ['claimed', 'skipped', 'missed', 'skipped']);
          assert.equal((await there.fires.find({ limit: 9 }))[2]?.reason, 'odek was not running');
        }),
    },
    {
      id: 'fire-ledger/lease',
      sentence: '`advance` of a lease that another took rejects with `lease_lost` and stores nothing',
      run: (harness) =>
        inPlace(harness, async ({ here, there, at }) => {
          await here.jobs.put(job('jb-00000001'), NOON);
          const old = await lease(there);
          at(NOON + 5 * MINUTE);
          await lease(here);
          await refused(there.fires.advance(await decision(there), old), 'lease_lost');
          assert.deepEqual(await statesOf(here), []);
          assert.equal((await here.jobs.get('jb-00000001'))?.cursor, NOON);
        }),
    },
    {
      id: 'fire-ledger/claim',
      sentence:
        '`claim` gives one fire to one process: an instant asked for by hand, or a queued one; undefined when a run of the job is under way',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          const byHand = await claimed(here);
          assert.equal(await there.fires.claim('jb-00000001', { at: NOON + 1 }), undefined);
          const mine = await lease(here);
          const queued = NOON + 3 * MINUTE;
          const none = await here.fires.advance(await decision(here, { closed: [], claim: { dueAt: queued, state: 'queued' } }), mine);
          assert.equal(none, undefined);
          assert.equal(await there.fires.claim('jb-00000001', { queued }), undefined);
          await here.fires.start(byHand, IDS, NOON);
          await here.fires.finish(byHand, RAN, NOON);
          const claim = await there.fires.claim('jb-00000001', { queued });
          assert.deepEqual([claim?.dueAt, claim?.manual], [queued, false]);
          assert.equal(await here.fires.claim('jb-00000001', { queued }), undefined);
          assert.equal(await here.fires.claim('jb-none', { at: NOON }), undefined);
        }),
    },
    {
      id: 'fire-ledger/lost',
      sentence: '`start` and `finish` of a claim that was taken over, or has an end, reject with `claim_lost` and change nothing',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          const claim = await claimed(dead);
          const [found] = await here.fires.find({ unfinished: true, limit: 9 });
          assert.ok(found);
          await here.fires.finish(found, { state: 'interrupted', reason: 'the process died', deliveries: [] }, NOON);
          await refused(dead.fires.start(claim, IDS, NOON), 'claim_lost');
          await refused(dead.fires.finish(claim, RAN, NOON), 'claim_lost');
          const after = await here.fires.claim('jb-00000001', { at: NOON + 1 });
          assert.ok(after);
          await here.fires.finish(after, RAN, NOON);
          await refused(here.fires.finish(after, { ...RAN, result: 'again' }, NOON), 'claim_lost');
          const ended = await here.fires.find({ limit: 9 });
          assert.deepEqual(
            ended.map(({ state, result }) => [state, result]),
            [
              ['ran', 'done'],
              ['interrupted', undefined],
            ],
          );
        }),
    },
    {
      id: 'fire-ledger/finish',
      sentence: '`finish` stores the end and the rows of the outbox together',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          const claim = await claimed(here);
          await here.fires.start(claim, IDS, NOON + 1);
          const [running] = await there.fires.find({ jobId: claim.jobId, limit: 1 });
          assert.deepEqual([running?.state, running?.sessionId, running?.runId, running?.orphaned], ['running', 's1', 'r1', false]);
          const deliveries = [
            { target: { kind: 'telegram', chatId: '42' } as const, text: 'done' },
            { target: { kind: 'log' } as const, text: 'done' },
          ];
          await here.fires.finish(claim, { ...RAN, deliveries }, NOON + 2);
          const [fire] = await there.fires.find({ limit: 1 });
          assert.deepEqual(fire, {
            jobId: claim.jobId,
            dueAt: NOON,
            manual: true,
            state: 'ran',
            orphaned: false,
            outcome: 'answer',
            result: 'done',
            tokens: 12,
            startedAt: NOON + 1,
            endedAt: NOON + 2,
            ...IDS,
          });
          assert.deepEqual(
            (await there.outbox.list(9)).map(({ target, text, sessionId }) => [target, text, sessionId]),
            [
              [{ kind: 'log' }, 'done', 's1'],
              [{ kind: 'telegram', chatId: '42' }, 'done', 's1'],
            ],
          );
        }),
    },
    {
      id: 'fire-ledger/orphans',
      sentence: 'a fire whose process died is `orphaned`; `finish` ends it without a claim, and it is never claimed again',
      run: (harness) =>
        inPlace(harness, async ({ here, there, dead }) => {
          const claim = await claimed(dead);
          await dead.fires.start(claim, IDS, NOON);
          const alive = await claimed(there, 'jb-00000002');
          const open = await here.fires.find({ unfinished: true, limit: 9 });
          assert.deepEqual(
            open.map(({ jobId, orphaned }) => [jobId, orphaned]),
            [
              ['jb-00000001', true],
              ['jb-00000002', false],
            ],
          );
          const [orphan, running] = open;
          assert.ok(orphan && running);
          await refused(here.fires.finish(running, { state: 'interrupted', deliveries: [] }, NOON), 'claim_lost');
          await here.fires.finish(orphan, { state: 'interrupted', deliveries: [] }, NOON);
          assert.equal(await here.fires.claim('jb-00000001', { queued: NOON }), undefined);
          await refused(here.fires.claim('jb-00000001', { at: NOON }), 'claim_lost');
          await there.fires.finish(alive, RAN, NOON);
        }),
    },
    {
      id: 'fire-ledger/once',
      sentence: 'an instant of a job has one record, whatever two processes do at once',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.jobs.put(job('jb-00000001'), NOON);
          const mine = await lease(here);
          const same = await decision(here);
          const results = await Promise.all([here.fires.advance(same, mine), there.fires.advance(same, mine)]);
          assert.equal(results.filter((each) => each !== undefined).length, 1);
          assert.deepEqual(
            (await here.fires.find({ limit: 9 })).map((each) => each.dueAt),
            [NOON + 3 * MINUTE, NOON + 2 * MINUTE, NOON + MINUTE],
          );
        }),
    },
  ],
};

import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import type { JobRun } from '../../../hosts/schedule/engine.ts';
import type { FireEnd } from '../../../ports/schedule.ts';
import { job, MINUTE, NOON, type ScheduleParts } from '../../contracts/schedule-store.suite.ts';
import { createManualClock, type ManualClock } from '../../fakes/clock.ts';
import { ANSWER, type EnginePlace, enginePlace, settle } from './fixture.ts';

const HOUR = 60 * MINUTE;
const OTHER = { pid: process.ppid, start: '' };
const dead = () => ({ pid: spawnSync(process.execPath, ['--version']).pid, start: '' });

let clock: ManualClock;
let place: EnginePlace;

beforeEach(() => {
  clock = createManualClock(NOON);
  place = enginePlace(clock);
});
afterEach(() => place.close());

/** A run that goes on until it is told to end, or is cut off. */
function longRuns() {
  const ends: (() => void)[] = [];
  return {
    ends,
    run: ({ signal }: JobRun): Promise<FireEnd> =>
      new Promise((resolve, reject) => {
        ends.push(() => resolve(ANSWER));
        signal.addEventListener('abort', () => reject(new Error('cancelled')));
      }),
  };
}

const history = async (parts: ScheduleParts, id = 'jb-00000001') =>
  (await parts.fires.find({ jobId: id, limit: 999 })).toReversed().map(({ dueAt, state, reason, manual }) => {
    const at = new Date(dueAt).toISOString().slice(5, 16);
    return `${at} ${manual ? 'by hand ' : ''}${state}${reason === undefined ? '' : `: ${reason}`}`;
  });

async function later(engine: { tick(): Promise<void> }, ms: number): Promise<void> {
  await clock.advance(ms);
  await engine.tick();
  await settle();
}

describe('what is due', () => {
  it('runs once, at the first tick at or after its instant', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { name: 'hourly' }), NOON);
    await engine.start();
    for (let minute = 0; minute < 125; minute += 1) await later(engine, MINUTE);
    expect(place.began).toEqual(['hourly 2026-03-10T13:00', 'hourly 2026-03-10T14:00']);
    await engine.tick();
    await settle();
    expect(place.began).toHaveLength(2);
    expect(await history(engine.parts)).toEqual(['03-10T13:00 ran', '03-10T14:00 ran']);
  });

  it('is recorded as missed after a gap, each instant by itself, also when the process slept', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { cron: '0 4 * * *' }), NOON);
    await engine.start();
    await engine.tick();
    await later(engine, 3 * 24 * HOUR - 5 * HOUR);
    expect(place.began).toEqual([]);
    expect(await history(engine.parts)).toEqual([
      '03-11T04:00 missed: odek was not running',
      '03-12T04:00 missed: odek was not running',
      '03-13T04:00 missed: odek was not running',
    ]);
  });

  it('runs the newest missed instant once where the job catches up', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { cron: '0 4 * * *', catchUp: true }), NOON);
    await engine.start();
    await later(engine, 3 * 24 * HOUR - 5 * HOUR);
    await later(engine, MINUTE);
    expect(place.began).toEqual(['jb-00000001 2026-03-13T04:00']);
    expect(await history(engine.parts)).toEqual([
      '03-11T04:00 missed: a newer one was due already',
      '03-12T04:00 missed: a newer one was due already',
      '03-13T04:00 ran',
    ]);
  });

  it('is recorded in parts after a very long gap', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { cron: '* * * * *' }), NOON);
    await engine.start();
    await later(engine, 2_500 * MINUTE);
    const states = (await engine.parts.fires.find({ limit: 9_999 })).map((fire) => fire.state);
    expect([states.filter((state) => state === 'missed').length, states.filter((state) => state === 'ran').length]).toEqual([2_499, 1]);
  });

  it('is passed over while the job is off, and begins anew when it is turned on', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { enabled: false, catchUp: true }), NOON);
    await engine.start();
    await later(engine, 3 * HOUR + MINUTE);
    await engine.parts.jobs.put(job('jb-00000001', { catchUp: true }), clock.now());
    await later(engine, MINUTE);
    expect(place.began).toEqual([]);
    await later(engine, HOUR);
    expect(place.began).toEqual(['jb-00000001 2026-03-10T16:00']);
  });
});

describe('a run that is still going on', () => {
  it('makes the next instant skipped', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    await engine.parts.jobs.put(job('jb-00000001', { cron: '*/10 * * * *' }), NOON);
    await engine.start();
    await later(engine, 10 * MINUTE);
    await later(engine, 10 * MINUTE);
    expect(await history(engine.parts)).toEqual([
      '03-10T12:10 running',
      '03-10T12:20 skipped: the run of 2026-03-10T12:10Z was still going on',
    ]);
    long.ends[0]?.();
    await settle();
    await later(engine, 10 * MINUTE);
    expect(place.began).toHaveLength(2);
  });

  it('makes the next instant wait where the job queues, and only one', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    await engine.parts.jobs.put(job('jb-00000001', { cron: '*/5 * * * *', overlap: 'queue' }), NOON);
    await engine.start();
    for (let n = 0; n < 3; n += 1) await later(engine, 5 * MINUTE);
    expect((await history(engine.parts)).map((line) => line.slice(12, 19))).toEqual(['running', 'queued', 'skipped']);
    long.ends[0]?.();
    await settle();
    expect(place.began).toEqual(['jb-00000001 2026-03-10T12:05', 'jb-00000001 2026-03-10T12:10']);
  });

  it('is cut off at the time limit of the job, recorded and told', async () => {
    const engine = await place.engine(undefined, longRuns().run);
    await engine.parts.jobs.put(job('jb-00000001', { timeoutMs: 5 * MINUTE, deliver: { kind: 'log' } }), NOON);
    await engine.start();
    await later(engine, HOUR);
    await later(engine, 6 * MINUTE);
    expect(await history(engine.parts)).toEqual(['03-10T13:00 ran: it ran longer than 300 s: cancelled']);
    expect((await engine.parts.outbox.list(9)).map(({ text }) => text)).toEqual([
      '[scheduled task "jb-00000001" failed] it ran longer than 300 s: cancelled',
    ]);
  });

  it('leaves no more room than configured; what finds none waits and runs as soon as a place is free', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    for (const n of [1, 2, 3, 4]) await engine.parts.jobs.put(job(`jb-0000000${n}`), NOON);
    await engine.start();
    await later(engine, HOUR);
    expect(engine.running).toBe(2);
    long.ends[0]?.();
    await settle();
    long.ends[1]?.();
    await settle();
    long.ends[2]?.();
    await settle();
    expect(place.began).toHaveLength(4);
    expect(new Set(place.began).size).toBe(4);
  });

  it('outlives a change of its job and its removal, and what waited for it is recorded as skipped', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    await engine.parts.jobs.put(job('jb-00000001', { cron: '*/5 * * * *', overlap: 'queue' }), NOON);
    await engine.start();
    await later(engine, 5 * MINUTE);
    await later(engine, 5 * MINUTE);
    await engine.parts.jobs.remove('jb-00000001');
    long.ends[0]?.();
    await settle();
    expect(await history(engine.parts)).toEqual(['03-10T12:05 ran', '03-10T12:10 skipped: the job was removed']);
  });
});

describe('what waited for a place', () => {
  /** Three jobs due together, two places, and a scheduler that ended before the third had its turn. */
  async function leftWaiting(changes: Parameters<typeof job>[1] = {}) {
    const first = await place.engine(undefined, longRuns().run);
    for (const n of [1, 2, 3]) await first.parts.jobs.put(job(`jb-0000000${n}`, n === 3 ? { ...changes } : {}), NOON);
    await first.start();
    await later(first, HOUR);
    expect(place.began).toHaveLength(2);
    const ending = first.drain(0);
    await clock.advance(1_000);
    await ending;
  }

  it('runs after a restart', async () => {
    await leftWaiting();
    await clock.advance(MINUTE);
    const next = await place.engine();
    await next.start();
    await next.tick();
    await settle();
    expect(await history(next.parts, 'jb-00000003')).toEqual(['03-10T13:00 ran']);
  });

  it('does not run after a gap where its job catches up nothing', async () => {
    await leftWaiting();
    await clock.advance(30 * MINUTE);
    const next = await place.engine();
    await next.start();
    await next.tick();
    await settle();
    expect(await history(next.parts, 'jb-00000003')).toEqual(['03-10T13:00 skipped: odek was not running when its turn came']);
    expect(place.began).toHaveLength(2);
  });

  it('runs late where its job catches up', async () => {
    await leftWaiting({ catchUp: true });
    await clock.advance(30 * MINUTE);
    const next = await place.engine();
    await next.start();
    await next.tick();
    await settle();
    expect(await history(next.parts, 'jb-00000003')).toEqual(['03-10T13:00 ran']);
  });

  it('does not run where its job was turned off meanwhile', async () => {
    await leftWaiting();
    const next = await place.engine();
    const waiting = await next.parts.jobs.get('jb-00000003');
    await next.parts.jobs.put({ ...job('jb-00000003'), ...waiting?.job, enabled: false }, clock.now());
    await next.start();
    await next.tick();
    await settle();
    expect(await history(next.parts, 'jb-00000003')).toEqual(['03-10T13:00 skipped: the job was turned off while it waited']);
  });
});

describe('a process that died', () => {
  it('leaves a run that is reported and told, and not run again, however often odek starts', async () => {
    const gone = await place.engine(dead(), longRuns().run);
    await gone.parts.jobs.put(job('jb-00000001', { deliver: { kind: 'telegram', chatId: '42' } }), NOON);
    await gone.start();
    await later(gone, HOUR);
    for (let start = 0; start < 5; start += 1) {
      const engine = await place.engine();
      expect(await engine.start()).toBeUndefined();
      await engine.tick();
      await settle();
      await engine.drain(0);
    }
    const { parts } = await place.engine();
    expect(place.began).toEqual(['jb-00000001 2026-03-10T13:00']);
    expect(await history(parts)).toEqual(['03-10T13:00 interrupted: odek ended while it ran; what it had done by then is in its session']);
    expect((await parts.outbox.list(9)).map(({ text, target }) => [text.slice(0, 46), target.kind])).toEqual([
      ['[scheduled task "jb-00000001" was interrupted]', 'telegram'],
    ]);
  });

  it('does not keep the next one from being the scheduler; two that live do not both run', async () => {
    const first = await place.engine();
    const second = await place.engine(OTHER);
    await first.parts.jobs.put(job('jb-00000001'), NOON);
    expect(await first.start()).toBeUndefined();
    expect(await second.start()).toMatchObject({ pid: process.pid, surface: 'schedule' });
    await clock.advance(HOUR);
    await Promise.all([first.tick(), second.tick()]);
    await settle();
    expect(place.began).toEqual(['jb-00000001 2026-03-10T13:00']);
  });

  it('that was only suspended runs nothing once another is the scheduler, and says so', async () => {
    const suspended = await place.engine(OTHER);
    await suspended.parts.jobs.put(job('jb-00000001', { cron: '*/5 * * * *' }), NOON);
    await suspended.start();
    await clock.advance(5 * MINUTE);
    const next = await place.engine();
    expect(await next.start()).toBeUndefined();
    await Promise.all([next.tick(), suspended.tick()]);
    await settle();
    expect(place.began).toEqual(['jb-00000001 2026-03-10T12:05']);
    expect(place.logged.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(
        /^error: this process is no longer the scheduler: process \d+ \(odek schedule\) is; this process begins no more runs/,
      ),
    ]);
  });
});

describe('a run by hand', () => {
  it('goes beside the schedule, but not beside a run of its job', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    const other = await place.engine(OTHER);
    await engine.parts.jobs.put(job('jb-00000001', { name: 'daily', timeoutMs: 2 * HOUR }), NOON);
    await engine.start();
    const running = engine.runNow('daily', new AbortController().signal);
    await settle();
    await expect(other.runNow('jb-00000001', new AbortController().signal)).rejects.toMatchObject({ code: 'job_running' });
    await later(engine, HOUR);
    long.ends[0]?.();
    expect(await running).toMatchObject({ state: 'ran', manual: true, dueAt: NOON });
    expect(await history(engine.parts)).toEqual([
      '03-10T12:00 by hand ran',
      '03-10T13:00 skipped: the run of 2026-03-10T12:00Z was still going on',
    ]);
    await expect(engine.runNow('none', new AbortController().signal)).rejects.toMatchObject({ code: 'job_not_found' });
  });
});

describe('tokens of a day', () => {
  it('that are used up make the instant skipped until the day of the zone is over', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { cron: '0 */6 * * *', timezone: 'Europe/Berlin', dailyTokens: 15 }), NOON);
    await engine.start();
    for (let hour = 0; hour < 36; hour += 1) await later(engine, HOUR);
    expect(await history(engine.parts)).toEqual([
      '03-10T17:00 ran',
      '03-10T23:00 ran',
      '03-11T05:00 ran',
      '03-11T11:00 skipped: its 15 tokens of the day are used up (20)',
      '03-11T17:00 skipped: its 15 tokens of the day are used up (20)',
      '03-11T23:00 ran',
    ]);
  });

  it('of all jobs together have a limit of their own', async () => {
    const engine = await place.engine(undefined, undefined, { dailyTokens: 10 });
    await engine.parts.jobs.put(job('jb-00000001'), NOON);
    await engine.parts.jobs.put(job('jb-00000002', { cron: '30 * * * *' }), NOON);
    await engine.start();
    await later(engine, 30 * MINUTE);
    await later(engine, 30 * MINUTE);
    expect(await history(engine.parts)).toEqual(['03-10T13:00 skipped: the 10 tokens that all jobs may use in a day are used up (10)']);
  });
});

describe('trouble with the store', () => {
  it('of one job keeps no other from its time', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001', { name: 'a' }), NOON);
    await engine.parts.jobs.put(job('jb-00000002', { name: 'b' }), NOON);
    const advance = engine.parts.fires.advance.bind(engine.parts.fires);
    Object.assign(engine.parts.fires, {
      advance: (...given: Parameters<typeof advance>) =>
        given[0].jobId === 'jb-00000001' ? Promise.reject(new Error('this row is damaged')) : advance(...given),
    });
    await engine.start();
    await later(engine, HOUR);
    expect(place.began).toEqual(['b 2026-03-10T13:00']);
    expect(place.logged).toContain('error: job a could not be looked at: this row is damaged');
  });

  it('that passes costs no result: the end of a run is stored again', async () => {
    const engine = await place.engine();
    await engine.parts.jobs.put(job('jb-00000001'), NOON);
    const finish = engine.parts.fires.finish.bind(engine.parts.fires);
    let failures = 2;
    Object.assign(engine.parts.fires, {
      finish: (...given: Parameters<typeof finish>) => (failures-- > 0 ? Promise.reject(new Error('the disk is full')) : finish(...given)),
    });
    await engine.start();
    await later(engine, HOUR);
    await clock.advance(10_000);
    await settle();
    expect(await history(engine.parts)).toEqual(['03-10T13:00 ran']);
  });
});

describe('the lease', () => {
  it('is kept by beats between ticks, and one that was taken ends them', async () => {
    const first = await place.engine();
    const second = await place.engine(OTHER);
    await first.start();
    for (let beat = 0; beat < 10; beat += 1) {
      await clock.advance(15_000);
      await first.beat();
    }
    expect(await second.start()).toMatchObject({ pid: process.pid });
    await clock.advance(61_000);
    expect(await second.start()).toBeUndefined();
    expect([first.leading, second.leading]).toEqual([true, true]);
    await first.beat();
    expect([first.leading, second.leading]).toEqual([false, true]);
  });
});

describe('the end of the scheduler', () => {
  it('waits for what runs, then cuts it off, and lets the next one in', async () => {
    const long = longRuns();
    const engine = await place.engine(undefined, long.run);
    const other = await place.engine(OTHER);
    await engine.parts.jobs.put(job('jb-00000001'), NOON);
    await engine.parts.jobs.put(job('jb-00000002'), NOON);
    await engine.start();
    await later(engine, HOUR);
    const drained = engine.drain(20_000);
    await settle();
    long.ends[0]?.();
    await settle();
    expect(engine.running).toBe(1);
    await clock.advance(20_001);
    await drained;
    expect(await history(engine.parts)).toEqual(['03-10T13:00 ran']);
    expect(await history(engine.parts, 'jb-00000002')).toEqual(['03-10T13:00 ran: the scheduler ended: cancelled']);
    expect(await other.start()).toBeUndefined();
  });
});

describe('whatever happens', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ kind: fc.constant('tick' as const) }),
    fc.record({ kind: fc.constant('kill' as const) }),
    fc.record({ kind: fc.constant('end' as const) }),
    fc.record({ kind: fc.constant('both' as const) }),
  );
  const line = fc.constantFrom('*/7 * * * *', '0 * * * *', '30 2 * * *', '0 0,12 * * *');

  it('every due instant has one record, none is lost, none runs twice', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        line,
        fc.boolean(),
        fc.constantFrom('skip', 'queue'),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        async (cron, catchUp, overlap, steps) => {
          const from = Date.UTC(2026, 9, 24, 20);
          clock = createManualClock(from);
          const trial = enginePlace(clock);
          try {
            const timezone = 'Europe/Berlin';
            const long = longRuns();
            let engine = await trial.engine(dead(), long.run);
            const second = await trial.engine(OTHER, long.run);
            await engine.parts.jobs.put(
              job('jb-00000001', { cron, timezone, catchUp, overlap: overlap as 'skip' | 'queue', timeoutMs: 1_000 * HOUR }),
              from,
            );
            await engine.start();
            for (const each of steps) {
              if (each.kind === 'wait') await clock.advance(each.minutes * MINUTE);
              if (each.kind === 'end') long.ends.splice(0).forEach((end) => void end());
              if (each.kind === 'kill') {
                engine = await trial.engine(dead(), long.run);
                await engine.start();
              }
              if (each.kind === 'both') await second.start();
              await Promise.all([engine.tick(), second.tick()]);
              await settle();
            }
            const parsed = createCronCalendar().parse(cron, timezone);
            if ('fault' in parsed) throw new Error(parsed.fault);
            const fires = (await engine.parts.fires.find({ limit: 9_999 })).map((fire) => fire.dueAt).reverse();
            const cursor = (await engine.parts.jobs.get('jb-00000001'))?.cursor ?? 0;
            expect(fires).toEqual(parsed.between(from, cursor, 9_999));
            expect(parsed.between(cursor, clock.now(), 1)).toEqual([]);
            expect(new Set(trial.began).size).toBe(trial.began.length);
          } finally {
            await trial.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../adapters/store/database.ts';
import { ownIdentity } from '../../../adapters/store/process-identity.ts';
import { openFires } from '../../../adapters/store/schedule/fires.ts';
import { openJobs } from '../../../adapters/store/schedule/jobs.ts';
import { openOutbox } from '../../../adapters/store/schedule/outbox.ts';
import { createPump, MAX_ATTEMPTS, waitAfter } from '../../../hosts/schedule/pump.ts';
import { DeliveryFault, type Sender } from '../../../hosts/schedule/scheduler.ts';
import type { Delivery, DeliveryOutbox, DeliveryTarget } from '../../../ports/schedule.ts';
import { tempPlace } from '../../adapters/store/fixture.ts';
import { job, MINUTE, NOON } from '../../contracts/schedule-store.suite.ts';
import { createManualClock, type ManualClock } from '../../fakes/clock.ts';

let clock: ManualClock;
let place: ReturnType<typeof tempPlace>;
let db: Awaited<ReturnType<typeof openDatabase>>;
let outbox: DeliveryOutbox;
let logged: string[];

const owner = () => ({ ...ownIdentity(), token: () => randomBytes(8).toString('hex') });

beforeEach(async () => {
  clock = createManualClock(NOON);
  place = tempPlace();
  db = await openDatabase({ path: place.path, durability: 'process', clock });
  outbox = openOutbox(db, owner());
  logged = [];
});
afterEach(() => {
  db.close();
  place.remove();
});

/** Puts results into the outbox, as runs do. */
async function results(...deliveries: { target: DeliveryTarget; text: string }[]): Promise<void> {
  const [jobs, fires] = [openJobs(db), openFires(db, owner(), clock)];
  await jobs.put(job('jb-00000001', { name: 'nightly' }), NOON);
  const claim = await fires.claim('jb-00000001', { at: clock.now() });
  if (claim) await fires.finish(claim, { state: 'ran', deliveries }, clock.now());
}

function pumpOf(senders: Readonly<Partial<Record<DeliveryTarget['kind'], Sender>>>, may = (_kind: string): boolean => true) {
  return createPump({ outbox, senders, may, clock, log: (level, text) => void logged.push(`${level}: ${text}`) });
}

const states = async () => (await outbox.list(99)).toReversed().map(({ state, attempts, lastError }) => [state, attempts, lastError]);
const LOG = { kind: 'log' } as const;

describe('a result', () => {
  it('is sent once, in order, and is settled', async () => {
    await results({ target: LOG, text: 'one' }, { target: LOG, text: 'two' });
    const sent: string[] = [];
    const pump = pumpOf({ log: async ({ text }) => void sent.push(text) });
    await Promise.all([pump.pump(), pump.pump(), pump.pump()]);
    expect(sent).toEqual(['one', 'two']);
    expect(await states()).toEqual([
      ['sent', 1, undefined],
      ['sent', 1, undefined],
    ]);
  });

  it('that does not arrive is sent again after a wait that grows, and is given up at last without being lost', async () => {
    await results({ target: LOG, text: 'one' });
    const at: number[] = [];
    const pump = pumpOf({
      log: async () => {
        at.push(clock.now());
        throw new Error('away');
      },
    });
    for (let minute = 0; minute < 7 * 60; minute += 1) {
      await pump.pump();
      await clock.advance(MINUTE);
    }
    expect(at.slice(1).map((each, index) => (each - (at[index] ?? 0)) / MINUTE)).toEqual([1, 2, 8, 32, 60, 60, 60]);
    expect(await states()).toEqual([['failed', MAX_ATTEMPTS, 'away']]);
    expect(logged.at(-1)).toBe('warning: the result of job nightly did not reach log: away (given up; odek schedule deliveries shows it)');
  });

  it('waits as long as the receiver asks, within an hour', () => {
    expect([waitAfter(1), waitAfter(1, 45_000), waitAfter(1, 9 * 3_600_000), waitAfter(9)]).toEqual([30_000, 45_000, 3_600_000, 3_600_000]);
  });

  it('that can never arrive is given up at once', async () => {
    await results({ target: LOG, text: 'one' });
    await pumpOf({
      log: async () => {
        throw new DeliveryFault('no such place', { retry: false });
      },
    }).pump();
    expect(await states()).toEqual([['failed', 1, 'no such place']]);
  });

  it('waits where nobody can send it, or this process may not', async () => {
    await results({ target: { kind: 'telegram' }, text: 'one' }, { target: LOG, text: 'two' });
    const sent: Delivery[] = [];
    const take: Sender = async (delivery) => void sent.push(delivery);
    await pumpOf({ log: take, telegram: take }, () => false).pump();
    expect(sent).toEqual([]);
    await pumpOf({ log: take }).pump();
    expect(sent.map(({ text }) => text)).toEqual(['two']);
    expect(await states()).toEqual([
      ['pending', 0, undefined],
      ['sent', 1, undefined],
    ]);
  });

  it('does not wait for one of another kind that takes long; broken off at the end, it stays uncertain', async () => {
    await results({ target: { kind: 'telegram' }, text: 'slow' }, { target: LOG, text: 'quick' });
    const sent: string[] = [];
    const pump = pumpOf({
      telegram: (_delivery, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
      log: async ({ text }) => void sent.push(text),
    });
    const pumping = pump.pump();
    while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = pump.stop(5_000);
    await clock.advance(5_001);
    await Promise.all([stopped, pumping]);
    expect(await states()).toEqual([
      ['sending', 1, undefined],
      ['sent', 1, undefined],
    ]);
    await pump.pump();
    expect(sent).toEqual(['quick']);
  });
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Soak, startSoak } from './stage.ts';

const MINUTE = 60_000;
/** Real seconds that `npm run soak` lets it go on; without them, the short one of every test run. */
const SECONDS = Number(process.env.ODEK_SOAK_SECONDS ?? 0);
const SHORT_MINUTES = 24;
const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Memory in use when all garbage is gone. */
async function heap(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

interface Sample {
  readonly minute: number;
  readonly heap: number;
  readonly timers: number;
}

let soak: Soak;
const samples: Sample[] = [];
const idle = { minutes: 0, cpuMs: 0 };

const sample = async (minute: number): Promise<void> => void samples.push({ minute, heap: await heap(), timers: vi.getTimerCount() });

/** Lets fake minutes pass, with jobs that come due and people who write, until it was enough. */
beforeAll(
  async () => {
    soak = await startSoak();
    const until = performance.now() + SECONDS * 1000;
    for (let minute = 1; SECONDS > 0 ? performance.now() < until : minute <= SHORT_MINUTES; minute += 1) {
      soak.write(minute);
      await soak.pass(MINUTE);
      if (minute % 4 === 0) await sample(minute);
    }
    await soak.quiet();
    const before = process.cpuUsage();
    for (idle.minutes = 0; idle.minutes < 10; idle.minutes += 1) await soak.pass(MINUTE);
    const { user, system } = process.cpuUsage(before);
    idle.cpuMs = (user + system) / 1000;
  },
  SECONDS * 1000 + 120_000,
);

/** The figures, for people. */
function report(share: number, instants: number): string {
  const mib = (bytes = 0): string => (bytes / MIB).toFixed(1);
  const half = samples[Math.floor(samples.length / 2)];
  const end = samples.at(-1);
  return [
    `soak: ${end?.minute} minutes of fake time, ${instants} due instants, ${soak.chats().wrote.length} messages`,
    `memory alive after minute ${samples[0]?.minute}: ${mib(samples[0]?.heap)} MiB, after ${half?.minute}: ${mib(half?.heap)} MiB, after ${end?.minute}: ${mib(end?.heap)} MiB`,
    `timers: ${samples[0]?.timers} at the beginning, ${end?.timers} at the end, ${Math.max(...samples.map(({ timers }) => timers))} at most`,
    `CPU while nothing is due: ${(share * 100).toFixed(2)} %`,
  ].join('\n');
}

afterAll(async () => {
  const share = idle.cpuMs / (idle.minutes * MINUTE);
  if (soak && SECONDS > 0) console.log(report(share, (await soak.records()).expected.length));
  await soak?.stop();
}, 30_000);

describe('1,000 jobs and 200 chats, as time goes by', () => {
  it('leaves exactly one record for every due instant, and every one of them ran', async () => {
    const { expected, recorded } = await soak.records();
    expect(expected.length).toBeGreaterThan(SHORT_MINUTES / 2);
    expect(recorded.map(({ instant }) => instant)).toEqual(expected);
    expect(recorded.filter(({ end }) => end !== 'ran answer')).toEqual([]);
  });

  it('answers every message once and brings every result once', () => {
    const { wrote, answered, due, delivered } = soak.chats();
    expect(answered).toEqual(wrote);
    expect(delivered).toEqual(due);
  });

  it('looks at the jobs at the beginning of each minute, and never drifts', () => {
    const { first, last, looks } = soak.looks();
    const late = [];
    for (let at = first; at <= last; at += MINUTE) if (!looks.some((look) => look >= at && look < at + 1_000)) late.push(new Date(at));
    expect(late).toEqual([]);
  });

  it('keeps memory flat and its timers few', () => {
    const half = samples.slice(Math.floor(samples.length / 2));
    const growth = (half.at(-1)?.heap ?? 0) - (half[0]?.heap ?? 0);
    expect(growth).toBeLessThan(16 * MIB);
    expect(Math.max(...samples.map(({ timers }) => timers))).toBeLessThan(120);
    expect(samples.at(-1)?.timers).toBeLessThanOrEqual((samples[0]?.timers ?? 0) + 10);
  });

  it('does next to nothing while nothing is due', () => {
    const share = idle.cpuMs / (idle.minutes * MINUTE);
    expect(share).toBeLessThan(0.02);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTicker } from '../../../hosts/schedule/ticker.ts';
import { NOON } from '../../contracts/schedule-store.suite.ts';
import { createManualClock, type ManualClock } from '../../fakes/clock.ts';

const SECOND = 1_000;
let clock: ManualClock;
let offset: number;
let seen: string[];
let stop: () => void;
let lines: Map<string, () => void>;

/** A clock that may be set, as a sleeping machine's is when it wakes: timers go on where they were, the time of day does not. */
const settable = () => ({ ...clock, now: () => clock.now() + offset });

beforeEach(async () => {
  clock = createManualClock(NOON);
  offset = 0;
  seen = [];
  lines = new Map();
  const note = (what: string) => async (): Promise<void> => void seen.push(what);
  const schedule = (line: string, run: () => void): { destroy(): void } => {
    lines.set(line, run);
    return { destroy: () => void lines.delete(line) };
  };
  stop = await startTicker({ tick: note('tick'), beat: note('beat'), tidy: note('tidy') }, settable(), { schedule } as never);
});
afterEach(() => stop());

describe('what happens by itself', () => {
  it('keeps the lease well within its 60 s', async () => {
    await clock.advance(60 * SECOND);
    expect(seen).toEqual(['beat', 'beat', 'beat', 'beat']);
  });

  it('looks at the jobs at once after the machine slept, and once', async () => {
    await clock.advance(30 * SECOND);
    seen.length = 0;
    offset = 3 * 86_400 * SECOND;
    await clock.advance(15 * SECOND);
    expect(seen).toEqual(['tick', 'beat']);
    await clock.advance(30 * SECOND);
    expect(seen).toEqual(['tick', 'beat', 'beat', 'beat']);
  });

  it('looks at them also when the clock was set back', async () => {
    offset = -3_600 * SECOND;
    await clock.advance(15 * SECOND);
    expect(seen).toEqual(['tick', 'beat']);
  });

  it('looks at them by the watch alone where the tick of a minute does not come', async () => {
    await clock.advance(76 * SECOND);
    expect(seen.filter((each) => each === 'tick')).toHaveLength(1);
  });

  it('ticks each minute and tidies each hour, and then the watch has nothing to add', async () => {
    for (let minute = 0; minute < 3; minute += 1) {
      lines.get('* * * * *')?.();
      await clock.advance(60 * SECOND);
    }
    lines.get('17 * * * *')?.();
    expect(seen.filter((each) => each !== 'beat')).toEqual(['tick', 'tick', 'tick', 'tidy']);
  });

  it('is driven by lines that node-cron takes', async () => {
    const idle = async (): Promise<void> => {};
    const end = await startTicker({ tick: idle, beat: idle, tidy: idle }, clock);
    end();
    const { validate } = await import('node-cron');
    expect([...lines.keys()].map((line) => validate(line))).toEqual([true, true]);
  });

  it('ends with its scheduler', async () => {
    stop();
    expect(lines.size).toBe(0);
    await clock.advance(600 * SECOND);
    expect([seen, clock.pending()]).toEqual([[], 0]);
  });
});

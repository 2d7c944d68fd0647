import type { Clock } from '../../ports/clock.ts';

type NodeCron = typeof import('node-cron');

/** What happens by itself while a scheduler runs. None of it rejects. */
export interface Beats {
  /** Looks at every job: each minute, and at once after the process or the machine slept. */
  tick(): Promise<void>;
  /** Keeps the lease, and sends what is due. */
  beat(): Promise<void>;
  /** Once an hour. */
  tidy(): Promise<void>;
}

/** How often the clock is compared with what it should say; well within the 60 s that a lease lasts. */
const WATCH_MS = 15_000;
/** A minute's tick that did not come: the process was stopped, the machine slept, or the clock was set. */
const OVERDUE_MS = 70_000;

/**
 * Lets node-cron drive the ticks of the minute and the hour, in UTC, where none of its rules about civil time matters, and
 * watches the clock beside it: node-cron passes over what it slept through. Returns what ends both.
 */
export async function startTicker(beats: Beats, clock: Clock, cron?: Pick<NodeCron, 'schedule'>): Promise<() => void> {
  const { schedule } = cron ?? (await import('node-cron'));
  let ticked = clock.now();
  let stopWatch = (): void => {};

  const tick = async (): Promise<void> => {
    ticked = clock.now();
    await beats.tick();
  };
  const watch = (): void => {
    const since = clock.now() - ticked;
    void (since > OVERDUE_MS || since < -WATCH_MS ? tick() : Promise.resolve()).then(() => beats.beat());
    stopWatch = clock.after(WATCH_MS, watch);
  };
  const quiet = { info() {}, warn() {}, error() {}, debug() {} };
  const options = { timezone: 'Etc/UTC', noOverlap: true, logger: quiet };
  const tasks = [schedule('* * * * *', tick, options), schedule('17 * * * *', () => beats.tidy(), options)];
  stopWatch = clock.after(WATCH_MS, watch);
  return () => {
    stopWatch();
    for (const task of tasks) void task.destroy();
  };
}

import type { CronSchedule } from '../../ports/cron-calendar.ts';
import type { Advance, Fire, ScheduledJob } from '../../ports/schedule.ts';

/** Later than this, an instant counts as missed: a tick every minute never gets near it. */
export const ON_TIME_MS = 120_000;
/** Instants that one decision looks at; a longer gap takes several. */
export const MAX_INSTANTS = 1_000;

/** What is known of a job when it is looked at. */
export interface Look {
  readonly scheduled: ScheduledJob;
  readonly schedule: CronSchedule;
  readonly now: number;
  /** Fires of the job that are not final. */
  readonly open: readonly Fire[];
  /** Another run may begin at this moment. */
  readonly hasRoom: boolean;
}

type Closed = Advance['closed'][number];

const clock = (instant: number): string => `${new Date(instant).toISOString().slice(0, 16)}Z`;

function missed(dueAt: number, reason: string): Closed {
  return { dueAt, state: 'missed', reason };
}

/** What becomes of the one instant that is to run: it runs, waits, or is skipped because of what is open. */
function place(dueAt: number, { scheduled, open, hasRoom }: Look): Pick<Advance, 'claim'> | Closed {
  const underWay = open.find((fire) => fire.state !== 'queued');
  const queued = open.find((fire) => fire.state === 'queued');
  if (queued) return { dueAt, state: 'skipped', reason: `the one of ${clock(queued.dueAt)} still waits to run` };
  if (!underWay) return { claim: { dueAt, state: hasRoom ? 'claimed' : 'queued' } };
  if (scheduled.job.overlap === 'queue') return { claim: { dueAt, state: 'queued' } };
  return { dueAt, state: 'skipped', reason: `the run of ${clock(underWay.dueAt)} was still going on` };
}

/**
 * What is to be stored about a job, or undefined when nothing came due since it was last looked at.
 * Pure: the same look gives the same decision. A gap of more than {@link MAX_INSTANTS} instants is
 * closed in parts; look again until nothing is due.
 */
export function decide(look: Look): Advance | undefined {
  const { scheduled, schedule, now } = look;
  const { job, revision, cursor } = scheduled;
  const due = schedule.between(cursor, now, MAX_INSTANTS);
  const newest = due.at(-1);
  if (newest === undefined) return undefined;
  const decision = { jobId: job.id, revision, from: cursor, to: newest };
  const isPart = due.length === MAX_INSTANTS && schedule.between(newest, now, 1).length > 0;
  if (isPart) return { ...decision, closed: due.map((each) => missed(each, 'odek was not running')) };
  const isOnTime = now - newest <= ON_TIME_MS;
  const passedOver = isOnTime || job.catchUp ? 'a newer one was due already' : 'odek was not running';
  const closed = due.slice(0, -1).map((each) => missed(each, now - each <= ON_TIME_MS ? 'a newer one was due already' : passedOver));
  if (!isOnTime && !job.catchUp) return { ...decision, closed: [...closed, missed(newest, 'odek was not running')] };
  const placed = place(newest, look);
  return 'dueAt' in placed ? { ...decision, closed: [...closed, placed] } : { ...decision, closed, ...placed };
}

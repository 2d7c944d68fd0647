import type { Delivery, Fire, SchedulerHolder } from '../../../ports/schedule.ts';
import { zonedText } from '../../schedule/zone.ts';
import { columns } from '../render/columns.ts';
import { sanitiseLine } from '../render/sanitise.ts';
import { fireJson } from './json.ts';
import { fireWords, nextOf } from './show.ts';
import type { ScheduleWork } from './work.ts';

const OUTBOX_LOOK = 1_000;
const OPEN_LOOK = 100;

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

function holderText(holder: SchedulerHolder | undefined, now: number): string {
  if (holder === undefined) return 'not running; "odek schedule daemon" starts it';
  const { pid, surface, since, beatAt } = holder;
  return `process ${pid} (odek ${surface}), since ${new Date(since).toISOString().slice(0, 16)}Z, last sign ${ago(now - beatAt)}`;
}

function outboxText(deliveries: readonly Delivery[]): string {
  const count = (state: Delivery['state']): number => deliveries.filter((each) => each.state === state).length;
  const waiting = deliveries.filter(({ state, target }) => state === 'pending' && target.kind === 'telegram').length;
  const telegram = waiting === 0 ? '' : `; ${waiting} wait for the Telegram bot, which alone sends them`;
  const more = deliveries.length === OUTBOX_LOOK ? ` of the newest ${OUTBOX_LOOK}` : '';
  return `${count('pending')} pending, ${count('sending')} being sent, ${count('failed')} failed, ${count('sent')} sent${more}${telegram}`;
}

interface Found {
  readonly holder: SchedulerHolder | undefined;
  readonly jobs: number;
  readonly enabled: number;
  readonly running: readonly Fire[];
  readonly last: { readonly fire: Fire; readonly name: string; readonly timezone: string } | undefined;
  readonly next: { readonly at: number; readonly name: string; readonly timezone: string } | undefined;
  readonly deliveries: readonly Delivery[];
}

async function look(work: ScheduleWork): Promise<Found> {
  const jobs = await work.jobs.list();
  const [fire] = await work.fires.find({ limit: 1 });
  const lastJob = jobs.find(({ job }) => job.id === fire?.jobId)?.job;
  const due = jobs.flatMap((each) => {
    const at = nextOf(work, each);
    return at === undefined ? [] : [{ at, name: each.job.name, timezone: each.job.timezone }];
  });
  return {
    holder: await work.leases.holder(),
    jobs: jobs.length,
    enabled: jobs.filter(({ job }) => job.enabled).length,
    running: (await work.fires.find({ unfinished: true, limit: OPEN_LOOK })).filter(({ orphaned }) => !orphaned),
    last: fire && { fire, name: lastJob?.name ?? fire.jobId, timezone: lastJob?.timezone ?? 'UTC' },
    next: due.sort((a, b) => a.at - b.at)[0],
    deliveries: await work.outbox.list(OUTBOX_LOOK),
  };
}

function asJson({ holder, jobs, enabled, running, last, next, deliveries }: Found): object {
  const states = ['pending', 'sending', 'failed', 'sent'] as const;
  return {
    scheduler: holder
      ? {
          pid: holder.pid,
          surface: holder.surface,
          since: new Date(holder.since).toISOString(),
          beat_at: new Date(holder.beatAt).toISOString(),
        }
      : null,
    jobs,
    enabled,
    running: running.map(fireJson),
    ...(last && { last: fireJson(last.fire) }),
    ...(next && { next: { at: new Date(next.at).toISOString(), name: next.name } }),
    outbox: Object.fromEntries(states.map((state) => [state, deliveries.filter((each) => each.state === state).length])),
    telegram_pending: deliveries.filter(({ state, target }) => state === 'pending' && target.kind === 'telegram').length,
  };
}

/** `odek schedule status`: the scheduler, what was, what comes, and what waits to be sent. */
export async function showStatus(work: ScheduleWork): Promise<void> {
  const found = await look(work);
  if (work.json) return work.out(JSON.stringify(asJson(found)));
  const { holder, jobs, enabled, running, last, next, deliveries } = found;
  const rows = [
    ['scheduler', work.config.schedules.enabled ? holderText(holder, work.now) : 'off: schedules.enabled is false'],
    ['jobs', `${jobs}, ${enabled} enabled`],
    ['running', running.length === 0 ? '-' : running.map(({ jobId, state }) => `${jobId} ${state}`).join(', ')],
    ['last', last === undefined ? '-' : `${fireWords(last.fire, last.timezone)}, ${sanitiseLine(last.name)}`],
    ['next', next === undefined ? '-' : `${zonedText(next.at, next.timezone)}, ${sanitiseLine(next.name)}`],
    ['outbox', outboxText(deliveries)],
  ];
  for (const line of columns(rows)) work.out(line);
}

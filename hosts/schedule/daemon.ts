import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import { ConfigError } from '../../ports/errors.ts';
import { ScheduleError, type SchedulerHolder } from '../../ports/schedule.ts';
import type { CommandContext } from '../cli/command.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { loadToldWithoutModel } from '../cli/host.ts';
import { onInterrupt } from '../cli/interrupt.ts';
import { openConfiguredStore } from '../cli/store.ts';
import { selectProvider } from '../config/select.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { scheduleApprover } from './approver.ts';
import { appendToLog } from './deliver/log-file.ts';
import { type Health, type HealthEndpoint, serveHealth } from './health.ts';
import { logFileOf, openScheduler } from './open.ts';
import { SCHEDULE_POLICIES } from './policy.ts';
import type { LogLevel, RunEdges, Scheduler } from './scheduler.ts';

/** How long runs may go on after the signal to end. */
const DRAIN_MS = 20_000;

/** Writes lines to standard error and to `schedule.log`, masked. A log that cannot be written is told once. */
export function scheduleLog({ io }: Pick<CommandContext, 'io'>, config: ResolvedConfig): (level: LogLevel, text: string) => void {
  const { text: mask } = createRedactor(config.secrets);
  let isTold = false;
  return (level, text) => {
    const line = mask(text).replaceAll(/\r?\n/g, '\n  ');
    if (level !== 'debug') io.stderr.write(`odek: ${level === 'info' ? '' : `${level}: `}${line}\n`);
    try {
      appendToLog(logFileOf(config.state.home), `${new Date().toISOString()} ${level} ${line}\n`);
    } catch (error) {
      if (!isTold) io.stderr.write(`odek: warning: schedule.log cannot be written: ${(error as Error).message}\n`);
      isTold = true;
    }
  };
}

export function heldBy({ pid, surface, since }: SchedulerHolder): ScheduleError {
  const who = `process ${pid} (odek ${surface}, since ${new Date(since).toISOString()})`;
  return new ScheduleError('scheduler_running', `${who} is the scheduler of this state folder; only one runs at a time`, { value: pid });
}

/** Runs of a daemon without a model would all fail: said at once, and no reason not to start. */
function checkModel(config: ResolvedConfig, log: (level: LogLevel, text: string) => void): void {
  try {
    selectProvider(config);
  } catch (error) {
    log('warning', `runs will fail until this is mended: ${(error as Error).message}`);
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function openHealth(
  config: ResolvedConfig,
  look: () => Health,
  log: (level: LogLevel, text: string) => void,
): Promise<HealthEndpoint | undefined> {
  if (config.schedules.health_addr === undefined) return undefined;
  const endpoint = await serveHealth(config.schedules.health_addr, look);
  log('info', `health at http://${endpoint.address}/health`);
  if (!endpoint.isLocal) log('warning', `schedules.health_addr ${config.schedules.health_addr} can be reached from other machines`);
  return endpoint;
}

/** `odek schedule daemon`: runs jobs at their times until SIGTERM or SIGINT; a second signal ends it at once. */
export async function runDaemon(context: CommandContext): Promise<number> {
  const { env, cwd, io } = context;
  const config = await loadToldWithoutModel(context);
  if (!config.schedules.enabled) {
    throw new ConfigError('schedules_disabled', 'schedules.enabled is false: no job runs', { value: false });
  }
  const log = scheduleLog(context, config);
  const interrupt = onInterrupt(() => {}, ['SIGINT', 'SIGTERM']);
  const clock = createSystemClock();
  const store = await openConfiguredStore(config, SCHEDULE_POLICIES.daemon.surface);
  const startedAt = clock.monotonic();
  let status: Health['status'] = 'starting';
  let scheduler: Scheduler | undefined;
  const look = (): Health => {
    const now = scheduler?.status();
    const isReplaced = status === 'ok' && now?.leading === false;
    return {
      status: isReplaced ? 'conflict' : status,
      uptime_seconds: Math.floor((clock.monotonic() - startedAt) / 1000),
      running: now?.running ?? 0,
    };
  };
  // Whoever sends it wants changes to count, and they do by themselves: it must not end the daemon.
  const onHangUp = (): void => void scheduler?.tick();
  process.on('SIGHUP', onHangUp);
  let health: HealthEndpoint | undefined;
  try {
    const held = await store.schedules.leases.holder();
    if (held !== undefined) throw heldBy(held);
    health = await openHealth(config, look, log);
    checkModel(config, log);
    const print = (text: string): void => void io.stdout.write(text);
    const policy = SCHEDULE_POLICIES.daemon;
    const redact = createRedactor(config.secrets).text;
    const approver = scheduleApprover({ config, policy, store, redact, warn: (text) => log('warning', text) });
    const edgesOf = (): RunEdges => (approver === undefined ? {} : { approver });
    const options = { surface: 'schedule', policy, config, env, cwd, store, clock, log, print, edgesOf } as const;
    scheduler = await openScheduler(options);
    const stopEarly = (): void => void scheduler?.stop(0);
    interrupt.signal.addEventListener('abort', stopEarly, { once: true });
    const holder = await scheduler.start();
    interrupt.signal.removeEventListener('abort', stopEarly);
    if (holder !== undefined) throw heldBy(holder);
    status = 'ok';
    log('info', `scheduler started (process ${process.pid}, ${(await store.schedules.jobs.list()).length} jobs)`);
    await untilAborted(interrupt.signal);
    status = 'draining';
    log('info', 'scheduler is ending; a second signal ends it at once');
    return EXIT.ok;
  } finally {
    await scheduler?.stop(DRAIN_MS);
    await health?.close();
    await store.close();
    interrupt.stop();
    process.off('SIGHUP', onHangUp);
    if (status !== 'starting') log('info', 'scheduler ended');
  }
}

import { createCronCalendar } from '../../adapters/cron/croner.ts';
import { createHttpClient } from '../../adapters/http/index.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { DeliveryTarget } from '../../ports/schedule.ts';
import { guardedProxy } from '../network.ts';
import { asEntry } from './deliver/text.ts';
import { createEngine, within } from './engine.ts';
import { asConfigured } from './job.ts';
import { createPump } from './pump.ts';
import { createJobRunner } from './run.ts';
import type { OpenScheduler, SchedulerOptions, Sender } from './scheduler.ts';

const DAY_MS = 86_400_000;
/** How long the last results have to get out when everything else has ended. */
const PUMP_GRACE_MS = 10_000;

export const logFileOf = (home: string): string => `${home}/schedule.log`;

/** The ways out that every scheduler has. */
function ownSenders(
  { config, store, clock, print }: SchedulerOptions,
  http: HttpClient,
): Readonly<Partial<Record<DeliveryTarget['kind'], Sender>>> {
  const { schedules, state } = config;
  return {
    stdout: async (delivery) => print(asEntry(delivery)),
    log: async (delivery) => {
      const { appendToLog } = await import('./deliver/log-file.ts');
      appendToLog(logFileOf(state.home), asEntry(delivery));
    },
    file: async (delivery) => {
      if (delivery.target.kind !== 'file') return;
      const { appendToFile } = await import('./deliver/file.ts');
      const workspace = (await store.schedules.jobs.get(delivery.jobId))?.job.workspace;
      const folders = [...(workspace === undefined ? [] : [workspace]), ...schedules.deliver_folders];
      await appendToFile(delivery.target.path, asEntry(delivery), { folders, forbidden: [state.home] });
    },
    webhook: async (delivery, signal) => {
      const { webhookSender } = await import('./deliver/webhook.ts');
      await webhookSender({ http, secret: schedules.webhook_secret, now: clock.now })(delivery, signal);
    },
  };
}

/** MCP servers, connected once for all runs; undefined where none is configured. */
async function serversOf(options: SchedulerOptions, signal: AbortSignal) {
  const { config, env, cwd, policy, clock, log } = options;
  if (!policy.mcp.client || Object.keys(config.mcp_servers).length === 0) return undefined;
  const { openSharedServers } = await import('../mcp-client/shared.ts');
  const redactor = createRedactor(config.secrets);
  const told = (level: string, text: string): void => log(level === 'warning' ? 'warning' : 'info', text);
  return openSharedServers({ policy, environment: { config, env, workspace: cwd }, redactor, clock, log: told, signal });
}

type Servers = Awaited<ReturnType<typeof serversOf>>;

/** Engine, deliveries and housekeeping as one object, for the daemon, a run by hand and the Telegram bot. */
export const openScheduler: OpenScheduler = async (options) => {
  const { config, store, clock, log, surface } = options;
  const { jobs, fires, leases, outbox } = store.schedules;
  const http = createHttpClient({
    mode: 'guarded',
    allowHosts: config.network.allow_hosts,
    ...guardedProxy({ config, env: options.env }),
  });
  const pump = createPump({
    outbox,
    senders: { ...ownSenders(options, http), ...options.senders },
    // What another process is the scheduler of goes to that one's streams and files.
    may: (kind) => engine.leading || wasLeading || byHand > 0 || options.senders?.[kind] !== undefined,
    // Whoever tries a job is not kept waiting by what others left to be sent.
    only: () => (engine.leading || wasLeading ? undefined : triedJob),
    clock,
    log,
  });
  const calendar = createCronCalendar();
  const starting = new AbortController();
  const startedAt = clock.now();
  let servers: Servers;
  let runner: ReturnType<typeof createJobRunner> | undefined;
  let byHand = 0;
  let triedJob: string | undefined;
  let wasLeading = false;
  let connecting: Promise<void> | undefined;
  let lookedAt: number | undefined;
  let stopTicker = (): void => {};
  let stopping: Promise<void> | undefined;

  const connect = (): Promise<void> => {
    connecting ??= (async () => {
      servers = await serversOf(options, starting.signal);
    })();
    return connecting;
  };
  const engine = createEngine(
    {
      jobs,
      // A result is sent as soon as it is stored.
      fires: {
        ...fires,
        finish: async (...ending) => {
          await fires.finish(...ending);
          void pump.pump();
        },
      },
      leases,
      outbox,
      calendar,
      clock,
      log,
      async run(run) {
        await connect();
        const shared = servers && { configs: config.mcp_servers, connector: servers.connector };
        runner ??= createJobRunner({ ...options, ids: createRandomIds(), ...(shared && { servers: shared }) });
        return runner(run);
      },
    },
    { surface, maxConcurrent: config.schedules.max_concurrent, dailyTokens: config.schedules.daily_token_budget },
  );
  let isFollowing = false;
  /** Once as the scheduler: jobs that take zone or catch-up from the configuration get those of now. */
  const follow = async (): Promise<void> => {
    if (isFollowing || !engine.leading) return;
    for (const { job } of await jobs.list()) {
      try {
        const now = asConfigured(job, calendar, config.schedules);
        if (now !== undefined) await jobs.put(now, clock.now());
      } catch (error) {
        log('warning', `job ${job.name} stays as it is: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    isFollowing = true;
  };
  const tick = async (): Promise<void> => {
    await follow().catch((error: unknown) => log('error', `the jobs could not be read: ${String(error)}`));
    await engine.tick();
    lookedAt = clock.now();
  };
  const tidy = async (): Promise<void> => {
    try {
      const removed = await jobs.prune(clock.now() - config.schedules.history_days * DAY_MS);
      if (removed > 0) log('debug', `${removed} old records are gone`);
    } catch (error) {
      log('warning', `old records could not be removed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const beat = async (): Promise<void> => {
    await engine.beat();
    await pump.pump();
  };
  const stop = async (graceMs: number): Promise<void> => {
    stopTicker();
    starting.abort();
    wasLeading = engine.leading;
    await engine.drain(graceMs);
    await within(clock, pump.pump(), PUMP_GRACE_MS);
    await pump.stop(0);
    await connecting?.catch(() => {});
    await servers?.close();
    await http.close();
  };

  return {
    async start() {
      // Before anything is started that two schedulers would start twice.
      if ((await leases.holder()) === undefined) await connect();
      const holder = await engine.start();
      if (options.timers === false) return holder;
      const { startTicker } = await import('./ticker.ts');
      stopTicker = await startTicker({ tick, beat, tidy }, clock);
      if (holder === undefined) {
        void tidy();
        void tick().then(pump.pump);
      }
      return holder;
    },
    tick,
    async runNow(idOrName, signal) {
      await connect();
      byHand += 1;
      triedJob = (await jobs.get(idOrName))?.job.id;
      try {
        const fire = await engine.runNow(idOrName, signal);
        await pump.pump();
        return fire;
      } finally {
        byHand -= 1;
      }
    },
    pump: () => pump.pump(),
    status: () => ({
      leading: engine.leading,
      startedAt,
      running: engine.running,
      ...(lookedAt !== undefined && { lookedAt }),
    }),
    stop(graceMs) {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
};

import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { inputTokens } from '../../core/budget/price.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { Clock } from '../../ports/clock.ts';
import { ConfigError, hasCode } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { RunResult } from '../../ports/run.ts';
import type { FireEnd, FireOutcome, ScheduleJob } from '../../ports/schedule.ts';
import type { SessionWriter } from '../../ports/session.ts';
import { type Composed, compose } from '../compose.ts';
import { loadConfig } from '../config/load.ts';
import { selectProvider } from '../config/select.ts';
import type { McpServerConfig, ResolvedConfig } from '../config/types.ts';
import type { HostEnvironment } from '../environment.ts';
import type { OpenConnector } from '../mcp-client/open-connector.ts';
import { isPlanning } from '../planning.ts';
import type { HostPolicy } from '../policy.ts';
import { newSessionId } from '../session-id.ts';
import { buildSystemPrompt } from '../system-prompt.ts';
import { scheduleDanger } from './danger.ts';
import { type JobRun, RunCut } from './engine.ts';
import type { RunEdges, SchedulerOptions } from './scheduler.ts';

/** How usage and sessions are booked, wherever the scheduler is. */
const SURFACE = 'schedule';
const SHOWN_AS = 'report that is sent when this scheduled run is over; nobody watches it or can answer';
const MAX_RESULT = 280;
const MAX_TITLE = 200;
const RUN_ID_BYTES = 16;
/** How long a job's own session is waited for while somebody else writes it. */
const SESSION_WAIT_MS = 30_000;
const MAX_TOLD = 1_000;

export interface RunnerParts extends Pick<SchedulerOptions, 'env' | 'cwd' | 'log' | 'edgesOf'> {
  readonly policy: HostPolicy;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The servers of the process: connected once. Absent: there are none. */
  readonly servers?: { readonly configs: ResolvedConfig['mcp_servers']; readonly connector: OpenConnector };
}

/** Code points, never half of one. */
function cut(text: string, limit: number): string {
  const points = [...text];
  return points.length <= limit ? text : points.slice(0, limit).join('');
}

/** What a job says about itself, as if it were given on a command line. */
function flagsOf({ model, limits }: ScheduleJob): Record<string, string | number> {
  const given = {
    model,
    'max-runtime': limits.max_runtime_seconds,
    'max-tool-calls': limits.max_tool_calls,
    'max-input-tokens': limits.max_input_tokens,
    'max-output-tokens': limits.max_output_tokens,
    'max-cost-usd': limits.max_cost_usd,
  };
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

async function folderOf({ workspace }: ScheduleJob): Promise<string> {
  try {
    return await realpath(workspace);
  } catch (cause) {
    throw new ConfigError('no_working_directory', `the folder of the job is not there: ${workspace}`, { value: workspace, cause });
  }
}

/** The session of a run: a new one, or the job's own. */
async function openSession(
  job: ScheduleJob,
  { root }: Composed,
  environment: HostEnvironment,
  signal: AbortSignal,
): Promise<SessionWriter> {
  const { store, clock, ids, redactor } = root;
  const create = (id: string): Promise<SessionWriter> =>
    store.sessions.create({
      id,
      title: cut(redactor.text(`[${job.name}] ${job.task}`).replaceAll(/\s+/g, ' '), MAX_TITLE),
      provider: environment.selection.id,
      model: environment.selection.model,
      workspace: environment.workspace,
      listed: true,
      externalRefs: [],
    });
  if (job.session === 'fresh') return create(newSessionId(clock.now(), ids));
  try {
    return await store.sessions.open(job.id, { waitMs: SESSION_WAIT_MS }, signal);
  } catch (error) {
    if (!hasCode(error, 'session_not_found')) throw error;
    return create(job.id);
  }
}

/** How a run that did not simply answer is told. */
const HEADLINES: Readonly<Record<Exclude<FireOutcome, 'answer' | 'partial'>, string>> = {
  budget: 'stopped at its budget',
  cancelled: 'was cut off',
  failed: 'failed',
};

function headline(job: ScheduleJob, outcome: FireOutcome, reason: string): string {
  const what = outcome === 'answer' || outcome === 'partial' ? 'ended' : HEADLINES[outcome];
  return `[scheduled task "${job.name}" ${what}] ${reason}`;
}

/** What becomes of a run, as it is recorded and sent. Texts are masked already. */
function endOf(job: ScheduleJob, outcome: FireOutcome, told: { answer: string; reason?: string; tokens?: number }): FireEnd {
  const { answer, reason, tokens } = told;
  const isPlain = outcome === 'answer' || outcome === 'partial';
  const text = isPlain
    ? answer || '(the run ended without a text)'
    : [headline(job, outcome, reason ?? ''), answer].filter(Boolean).join('\n\n');
  return {
    state: 'ran',
    outcome,
    ...(reason !== undefined && { reason }),
    result: cut(isPlain ? text : answer || text, MAX_RESULT),
    ...(tokens !== undefined && { tokens }),
    deliveries: [{ target: job.deliver, text }],
  };
}

function cutBy(signal: AbortSignal): string | undefined {
  return signal.aborted && signal.reason instanceof RunCut ? signal.reason.message : undefined;
}

function concluded(job: ScheduleJob, result: RunResult, signal: AbortSignal, mask: (text: string) => string): FireEnd {
  const reason = result.outcome === 'cancelled' ? (cutBy(signal) ?? 'it was cancelled') : result.error?.message;
  return endOf(job, result.outcome, {
    answer: mask(result.answer),
    ...(reason !== undefined && { reason: mask(reason) }),
    tokens: inputTokens(result.usage) + result.usage.output,
  });
}

/** Makes the runs of jobs: each a headless agent of its own in the folder of its job. Rejects only for a claim that was lost. */
export function createJobRunner(parts: RunnerParts): (run: JobRun) => Promise<FireEnd> {
  const { policy, env, cwd, clock, ids, log, servers } = parts;
  const told = new Set<string>();

  const warnOnce = (job: ScheduleJob, text: string): void => {
    const line = `job ${job.name}: ${text}`;
    if (told.has(line)) return;
    if (told.size >= MAX_TOLD) told.clear();
    told.add(line);
    log('warning', line);
  };

  /** Servers of the process; those of its own folder's project are for jobs of that folder alone. */
  const serversFor = (
    job: ScheduleJob,
    workspace: string,
    own: ResolvedConfig['mcp_servers'],
  ): Readonly<Record<string, McpServerConfig>> => {
    const isShared = ([, { origin }]: readonly [string, McpServerConfig]): boolean => origin === 'operator' || workspace === cwd;
    const shared = Object.fromEntries(Object.entries(servers?.configs ?? {}).filter(isShared));
    for (const [name, { origin }] of Object.entries(own)) {
      if (origin === 'project' && shared[name] === undefined) {
        warnOnce(
          job,
          `MCP server "${name}" of the project in ${workspace} is left out: scheduled runs have the servers that odek was started with`,
        );
      }
    }
    return shared;
  };

  const environmentOf = async (job: ScheduleJob, edges: RunEdges): Promise<HostEnvironment> => {
    const workspace = await folderOf(job);
    const loaded = await loadConfig({ env, cwd: workspace, flags: flagsOf(job) });
    for (const warning of loaded.warnings) warnOnce(job, warning);
    const config: ResolvedConfig = {
      ...loaded.config,
      dangerous: scheduleDanger(loaded.config, edges.approver !== undefined),
      mcp_servers: serversFor(job, workspace, loaded.config.mcp_servers),
    };
    const prompt = { workspace, surface: SHOWN_AS, now: clock.now(), planning: isPlanning(config) };
    return {
      config,
      selection: selectProvider(config),
      env,
      workspace,
      systemPrompt: await buildSystemPrompt(config, prompt, (text) => warnOnce(job, text)),
      dataDirOf: (plugin) => resolve(config.state.home, 'plugins', plugin, 'data'),
      eventsIncludeArgs: false,
    };
  };

  const perform = async ({ job, started, signal }: JobRun, edges: RunEdges, environment: HostEnvironment): Promise<FireEnd> => {
    const composed = await compose({ ...policy, surface: SURFACE }, environment, {
      ...(edges.approver && { approver: edges.approver }),
      ...(servers && { connector: servers.connector }),
      signal,
      onEvent: (event) => edges.onEvent?.(event),
      log: (level, text) => log(level === 'warning' || level === 'error' ? 'warning' : 'debug', `job ${job.name}: ${text}`),
    });
    try {
      const session = await openSession(job, composed, environment, signal);
      try {
        const runId = ids.hex(RUN_ID_BYTES);
        await started({ sessionId: session.header.id, runId });
        const result = await composed.root.agent.run({ session, task: job.task, runId, signal });
        return concluded(job, result, signal, composed.root.redactor.text);
      } finally {
        await session.close();
      }
    } finally {
      await composed.close();
    }
  };

  return async (run) => {
    const { job, claim, signal } = run;
    let mask = createRedactor([]).text;
    try {
      const edges = parts.edgesOf?.(job, claim) ?? {};
      const environment = await environmentOf(job, edges);
      mask = createRedactor(environment.config.secrets).text;
      return await perform(run, edges, environment);
    } catch (error) {
      if (hasCode(error, 'claim_lost')) throw error;
      const why = cutBy(signal);
      const reason = why ?? (error instanceof Error ? error.message : String(error));
      return endOf(job, why === undefined ? 'failed' : 'cancelled', { answer: '', reason: mask(reason) });
    }
  };
}

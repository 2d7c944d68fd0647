import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { PluginName } from '../../plugins/index.ts';
import type { Approver } from '../../ports/approval.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { LlmProvider } from '../../ports/llm.ts';
import type { Plugin } from '../../ports/plugin.ts';
import type { RunResult } from '../../ports/run.ts';
import type { SessionWriter } from '../../ports/session.ts';
import { type Composed, compose } from '../compose.ts';
import type { HostEnvironment } from '../environment.ts';
import { isPlanning } from '../planning.ts';
import { newSessionId } from '../session-id.ts';
import { buildSystemPrompt } from '../system-prompt.ts';
import { embeddedConfig } from './config.ts';
import { EMBED_POLICY } from './policy.ts';
import { inferSelection } from './selection.ts';

export interface CreateAgentOptions {
  /** Keys of `config.json` (docs/configuration.md), as an object. No file and no environment variable is read. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A live provider; takes the place of `config.provider` and `config.base_url`. Closed with the agent. */
  readonly provider?: LlmProvider;
  /** The folder the agent works in; the current one when absent. */
  readonly workspace?: string;
  /** Where sessions are kept. Absent: a temporary folder that goes with `close`. */
  readonly stateDir?: string;
  /** Your tools. */
  readonly plugins?: readonly Plugin[];
  /** Tools that odek brings; none when absent. */
  readonly builtIns?: readonly PluginName[];
  /** Absent: nobody answers, and `config.dangerous.non_interactive` decides. */
  readonly approver?: Approver;
  onEvent?(event: RunEvent): void;
  /** One line each; `console.warn` when absent. */
  onWarning?(text: string): void;
}

export interface EmbeddedRunOptions {
  readonly signal?: AbortSignal;
  /** Go on with this session, or keep a new one: `true`. Absent: the session goes once it gave an answer. */
  readonly session?: string | true;
}

/** An agent inside another program. */
export interface EmbeddedAgent {
  /** One turn. A budget, a cancellation and a failure are results; rejects when the session cannot be opened or written. */
  run(task: string, options?: EmbeddedRunOptions): Promise<RunResult>;
  /** From any thread of control: stop at the next iteration boundary and report. */
  requestFinalisation(): void;
  close(): Promise<void>;
}

const OPEN_WAIT_MS = 3_000;

async function openSession(composed: Composed, environment: HostEnvironment, options: EmbeddedRunOptions): Promise<SessionWriter> {
  const { store, ids, clock } = composed.root;
  const { session, signal = new AbortController().signal } = options;
  if (typeof session === 'string') return store.sessions.open(session, { waitMs: OPEN_WAIT_MS }, signal);
  return store.sessions.create({
    id: newSessionId(clock.now(), ids),
    title: '',
    provider: environment.selection.id,
    model: environment.selection.model,
    workspace: environment.workspace,
    listed: session === true,
    externalRefs: [],
  });
}

async function placeOf(options: CreateAgentOptions): Promise<{ stateDir: string; workspace: string; temporary: boolean }> {
  const workspace = await realpath(resolve(options.workspace ?? process.cwd()));
  if (options.stateDir !== undefined) return { stateDir: resolve(options.stateDir), workspace, temporary: false };
  return { stateDir: await mkdtemp(resolve(tmpdir(), 'odek-')), workspace, temporary: true };
}

/**
 * Makes an agent inside your program: the same loop, budgets, journal and events as `odek run`.
 * Throws `ConfigError` for a configuration that is wrong or names no provider.
 */
export async function createAgent(options: CreateAgentOptions): Promise<EmbeddedAgent> {
  const warn = options.onWarning ?? ((text: string) => console.warn(`odek: ${text}`));
  const { stateDir, workspace, temporary } = await placeOf(options);
  const config = embeddedConfig(options.config ?? {}, { stateDir, workspace }, warn);
  const planning = isPlanning(config, options.builtIns ?? []);
  const environment: HostEnvironment = {
    config,
    selection: inferSelection(config, options.provider),
    env: process.env,
    workspace,
    systemPrompt: await buildSystemPrompt(config, { workspace, surface: 'program', now: Date.now(), planning }, warn),
    dataDirOf: (plugin) => resolve(stateDir, 'plugins', plugin, 'data'),
    eventsIncludeArgs: false,
    builtIns: options.builtIns ?? [],
  };
  const composed = await compose(EMBED_POLICY, environment, {
    ...(options.approver && { approver: options.approver }),
    ...(options.provider && { provider: options.provider }),
    plugins: options.plugins ?? [],
    onEvent: (event) => options.onEvent?.(event),
    log: (level, text) => {
      if (level === 'warning' || level === 'error') warn(text);
    },
  });
  return {
    run: async (task, runOptions = {}) => {
      const session = await openSession(composed, environment, runOptions);
      let result: RunResult | undefined;
      try {
        result = await composed.root.agent.run({ session, task, signal: runOptions.signal ?? new AbortController().signal });
        return result;
      } finally {
        await session.close({ discard: runOptions.session === undefined && result?.outcome === 'answer' });
        // Nobody can come back to the jobs of a session without a name.
        if (runOptions.session === undefined) await composed.root.jobs?.endSession(session.header.id);
      }
    },
    requestFinalisation: () => composed.root.agent.requestFinalisation(),
    close: async () => {
      await composed.close();
      if (temporary) await rm(stateDir, { recursive: true, force: true });
    },
  };
}

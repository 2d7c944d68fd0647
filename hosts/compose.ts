import { Container } from 'inversify';
import type { Store } from '../adapters/store/index.ts';
import type { Agent } from '../core/agent/agent.ts';
import type { FanOut } from '../core/guards/fan-out.ts';
import type { AppliedPlugins } from '../core/plugins/host.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import type { PluginName } from '../plugins/index.ts';
import type { Approver } from '../ports/approval.ts';
import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/event.ts';
import type { Ids } from '../ports/ids.ts';
import type { LlmProvider } from '../ports/llm.ts';
import type { Plugin } from '../ports/plugin.ts';
import type { ProviderSelection, ResolvedConfig } from './config/types.ts';
import { agentModule, systemModule, worldModule } from './modules.ts';
import type { HostPolicy } from './policy.ts';
import { TOKENS } from './tokens.ts';

/** What a host knows before anything is made: configuration and place. */
export interface HostEnvironment {
  readonly config: ResolvedConfig;
  readonly selection: ProviderSelection;
  /** The process environment that child processes are filtered from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the working directory. */
  readonly workspace: string;
  readonly systemPrompt: string;
  dataDirOf(plugin: string): string;
  /** First-party plugins to apply; all when absent. */
  readonly builtIns?: readonly PluginName[];
  /** `--events-jsonl`, absolute. */
  readonly eventFile?: string;
  readonly eventsIncludeArgs: boolean;
  /** `--record`, absolute: the provider's replies are written there. */
  readonly recordFile?: string;
  /** `--replay`, absolute: this recording takes the provider's place. */
  readonly replayFile?: string;
}

/** The live objects that only a surface has. */
export interface Edges {
  readonly approver?: Approver;
  /** A live provider that takes the configured one's place. */
  readonly provider?: LlmProvider;
  /** Applied after the first-party ones. */
  readonly plugins?: readonly Plugin[];
  onEvent(event: RunEvent): void;
  log(level: string, message: string): void;
}

/** What a host gets to work with. The container does not leave this file. */
export interface Root {
  readonly agent: Agent;
  readonly store: Store;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly provider: LlmProvider;
  readonly sinks: FanOut;
  readonly plugins: AppliedPlugins;
}

export interface Composed {
  readonly root: Root;
  /** Gives everything back, in reverse order of making, each with a bound. Idempotent. */
  close(): Promise<void>;
}

export function createRoot(
  agent: Agent,
  store: Store,
  ids: Ids,
  clock: Clock,
  redactor: Redactor,
  provider: LlmProvider,
  sinks: FanOut,
  plugins: AppliedPlugins,
): Root {
  return { agent, store, ids, clock, redactor, provider, sinks, plugins };
}

const CLOSE_TIMEOUT_MS = 5_000;

async function bounded(clock: Clock, work: () => Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = clock.after(CLOSE_TIMEOUT_MS, late.resolve);
  // One part that cannot be closed must not keep the others open.
  await Promise.race([work().catch(() => {}), late.promise]);
  stop();
}

/** Builds one host process or session: a fresh container, visited once. Rejects with the first setup error. */
export async function compose(policy: HostPolicy, environment: HostEnvironment, edges: Edges): Promise<Composed> {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.policy).toConstantValue(policy);
  container.bind(TOKENS.environment).toConstantValue(environment);
  container.bind(TOKENS.edges).toConstantValue(edges);
  container.load(systemModule, worldModule, agentModule);
  const root = (await container.getAsync(TOKENS.root)) as Root;
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    const parts = [() => root.plugins.dispose(), () => root.provider.close(), () => root.sinks.close(), () => root.store.close()];
    for (const part of parts) await bounded(root.clock, part);
  };
  return {
    root,
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

import type { Sandbox } from '../adapters/process/sandbox/sandbox.ts';
import type { Store } from '../adapters/store/index.ts';
import type { Agent } from '../core/agent/agent.ts';
import type { FanOut } from '../core/guards/fan-out.ts';
import type { JobDesk } from '../core/jobs/desk.ts';
import type { AppliedPlugins } from '../core/plugins/host.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import type { PluginName } from '../plugins/index.ts';
import type { Approver } from '../ports/approval.ts';
import type { Clarifier } from '../ports/clarifier.ts';
import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/event.ts';
import type { Ids } from '../ports/ids.ts';
import type { LlmProvider } from '../ports/llm.ts';
import type { Plugin } from '../ports/plugin.ts';
import type { ProviderSelection, ResolvedConfig } from './config/types.ts';
import type { McpBoard } from './mcp-client/board.ts';
import type { Consent } from './mcp-client/consent.ts';
import type { OpenConnector } from './mcp-client/open-connector.ts';
import type { PluginBoard } from './plugin-host/board.ts';

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

/** Where the commands of a host run. */
export interface HostSandbox {
  /** Absent: commands run as odek does. */
  readonly sandbox?: Sandbox;
  close(): Promise<void>;
}

/** The live objects that only a surface has. */
export interface Edges {
  readonly approver?: Approver;
  /** Absent: nobody can be asked anything in the middle of a run. */
  readonly clarifier?: Clarifier;
  /** A question of odek's own before a run, to the person who started it. Absent, or undefined as answer: there is nobody. */
  askOperator?(text: string): Promise<string | undefined>;
  /** Absent: nobody can be asked about MCP servers and their tools. */
  readonly consent?: Consent;
  /** Fires when the surface is to end, also while it is being composed. */
  readonly signal?: AbortSignal;
  /** Connections to MCP servers that outlive this host. Absent: it has its own. */
  readonly connector?: OpenConnector;
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
  readonly mcp: McpBoard;
  /** Plugins of third parties. */
  readonly extensions: PluginBoard;
  readonly sandbox: HostSandbox;
  /** Absent: there are no background jobs. */
  readonly jobs?: JobDesk;
}

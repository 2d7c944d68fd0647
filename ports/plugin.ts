import type { ArtifactReader } from './artifact.ts';
import type { Clarifier } from './clarifier.ts';
import type { ConfigView } from './config-view.ts';
import { OdekError } from './errors.ts';
import type { FileSystem } from './file-system.ts';
import type { HttpClient } from './http.ts';
import type { JobControl } from './job.ts';
import type { JsonSchema } from './message.ts';
import type { PlanControl } from './plan.ts';
import type { PluginCore } from './plugin-context.ts';
import type { ProcessRunner } from './process.ts';
import type { SessionSearch } from './session-search.ts';
import type { SkillCatalogue } from './skill.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

/** What a call would touch. Core classifies and approves from this; a tool never decides for itself. */
export interface ToolEffects {
  /** Paths read, as given or absolute. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Host names reached. */
  readonly hosts?: readonly string[];
  /** It asks the hosts to take or change something, instead of only reading from them: `network_upload`, and no call of its batch runs beside it. */
  readonly uploads?: boolean;
  /** A shell command line. */
  readonly command?: string;
  /** What is put into paths of `writes`, as far as it is known: some files make something run by what is in them. */
  readonly changes?: readonly FileChange[];
}

/** A file's whole new content, or a piece of it (the first occurrence, or `all`) that another text takes the place of. */
export type FileChange =
  | { readonly path: string; readonly content: string }
  | { readonly path: string; readonly old: string; readonly replacement: string; readonly all?: boolean };

/** What a running call may use. */
export interface ToolExecution {
  /** Fires on cancel and on the call's time limit; a tool must stop soon after. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** The arguments as validated, the same value as `input`. */
  readonly args: unknown;
  /** The JSON text that was executed, for tools to which its exact spelling matters. In process only. */
  readonly rawArgs?: string;
  /** The run that the call belongs to; a service that keeps state for each run is asked with it. In process only. */
  readonly runId?: string;
  /** The session of the run, for services that keep something for as long as it lasts. In process only. */
  readonly sessionId?: string;
  /** Absolute path of the working directory. */
  readonly workspace: string;
  /** Absolute path of the plugin's own folder; may not exist yet. */
  readonly dataDir: string;
  /** Runs another tool through core. In the process of plugins only, while the call runs under the gate of a turn. */
  readonly core?: PluginCore;
}

/** What a tool gives back. `failed` makes the outcome `failed` while the content still reaches the model. */
export interface ToolResult {
  readonly content: string;
  readonly failed?: boolean;
  /** Label of the untrusted wrapper, for example a path; the tool's name when absent. */
  readonly source?: string;
  /** A line for each artifact that came with it, kept whole. Believed of the tools of MCP servers alone. */
  readonly artifacts?: readonly string[];
}

/**
 * A tool. `execute` returns text or a {@link ToolResult}, or throws: the message then goes to the
 * model as `error: <message>` and the outcome is `failed`.
 */
export interface ToolSpec {
  /** 1 to 64 of `[A-Za-z0-9_-]`, without `__`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly parameters: JsonSchema;
  execute(input: never, exec: ToolExecution): Promise<string | ToolResult>;
  /** Pure and quick. Absent or throwing: the call is of class `unknown`. */
  effects?(input: never): ToolEffects;
  /** The tool's own diagnostics replace the schema check (in process only, DECISIONS 17). */
  readonly ownsValidation?: boolean;
  /** Characters of result the model gets; absent means compression to 4 KiB (DECISIONS 5). */
  readonly maxResultChars?: number;
  /** Milliseconds; absent means the run's default. */
  readonly timeoutMs?: number;
  /** Its calls of one response run one after the other, in the order they were asked for. */
  readonly ordered?: boolean;
  readonly output?: JsonSchema;
  readonly deferLoading?: boolean;
}

/** Undoes a registration. Idempotent. */
export type Disposer = () => void;

export interface ToolRegistrar {
  /** Throws {@link PluginError} `tool_name_taken`, `invalid_tool_name` or `invalid_tool`. */
  register(tool: ToolSpec): Disposer;
}

export interface Logger {
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
}

/** The operator's search engine: a SearXNG server that answers in JSON. */
export interface SearchEngine {
  /** http or https URL of the server. */
  readonly baseUrl: string;
  /** Comma-separated, for a search that names none; empty: the server's own. */
  readonly categories: string;
  /** Empty: the server's own. */
  readonly language: string;
  /** Results of a search that asks for no number, 1 to 50. */
  readonly maxResults: number;
  /** Milliseconds of one search. */
  readonly timeoutMs: number;
  /** Reaches the server and no other host. */
  readonly http: HttpClient;
}

/** Services a plugin may inject. Third parties get the first group only (DECISIONS 18). */
export interface Services {
  readonly tools: ToolRegistrar;
  readonly logger: Logger;
  /** First party only. */
  readonly fs: FileSystem;
  /** First party only. */
  readonly process: ProcessRunner;
  /** First party only. */
  readonly http: HttpClient;
  /** First party only. */
  readonly plan: PlanControl;
  /** First party only. */
  readonly jobs: JobControl;
  /** First party only. */
  readonly sessions: SessionSearch;
  /** First party only. */
  readonly config: ConfigView;
  /** First party only. */
  readonly catalogue: ToolCatalogue;
  /** First party only. Absent where no tool can hand over artifacts. */
  readonly artifacts: ArtifactReader;
  /** First party only. Absent where no person can be asked. */
  readonly clarifier: Clarifier;
  /** First party only. Absent where no search engine is configured. */
  readonly searchEngine: SearchEngine;
  /** First party only. Absent where there is no folder of skills. */
  readonly skillCatalogue: SkillCatalogue;
}

export type ServiceName = keyof Services;

/**
 * The one interface of first-party and third-party tools (DECISIONS 17).
 *
 * Contract (the `plugin` suite):
 * - `apply` registers everything it offers before it settles, and only through its context.
 * - It asks for no service that it does not name in `inject`.
 * - What it registered is gone after its owner disposed it; applying it again works.
 * - Every tool has a description and an object schema that compiles.
 * - `effects` does not throw for an input that its schema accepts.
 */
export interface Plugin<Names extends ServiceName = ServiceName, Config = unknown> {
  readonly name: string;
  readonly inject?: readonly Names[];
  /** JSON Schema of the plugin's configuration; checked before `apply`. */
  readonly Config?: JsonSchema;
  apply(ctx: Pick<Services, Names>, config: Config): void | Promise<void>;
}

/** Gives a plugin literal its types: the context holds exactly the injected services. */
export function definePlugin<const Names extends ServiceName, Config = unknown>(plugin: Plugin<Names, Config>): Plugin<Names, Config> {
  return plugin;
}

/** Gives a tool literal its input type. The schema must accept exactly what the type says. */
export function defineTool<Input>(
  tool: Omit<ToolSpec, 'execute' | 'effects'> & {
    execute(input: Input, exec: ToolExecution): Promise<string | ToolResult>;
    effects?(input: Input): ToolEffects;
  },
): ToolSpec {
  return tool as unknown as ToolSpec;
}

export type PluginErrorCode =
  | 'tool_name_taken'
  | 'invalid_tool_name'
  | 'invalid_tool'
  | 'invalid_plugin_config'
  | 'service_not_injected'
  | 'service_unavailable'
  | 'plugin_failed';

export class PluginError extends OdekError {
  constructor(code: PluginErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

export type * from './plugin-context.ts';

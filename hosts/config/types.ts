import type { DangerAction, DangerClass, NonInteractiveRule } from '../../ports/approval.ts';
import type { BudgetLimits, ModelPrice } from '../../ports/budget.ts';
import type { McpProtocolChoice } from '../../ports/mcp.ts';

/** What a checked key holds. */
export type ConfigValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

/** Where a value came from, weakest layer first. */
export type ConfigSource = 'default' | 'secrets.env' | 'global' | 'project' | 'env' | 'flag';

export type InteractionMode = 'engaging' | 'enhance' | 'verbose' | 'off';

/** `''` leaves the choice to the provider. */
type ThinkingSetting = '' | 'disabled' | 'low' | 'medium' | 'high';

export type ProviderFormat = 'openai' | 'openai-responses' | 'anthropic' | 'gemini';

/** One entry of `providers`: a custom endpoint, or changes to a built-in one. */
export interface ProviderConfig {
  readonly format?: ProviderFormat;
  readonly base_url?: string;
  readonly api_key?: string;
  /** Whether reasoning text is sent back to the endpoint. Default true. */
  readonly include_reasoning?: boolean;
  /** Peculiarities of a service that speaks the OpenAI format; found by its address otherwise. */
  readonly dialect?: string;
  /** A stream that ends without a finish reason is complete. */
  readonly done_without_finish?: boolean;
  /** Which earlier answers get their reasoning sent back. */
  readonly reasoning_replay?: 'always' | 'on_tool_calls' | 'never';
  /** For an adapter that brings the provider; untouched. */
  readonly options?: Readonly<Record<string, unknown>>;
}

interface LlmConfig {
  /** Whole call, seconds; 1 to 3,600. */
  readonly request_timeout_seconds: number;
  /** Silence between two stream events, seconds; 5 to 3,600. */
  readonly stream_idle_timeout_seconds: number;
  /** Tokens; 0 asks the built-in table. */
  readonly context_window: number;
}

interface PlanningConfig {
  readonly enabled: boolean;
  /** 1 to 50. */
  readonly max_steps: number;
  /** UTF-8 bytes of the plan message; 200 to 8,000. */
  readonly max_render_chars: number;
}

interface BackgroundConfig {
  readonly enabled: boolean;
  /** 1 to 64. */
  readonly max_jobs: number;
  /** 1 KiB to 64 MiB. */
  readonly max_output_bytes: number;
  /** Seconds; 0 is no limit. */
  readonly max_timeout_seconds: number;
  readonly notify: 'observe' | 'off';
}

interface DangerousConfig {
  readonly classes: Readonly<Partial<Record<DangerClass, DangerAction>>>;
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
  readonly action?: DangerAction;
  readonly non_interactive: NonInteractiveRule;
  readonly approver: 'terminal' | 'store';
  /** 1 to 86,400. */
  readonly approval_timeout_seconds: number;
  /** Classes that nothing allows. No key sets it: a surface does. */
  readonly never?: readonly DangerClass[];
}

/** What scheduled runs may do; `destructive`, `blocked`, `persistence` and `unread_exec` are denied whatever this says. */
interface ScheduleDangerConfig {
  readonly classes: Readonly<Partial<Record<DangerClass, DangerAction>>>;
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
  readonly action?: DangerAction;
}

export interface SchedulesConfig {
  readonly enabled: boolean;
  /** 1 to 32. */
  readonly max_concurrent: number;
  /** IANA name; checked where it is used. */
  readonly timezone: string;
  readonly catchup: boolean;
  /** 1 to 86,400. */
  readonly run_timeout_seconds: number;
  /** 0 is no limit. */
  readonly daily_token_budget: number;
  /** 1 to 3,650. */
  readonly history_days: number;
  /** Absolute. */
  readonly deliver_folders: readonly string[];
  /** Never printed. */
  readonly webhook_secret?: string;
  /** `host:port`. */
  readonly health_addr?: string;
  readonly approver: 'none' | 'telegram';
  readonly allow_telegram_management: boolean;
  readonly telegram_admin_chats: readonly string[];
  readonly telegram_admin_users: readonly string[];
  readonly dangerous: ScheduleDangerConfig;
}

export interface TelegramConfig {
  /** Never printed. */
  readonly bot_token?: string;
  readonly api_root: string;
  readonly fallback_urls: readonly string[];
  readonly allowed_users: readonly string[];
  readonly allowed_chats: readonly string[];
  readonly allow_all_users: boolean;
  readonly bot_username?: string;
  /** 1 to 60. */
  readonly poll_interval: number;
  /** 1 to 60. */
  readonly poll_timeout: number;
  /** UTF-16 units, 1 to 4,096. */
  readonly max_msg_length: number;
  readonly progress: 'all' | 'new' | 'verbose' | 'off';
  readonly progress_cleanup: boolean;
  /** 0 is no limit. */
  readonly daily_token_budget: number;
  /** 1 to 86,400. */
  readonly agent_timeout_seconds: number;
  readonly session_ttl_hours: number;
  /** `host:port`. */
  readonly health_addr?: string;
  /** Bytes; -1 takes no file. */
  readonly max_download_size: number;
  /** Bytes; 0 is no limit. */
  readonly media_quota_per_chat: number;
  readonly default_chat_id?: string;
}

interface VerifyConfig {
  readonly enabled: boolean;
  readonly mode: 'hint' | 'strict' | 'off';
  readonly model?: string;
  /** 1 to 3. */
  readonly max_cycles: number;
  readonly max_tokens?: number;
}

/** One MCP server. Bounds are those of `hosts/config/mcp-fields.ts`. */
export interface McpServerConfig {
  /** Whose file it is from. */
  readonly origin: 'operator' | 'project';
  /** Exactly one of `command` and `url` is there. */
  readonly command?: string;
  readonly args: readonly string[];
  /** Without the variables whose names say that they hold a secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of those. */
  readonly stripped_env: readonly string[];
  readonly url?: string;
  readonly token_env?: string;
  /** The value of that variable. Never printed. */
  readonly token?: string;
  /** What a login at it has to know beforehand. The secret is never printed. */
  readonly oauth?: {
    readonly client_id?: string;
    readonly client_secret?: string;
    readonly scopes?: readonly string[];
    readonly port?: number;
  };
  readonly protocol: McpProtocolChoice;
  readonly timeout_seconds: number;
  readonly max_response_bytes: number;
  readonly max_result_chars: number;
  /** Absolute. */
  readonly artifact_roots: readonly string[];
  readonly auto_approve: boolean;
  readonly approve: 'register' | 'call';
}

/** Absolute paths of what odek keeps on disk. Nothing is created by loading. */
export interface StatePaths {
  /** `$ODEK_HOME`, else `~/.odek`. */
  readonly home: string;
  readonly configFile: string;
  readonly secretsFile: string;
  /** `odek.json` in the working directory; it need not exist. */
  readonly projectFile: string;
  readonly database: string;
  readonly identityFile: string;
  /** Where running background jobs are noted. */
  readonly jobsFolder: string;
  /** Where running MCP servers are noted. */
  readonly serversFolder: string;
  readonly replHistory: string;
}

/** Where the model is, after inference. Absent fields were given by nobody. */
export interface ProviderSelection {
  /** A built-in id, a key of `providers`, an adapter's name, or `legacy` for an unknown host. */
  readonly id: string;
  /** `undefined` for an adapter from outside, which has no wire format of ours. */
  readonly format?: ProviderFormat | 'local';
  readonly base_url?: string;
  readonly api_key?: string;
  readonly include_reasoning: boolean;
  readonly model: string;
}

/** The resolved configuration: plain data, every layer folded in, every value checked. */
export interface ResolvedConfig {
  /** The id chosen or inferred; `undefined` when nothing names one. See `selectProvider`. */
  readonly provider?: string;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** `undefined` when neither given nor known for the provider. */
  readonly model?: string;
  readonly base_url?: string;
  /** The key for `provider`, from whichever source won. Never printed. */
  readonly api_key?: string;
  readonly llm: LlmConfig;
  readonly thinking: ThinkingSetting;
  /** Tokens, for models that think by a budget; at least 1,024. */
  readonly thinking_budget: number;
  /** Mark the stable head of the conversation for a service's cache. */
  readonly prompt_caching: boolean;
  /** Below 0 omits the field from requests; 0 and above is sent. At most 2. */
  readonly temperature: number;
  /** Answer cap in tokens; `undefined` leaves it to the model. */
  readonly max_tokens?: number;
  readonly max_iterations: number;
  readonly max_tool_parallel: number;
  readonly stream: boolean;
  /** Whether a digest is kept of what no longer fits the model's window. */
  readonly compaction: boolean;
  /** Whether the model is told how much of its budget is used. */
  readonly announce_budget: boolean;
  readonly interaction_mode: InteractionMode;
  readonly no_color: boolean;
  readonly no_agents: boolean;
  /** Replaces the default system prompt. */
  readonly system?: string;
  readonly planning: PlanningConfig;
  readonly background: BackgroundConfig;
  /** `undefined` leaves it to the surface. */
  readonly sandbox?: boolean;
  /** No run without it. */
  readonly sandbox_required: boolean;
  readonly sandbox_backend: 'auto' | 'bwrap' | 'docker';
  readonly sandbox_image?: string;
  readonly sandbox_network: string;
  readonly sandbox_readonly: boolean;
  /** Bytes, with `k`, `m` or `g` behind the number where they are many. */
  readonly sandbox_memory?: string;
  readonly sandbox_cpus?: string;
  readonly sandbox_user?: string;
  /** What `odek.json` asks for by key and does not get before a person agreed; what an outer layer sets is not among it. */
  readonly askedByProject: Readonly<Record<string, ConfigValue>>;
  readonly dangerous: DangerousConfig;
  readonly limits: BudgetLimits;
  readonly input_cost_per_million_usd?: number;
  readonly output_cost_per_million_usd?: number;
  readonly model_prices: Readonly<Record<string, ModelPrice>>;
  readonly tools: {
    /** `undefined` means every tool. */
    readonly enabled?: readonly string[];
    readonly disabled: readonly string[];
  };
  /** Files or packages that define adapters; relative paths are already absolute. */
  readonly adapters: readonly string[];
  /** Options by sink name, untouched. */
  readonly sinks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly verify: VerifyConfig;
  /** `power` survives a power cut, `process` a killed process (DECISIONS 38). */
  readonly durability: 'process' | 'power';
  readonly network: {
    /** `host:port` targets that guarded requests may reach although they are private. */
    readonly allow_hosts: readonly string[];
    /** `http://host:port`, or `none`. */
    readonly proxy?: string;
  };
  readonly web_search: {
    /** Absent: there is no search. */
    readonly base_url?: string;
    readonly categories: string;
    readonly language: string;
    readonly max_results: number;
    readonly timeout_seconds: number;
  };
  readonly schedules: SchedulesConfig;
  readonly telegram: TelegramConfig;
  readonly skills: {
    /** Absolute, or below the home folder with `~/`. */
    readonly dirs: readonly string[];
  };
  readonly extension_host: {
    readonly enabled: boolean;
    /** Absent: the Node that runs odek. */
    readonly node?: string;
    readonly allow_unsandboxed: boolean;
  };
  /** By the name of the manifest; untouched. */
  readonly plugins: Readonly<Record<string, { readonly config: Readonly<Record<string, unknown>> }>>;
  /** By name, resolved over the operator's and the project's file. */
  readonly mcp_servers: Readonly<Record<string, McpServerConfig>>;
  readonly state: StatePaths;
  /** Every secret value known, for the redactor. Never printed, never serialised. */
  readonly secrets: readonly string[];
  /** One line each, for stderr. Hold no secret. */
  readonly warnings: readonly string[];
}

/** Dotted key → the layer whose value won. Only keys of the key table appear; map entries by their own path. */
type ConfigSources = Readonly<Record<string, ConfigSource>>;

export interface LoadedConfig {
  readonly config: ResolvedConfig;
  readonly sources: ConfigSources;
  /** The same values by dotted key, secrets included; for `odek config`. */
  readonly values: Readonly<Record<string, ConfigValue>>;
  readonly warnings: readonly string[];
}

export interface LoadOptions {
  /** The environment. Key variables are moved out of it, so that no child process sees them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Flags as the argument parser returns them, by flag name without dashes. */
  readonly flags: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** The user's home folder; default: the operating system's. Not the state folder. */
  readonly home?: string;
  /** Warn about an operator's file that cannot be used, instead of throwing: for `config` and `doctor`. */
  readonly tolerant?: boolean;
  /** False for what asks no model: nothing is said about which endpoint would be used. */
  readonly usesModel?: boolean;
}

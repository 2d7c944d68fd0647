import { DIALECTS } from '../../adapters/llm/dialects.ts';
import { DANGER_CLASSES } from '../../ports/approval.ts';

/** What a project's `odek.json` may do with a key. */
export type ProjectRule =
  /** Set it. */
  | 'set'
  /** Only make it smaller than the operator's value; of a switch, only turn it off. */
  | 'lower'
  /** Only add to the operator's list. */
  | 'append'
  /** Nothing: the value is dropped with a warning. */
  | 'ignored'
  /** Nothing: prices decide what a budget measures. */
  | 'rejected';

/** One configuration key. Loading, `odek config`, flags, completion and the docs table all read this. */
export interface KeySpec {
  /** Dotted; `<name>` stands for a name that the operator chooses. */
  readonly key: string;
  readonly type: 'string' | 'url' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'object';
  readonly summary: string;
  readonly default?: string | number | boolean;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  /** With a warning instead of a refusal, a value is raised to `min`, or held within the whole range. */
  readonly clamps?: 'least' | 'range';
  readonly choices?: readonly string[];
  /** Other spellings of a choice. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** What an unknown choice becomes, with a warning, instead of being refused. */
  readonly fallback?: string;
  /** What a string or a list's entry must look like, and how to say so. */
  readonly pattern?: { readonly test: RegExp; readonly says: string };
  readonly env?: string;
  /** Flag name without dashes. */
  readonly flag?: string;
  readonly project: ProjectRule;
  readonly secret?: boolean;
  /** `$` is taken literally: values that are commands. */
  readonly literal?: boolean;
}

const ONE_WORD = { test: /^[\x21-\x7e]{1,256}$/, says: '1 to 256 printable characters without spaces' } as const;
const HOST_PORT = {
  test: /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/,
  says: 'host:port with a port from 1 to 65535',
} as const;
const TOOL_NAME = { test: /^[A-Za-z0-9_.:*-]{1,128}$/, says: 'a tool name' } as const;
const NOT_EMPTY = { test: /\S/, says: 'text that is not empty' } as const;

const THINKING_ALIASES = { enabled: 'medium', on: 'medium', mid: 'medium', off: 'disabled', max: 'high' } as const;

export const CONFIG_KEYS: readonly KeySpec[] = [
  {
    key: 'provider',
    type: 'string',
    pattern: ONE_WORD,
    env: 'ODEK_PROVIDER',
    flag: 'provider',
    project: 'ignored',
    summary: 'Where the model is: a built-in id, a key of `providers`, or the name of an adapter. Inferred when absent.',
  },
  {
    key: 'providers.<id>.format',
    type: 'choice',
    choices: ['openai', 'openai-responses', 'anthropic', 'gemini'],
    project: 'ignored',
    summary: 'Wire format of a custom endpoint.',
  },
  { key: 'providers.<id>.base_url', type: 'url', project: 'ignored', summary: 'Address of the endpoint.' },
  { key: 'providers.<id>.api_key', type: 'string', secret: true, project: 'ignored', summary: 'Key for this provider alone.' },
  {
    key: 'providers.<id>.include_reasoning',
    type: 'boolean',
    default: true,
    project: 'ignored',
    summary: 'Send reasoning text back; `false` for gateways that refuse the field.',
  },
  {
    key: 'providers.<id>.dialect',
    type: 'choice',
    choices: Object.keys(DIALECTS),
    project: 'ignored',
    summary: 'Peculiarities of a service that speaks the OpenAI format. Found by its address or id when absent.',
  },
  {
    key: 'providers.<id>.done_without_finish',
    type: 'boolean',
    project: 'ignored',
    summary: 'Take a stream for complete that ends without saying why. The dialect decides when absent.',
  },
  {
    key: 'providers.<id>.reasoning_replay',
    type: 'choice',
    choices: ['always', 'on_tool_calls', 'never'],
    project: 'ignored',
    summary: 'Which earlier answers get their reasoning sent back. The dialect decides when absent.',
  },
  {
    key: 'providers.<id>.options',
    type: 'object',
    project: 'ignored',
    summary: 'Options for an adapter that brings this provider, or for `local`, handed over as they are.',
  },
  {
    key: 'model',
    type: 'string',
    pattern: ONE_WORD,
    env: 'ODEK_MODEL',
    flag: 'model',
    project: 'set',
    summary: 'Model id. Only `deepseek` has a default, `deepseek-v4-flash`.',
  },
  {
    key: 'base_url',
    type: 'url',
    env: 'ODEK_BASE_URL',
    flag: 'base-url',
    project: 'ignored',
    summary: 'Address of the endpoint; a known host names the provider, an unknown one is spoken to in the OpenAI format.',
  },
  {
    key: 'api_key',
    type: 'string',
    secret: true,
    env: 'ODEK_API_KEY',
    project: 'ignored',
    summary: 'Key for the provider in use. Better kept in `secrets.env`.',
  },
  {
    key: 'llm.request_timeout_seconds',
    type: 'number',
    default: 300,
    min: 1,
    max: 3600,
    unit: 's',
    project: 'ignored',
    summary: 'Longest model call, from the request to the last byte.',
  },
  {
    key: 'llm.stream_idle_timeout_seconds',
    type: 'number',
    default: 300,
    min: 5,
    max: 3600,
    clamps: 'least',
    unit: 's',
    env: 'ODEK_STREAM_IDLE_TIMEOUT_SECONDS',
    project: 'ignored',
    summary: 'Longest silence within a stream.',
  },
  {
    key: 'llm.context_window',
    type: 'integer',
    default: 0,
    min: 0,
    max: 100_000_000,
    unit: 'tokens',
    project: 'ignored',
    summary: 'Context window of the model; 0 asks the built-in table.',
  },
  {
    key: 'thinking',
    type: 'choice',
    default: '',
    choices: ['', 'disabled', 'low', 'medium', 'high'],
    aliases: THINKING_ALIASES,
    env: 'ODEK_THINKING',
    flag: 'thinking',
    project: 'set',
    summary: 'Reasoning effort; empty leaves it to the provider.',
  },
  {
    key: 'thinking_budget',
    type: 'integer',
    default: 5000,
    min: 1024,
    max: 1_000_000,
    clamps: 'least',
    unit: 'tokens',
    flag: 'thinking-budget',
    project: 'set',
    summary: 'Longest thinking of a model of Anthropic that thinks by a budget.',
  },
  {
    key: 'prompt_caching',
    type: 'boolean',
    default: true,
    env: 'ODEK_PROMPT_CACHING',
    flag: 'prompt-caching',
    project: 'set',
    summary: 'Mark the stable head of a conversation for the cache of a service in the Anthropic format.',
  },
  {
    key: 'temperature',
    type: 'number',
    default: 0,
    min: -1,
    max: 2,
    flag: 'temperature',
    project: 'set',
    summary: 'Sampling temperature; below 0 it is not sent.',
  },
  {
    key: 'max_tokens',
    type: 'integer',
    min: 1,
    max: 10_000_000,
    unit: 'tokens',
    flag: 'max-tokens',
    project: 'lower',
    summary: 'Longest single answer of the model.',
  },
  {
    key: 'max_iterations',
    type: 'integer',
    default: 90,
    min: 1,
    max: 100_000,
    env: 'ODEK_MAX_ITER',
    flag: 'max-iter',
    project: 'set',
    summary: 'Model calls in one run.',
  },
  {
    key: 'max_tool_parallel',
    type: 'integer',
    default: 4,
    min: 1,
    max: 64,
    project: 'lower',
    summary: 'Tool calls of one answer that run at the same time.',
  },
  {
    key: 'compaction',
    type: 'boolean',
    default: true,
    env: 'ODEK_COMPACTION',
    flag: 'compaction',
    project: 'set',
    summary: "Keep a digest of messages that no longer fit the model's window.",
  },
  {
    key: 'announce_budget',
    type: 'boolean',
    default: true,
    env: 'ODEK_ANNOUNCE_BUDGET',
    flag: 'announce-budget',
    project: 'set',
    summary: 'Tell the model when half, three quarters and nine tenths of a limit are used.',
  },
  {
    key: 'stream',
    type: 'boolean',
    default: true,
    env: 'ODEK_STREAM',
    flag: 'stream',
    project: 'set',
    summary: 'Show the answer while it is written.',
  },
  {
    key: 'interaction_mode',
    type: 'choice',
    default: 'engaging',
    choices: ['engaging', 'enhance', 'verbose', 'off'],
    env: 'ODEK_INTERACTION_MODE',
    flag: 'interaction-mode',
    project: 'set',
    summary: 'How much the terminal tells while a run goes on.',
  },
  {
    key: 'no_color',
    type: 'boolean',
    default: false,
    env: 'ODEK_NO_COLOR',
    flag: 'no-color',
    project: 'set',
    summary: 'No colours. `NO_COLOR` in the environment does the same.',
  },
  {
    key: 'no_agents',
    type: 'boolean',
    default: false,
    env: 'ODEK_NO_AGENTS',
    flag: 'no-agents',
    project: 'set',
    summary: 'Do not read `AGENTS.md` of the working directory.',
  },
  {
    key: 'system',
    type: 'string',
    pattern: NOT_EMPTY,
    env: 'ODEK_SYSTEM',
    flag: 'system',
    project: 'ignored',
    summary: 'System prompt instead of the built-in one.',
  },
  {
    key: 'planning.enabled',
    type: 'boolean',
    default: true,
    env: 'ODEK_PLANNING',
    flag: 'planning',
    project: 'lower',
    summary: 'Keep a plan for work of several steps, with the `plan` tool.',
  },
  {
    key: 'planning.max_steps',
    type: 'integer',
    default: 12,
    min: 1,
    max: 50,
    clamps: 'range',
    project: 'lower',
    summary: 'Steps of a plan.',
  },
  {
    key: 'planning.max_render_chars',
    type: 'integer',
    default: 2000,
    min: 200,
    max: 8000,
    clamps: 'range',
    unit: 'bytes',
    project: 'lower',
    summary: 'Size of the plan message.',
  },
  {
    key: 'background.enabled',
    type: 'boolean',
    default: true,
    project: 'lower',
    summary: 'Background jobs: the `bg_start` family of tools, where `shell` is there too.',
  },
  {
    key: 'background.max_jobs',
    type: 'integer',
    default: 8,
    min: 1,
    max: 64,
    project: 'lower',
    summary: 'Background jobs of a session that run at the same time.',
  },
  {
    key: 'background.max_output_bytes',
    type: 'integer',
    default: 1_048_576,
    min: 1024,
    max: 67_108_864,
    unit: 'bytes',
    project: 'lower',
    summary: 'Output kept of each job, in memory, the newest.',
  },
  {
    key: 'background.max_timeout_seconds',
    type: 'number',
    default: 0,
    min: 0,
    unit: 's',
    project: 'lower',
    summary: 'Longest a job may run. 0 is off: as long as its session.',
  },
  {
    key: 'background.notify',
    type: 'choice',
    default: 'observe',
    choices: ['observe', 'off'],
    project: 'set',
    summary: 'Whether the model is told at its next step that a job ended, or has to ask.',
  },
  {
    key: 'dangerous.classes.<class>',
    type: 'choice',
    choices: ['allow', 'prompt', 'deny'],
    project: 'ignored',
    summary: `Action for one danger class: ${DANGER_CLASSES.map((name) => `\`${name}\``).join(' ')}.`,
  },
  {
    key: 'dangerous.allowlist',
    type: 'list',
    literal: true,
    pattern: NOT_EMPTY,
    project: 'ignored',
    summary: 'Commands that run without a question; the whole line must be equal.',
  },
  {
    key: 'dangerous.denylist',
    type: 'list',
    literal: true,
    pattern: NOT_EMPTY,
    project: 'ignored',
    summary: 'Beginnings of commands that never run.',
  },
  {
    key: 'dangerous.action',
    type: 'choice',
    choices: ['allow', 'prompt', 'deny'],
    project: 'ignored',
    summary: 'One action for every class but `blocked`.',
  },
  {
    key: 'dangerous.non_interactive',
    type: 'choice',
    default: 'read_only',
    choices: ['read_only', 'deny', 'allow'],
    fallback: 'deny',
    project: 'ignored',
    summary: 'What happens to a call that would ask while nobody can answer.',
  },
  {
    key: 'limits.max_runtime_seconds',
    type: 'number',
    min: 0,
    unit: 's',
    flag: 'max-runtime',
    project: 'lower',
    summary: 'Budget: wall clock of a run. 0 is off.',
  },
  {
    key: 'limits.max_tool_calls',
    type: 'integer',
    min: 0,
    flag: 'max-tool-calls',
    project: 'lower',
    summary: 'Budget: tool calls of a run. 0 is off.',
  },
  {
    key: 'limits.max_input_tokens',
    type: 'integer',
    min: 0,
    unit: 'tokens',
    flag: 'max-input-tokens',
    project: 'lower',
    summary: 'Budget: tokens read by the model in a run. 0 is off.',
  },
  {
    key: 'limits.max_output_tokens',
    type: 'integer',
    min: 0,
    unit: 'tokens',
    flag: 'max-output-tokens',
    project: 'lower',
    summary: 'Budget: tokens written by the model in a run. 0 is off.',
  },
  {
    key: 'limits.max_cost_usd',
    type: 'number',
    min: 0,
    unit: 'USD',
    flag: 'max-cost-usd',
    project: 'lower',
    summary: 'Budget: cost of a run; needs both prices. 0 is off.',
  },
  {
    key: 'input_cost_per_million_usd',
    type: 'number',
    min: 0,
    unit: 'USD',
    project: 'rejected',
    summary: 'Price of a million input tokens.',
  },
  {
    key: 'output_cost_per_million_usd',
    type: 'number',
    min: 0,
    unit: 'USD',
    project: 'rejected',
    summary: 'Price of a million output tokens.',
  },
  {
    key: 'model_prices.<model>.input_cost_per_million_usd',
    type: 'number',
    min: 0,
    unit: 'USD',
    project: 'rejected',
    summary: 'The same for one exact model id.',
  },
  {
    key: 'model_prices.<model>.output_cost_per_million_usd',
    type: 'number',
    min: 0,
    unit: 'USD',
    project: 'rejected',
    summary: 'The same for one exact model id.',
  },
  {
    key: 'tools.enabled',
    type: 'list',
    pattern: TOOL_NAME,
    env: 'ODEK_TOOLS_ENABLED',
    flag: 'tool',
    project: 'ignored',
    summary: 'The only tools that exist. Absent: all.',
  },
  {
    key: 'tools.disabled',
    type: 'list',
    pattern: TOOL_NAME,
    env: 'ODEK_TOOLS_DISABLED',
    flag: 'no-tool',
    project: 'append',
    summary: 'Tools that do not exist. Every layer adds to it.',
  },
  {
    key: 'adapters',
    type: 'list',
    pattern: NOT_EMPTY,
    project: 'ignored',
    summary: 'Files or packages that bring a provider or a sink; a relative path starts at the configuration file.',
  },
  { key: 'sinks.<name>', type: 'object', project: 'ignored', summary: 'Options of an event sink; naming one turns it on.' },
  {
    key: 'verify.enabled',
    type: 'boolean',
    default: false,
    project: 'ignored',
    summary: 'Let a side call judge each answer before it is given.',
  },
  {
    key: 'verify.mode',
    type: 'choice',
    default: 'hint',
    choices: ['hint', 'strict', 'off'],
    project: 'ignored',
    summary: 'A failing answer: `hint` sends it back with the findings, `strict` marks it at once.',
  },
  {
    key: 'verify.model',
    type: 'string',
    pattern: ONE_WORD,
    project: 'ignored',
    summary: 'Model of the same provider that judges. Default: the one in use.',
  },
  {
    key: 'verify.max_cycles',
    type: 'integer',
    default: 1,
    min: 1,
    max: 3,
    project: 'ignored',
    summary: 'Answers of a run that may be sent back.',
  },
  {
    key: 'verify.max_tokens',
    type: 'integer',
    min: 64,
    max: 100_000,
    unit: 'tokens',
    project: 'ignored',
    summary: 'Longest verdict. Default: 1024.',
  },
  {
    key: 'durability',
    type: 'choice',
    default: 'process',
    choices: ['process', 'power'],
    project: 'ignored',
    summary: 'What a finished step survives: a killed process, or a power cut as well.',
  },
  {
    key: 'network.allow_hosts',
    type: 'list',
    pattern: HOST_PORT,
    project: 'ignored',
    summary: 'Private `host:port` targets that tools may reach.',
  },
  {
    key: 'web_search.base_url',
    type: 'url',
    project: 'ignored',
    summary: 'SearXNG server that `web_search` asks. Without it there is no such tool.',
  },
  {
    key: 'web_search.categories',
    type: 'string',
    default: '',
    project: 'ignored',
    summary: 'Categories of a search that names none, with commas. Empty: what the server says.',
  },
  {
    key: 'web_search.language',
    type: 'string',
    default: '',
    project: 'ignored',
    summary: 'Language of the results. Empty: what the server says.',
  },
  {
    key: 'web_search.max_results',
    type: 'integer',
    default: 10,
    min: 1,
    max: 50,
    unit: 'results',
    project: 'ignored',
    summary: 'Results of a search that asks for no number.',
  },
  {
    key: 'web_search.timeout_seconds',
    type: 'integer',
    default: 15,
    min: 1,
    max: 300,
    unit: 'seconds',
    project: 'ignored',
    summary: 'Longest search.',
  },
];

/** The spec of an exact key of the table. */
export function keySpec(key: string): KeySpec {
  const spec = CONFIG_KEYS.find((candidate) => candidate.key === key);
  if (spec === undefined) throw new Error(`no such configuration key: ${key}`);
  return spec;
}

import type { DangerAction, DangerClass, NonInteractiveRule } from '../../ports/approval.ts';
import type { ModelPrice } from '../../ports/budget.ts';
import { CONFIG_KEYS, keySpec } from './keys.ts';
import { pluginsOf } from './plugin-keys.ts';
import { schedulesOf } from './schedules.ts';
import { telegramOf } from './telegram.ts';
import type { ConfigValue, McpServerConfig, ProviderConfig, ResolvedConfig, StatePaths } from './types.ts';

export interface AssembleInput {
  readonly values: ReadonlyMap<string, ConfigValue>;
  readonly state: StatePaths;
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
  /** What the project asks for, by key; absent: nothing. */
  readonly asked?: Readonly<Record<string, ConfigValue>>;
}

/** Turns checked dotted values into the configuration's own shape. Absent keys stay absent. */
export function assemble({ values, state, secrets, warnings, asked = {} }: AssembleInput): ResolvedConfig {
  const must = <T extends ConfigValue>(key: string): T => (values.get(key) ?? keySpec(key).default) as T;
  const optional = <K extends string, T extends ConfigValue>(name: K, key: string): { [P in K]?: T } =>
    values.has(key) ? ({ [name]: values.get(key) } as { [P in K]?: T }) : {};
  const list = (key: string): readonly string[] => (values.get(key) as readonly string[] | undefined) ?? [];

  return {
    ...optional<'provider', string>('provider', 'provider'),
    providers: providersOf(values),
    ...optional<'model', string>('model', 'model'),
    ...optional<'base_url', string>('base_url', 'base_url'),
    ...optional<'api_key', string>('api_key', 'api_key'),
    llm: {
      request_timeout_seconds: must('llm.request_timeout_seconds'),
      stream_idle_timeout_seconds: must('llm.stream_idle_timeout_seconds'),
      context_window: must('llm.context_window'),
    },
    thinking: must<ResolvedConfig['thinking']>('thinking'),
    thinking_budget: must('thinking_budget'),
    prompt_caching: must('prompt_caching'),
    temperature: must('temperature'),
    ...optional<'max_tokens', number>('max_tokens', 'max_tokens'),
    max_iterations: must('max_iterations'),
    max_tool_parallel: must('max_tool_parallel'),
    stream: must('stream'),
    compaction: must('compaction'),
    announce_budget: must('announce_budget'),
    interaction_mode: must<ResolvedConfig['interaction_mode']>('interaction_mode'),
    no_color: must('no_color'),
    no_agents: must('no_agents'),
    ...optional<'system', string>('system', 'system'),
    planning: {
      enabled: must('planning.enabled'),
      max_steps: must('planning.max_steps'),
      max_render_chars: must('planning.max_render_chars'),
    },
    background: {
      enabled: must('background.enabled'),
      max_jobs: must('background.max_jobs'),
      max_output_bytes: must('background.max_output_bytes'),
      max_timeout_seconds: must('background.max_timeout_seconds'),
      notify: must<'observe' | 'off'>('background.notify'),
    },
    ...optional<'sandbox', boolean>('sandbox', 'sandbox'),
    sandbox_required: must('sandbox_required'),
    sandbox_backend: must<ResolvedConfig['sandbox_backend']>('sandbox_backend'),
    ...optional<'sandbox_image', string>('sandbox_image', 'sandbox_image'),
    sandbox_network: must('sandbox_network'),
    sandbox_readonly: must('sandbox_readonly'),
    ...optional<'sandbox_memory', string>('sandbox_memory', 'sandbox_memory'),
    ...optional<'sandbox_cpus', string>('sandbox_cpus', 'sandbox_cpus'),
    ...optional<'sandbox_user', string>('sandbox_user', 'sandbox_user'),
    askedByProject: asked,
    dangerous: {
      classes: group<DangerAction>(values, 'dangerous.classes.') as Partial<Record<DangerClass, DangerAction>>,
      allowlist: list('dangerous.allowlist'),
      denylist: list('dangerous.denylist'),
      ...optional<'action', DangerAction>('action', 'dangerous.action'),
      non_interactive: must<NonInteractiveRule>('dangerous.non_interactive'),
      approver: must<'terminal' | 'store'>('dangerous.approver'),
      approval_timeout_seconds: must('dangerous.approval_timeout_seconds'),
    },
    limits: group<number>(values, 'limits.'),
    ...optional<'input_cost_per_million_usd', number>('input_cost_per_million_usd', 'input_cost_per_million_usd'),
    ...optional<'output_cost_per_million_usd', number>('output_cost_per_million_usd', 'output_cost_per_million_usd'),
    model_prices: records<ModelPrice>(values, 'model_prices'),
    tools: { ...optional<'enabled', readonly string[]>('enabled', 'tools.enabled'), disabled: list('tools.disabled') },
    adapters: list('adapters'),
    sinks: group<Readonly<Record<string, unknown>>>(values, 'sinks.'),
    verify: {
      enabled: must('verify.enabled'),
      mode: must<ResolvedConfig['verify']['mode']>('verify.mode'),
      ...optional<'model', string>('model', 'verify.model'),
      max_cycles: must('verify.max_cycles'),
      ...optional<'max_tokens', number>('max_tokens', 'verify.max_tokens'),
    },
    durability: must<ResolvedConfig['durability']>('durability'),
    network: { allow_hosts: list('network.allow_hosts'), ...optional<'proxy', string>('proxy', 'network.proxy') },
    web_search: {
      ...optional<'base_url', string>('base_url', 'web_search.base_url'),
      categories: must('web_search.categories'),
      language: must('web_search.language'),
      max_results: must('web_search.max_results'),
      timeout_seconds: must('web_search.timeout_seconds'),
    },
    skills: { dirs: list('skills.dirs') },
    schedules: schedulesOf(values),
    telegram: telegramOf(values),
    ...pluginsOf(values),
    mcp_servers: group<McpServerConfig>(values, 'mcp_servers.'),
    state,
    secrets,
    warnings,
  };
}

/** The entries of `providers`, in the order in which they were written. */
export function providersOf(values: ReadonlyMap<string, ConfigValue>): Readonly<Record<string, ProviderConfig>> {
  return records<ProviderConfig>(values, 'providers');
}

/** What stands directly under a prefix. */
function group<T>(values: ReadonlyMap<string, ConfigValue>, prefix: string): Readonly<Record<string, T>> {
  const found = [...values].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value as T]));
}

/** `<section>.<name>.<field>` as records by name. A name may hold dots, as model ids do; a field does not. */
function records<T>(values: ReadonlyMap<string, ConfigValue>, section: string): Readonly<Record<string, T>> {
  const fields = CONFIG_KEYS.filter((spec) => spec.key.startsWith(`${section}.<`)).map((spec) => spec.key.split('.').at(-1) ?? '');
  const byName = new Map<string, Record<string, ConfigValue>>();
  for (const [key, value] of values) {
    if (!key.startsWith(`${section}.`)) continue;
    const field = fields.find((name) => key.endsWith(`.${name}`)) ?? '';
    const name = key.slice(section.length + 1, -field.length - 1);
    byName.set(name, { ...byName.get(name), [field]: value });
  }
  return Object.fromEntries(byName) as Readonly<Record<string, T>>;
}

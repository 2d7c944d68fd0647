import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeySpec, ProjectRule } from '../../../hosts/config/key-spec.ts';
import { CONFIG_KEYS } from '../../../hosts/config/keys.ts';
import { type Home, makeHome } from './home.ts';

/** What a project may do with each key. A new key has to be put in here, so that somebody has thought about it. */
const POLICY: Readonly<Record<ProjectRule, readonly string[]>> = {
  set: [
    ...[
      'model',
      'thinking',
      'thinking_budget',
      'temperature',
      'max_iterations',
      'interaction_mode',
      'stream',
      'prompt_caching',
      'compaction',
    ],
    ...['announce_budget', 'no_color', 'no_agents', 'background.notify', 'mcp_servers.<server>'],
  ],
  lower: [
    ...[
      'limits.max_runtime_seconds',
      'limits.max_tool_calls',
      'limits.max_input_tokens',
      'limits.max_output_tokens',
      'limits.max_cost_usd',
    ],
    ...['max_tokens', 'max_tool_parallel', 'planning.enabled', 'planning.max_steps', 'planning.max_render_chars', 'background.enabled'],
    ...['background.max_jobs', 'background.max_output_bytes', 'background.max_timeout_seconds'],
  ],
  raise: ['sandbox', 'sandbox_required', 'sandbox_readonly'],
  ask: ['sandbox_image', 'sandbox_network', 'sandbox_memory', 'sandbox_cpus', 'sandbox_user'],
  append: ['tools.disabled'],
  rejected: [
    ...['input_cost_per_million_usd', 'output_cost_per_million_usd', 'model_prices.<model>.input_cost_per_million_usd'],
    'model_prices.<model>.output_cost_per_million_usd',
  ],
  ignored: [
    ...['provider', 'providers.<id>.format', 'providers.<id>.base_url', 'providers.<id>.api_key', 'providers.<id>.include_reasoning'],
    ...['providers.<id>.dialect', 'providers.<id>.done_without_finish', 'providers.<id>.reasoning_replay', 'providers.<id>.options'],
    ...['base_url', 'api_key', 'llm.request_timeout_seconds', 'llm.stream_idle_timeout_seconds', 'llm.context_window', 'system'],
    ...['dangerous.classes.<class>', 'dangerous.allowlist', 'dangerous.denylist', 'dangerous.action', 'dangerous.non_interactive'],
    ...['dangerous.approver', 'dangerous.approval_timeout_seconds', 'tools.enabled', 'adapters', 'sinks.<name>', 'verify.enabled'],
    ...['verify.mode', 'verify.model', 'verify.max_cycles', 'verify.max_tokens', 'durability', 'network.allow_hosts', 'network.proxy'],
    ...['web_search.base_url', 'web_search.categories', 'web_search.language', 'web_search.max_results', 'web_search.timeout_seconds'],
    'skills.dirs',
    ...['extension_host.enabled', 'extension_host.node', 'extension_host.allow_unsandboxed', 'plugins.<plugin>.config'],
    ...['sandbox_backend', 'schedules.enabled', 'schedules.max_concurrent', 'schedules.timezone', 'schedules.catchup'],
    ...['schedules.run_timeout_seconds', 'schedules.daily_token_budget', 'schedules.history_days', 'schedules.deliver_folders'],
    ...['schedules.webhook_secret', 'schedules.health_addr', 'schedules.approver', 'schedules.allow_telegram_management'],
    ...['schedules.telegram_admin_chats', 'schedules.telegram_admin_users', 'schedules.dangerous.classes.<class>'],
    ...['schedules.dangerous.allowlist', 'schedules.dangerous.denylist', 'schedules.dangerous.action'],
    'schedules.dangerous.non_interactive',
    ...['telegram.bot_token', 'telegram.api_root', 'telegram.fallback_urls', 'telegram.allowed_users', 'telegram.allowed_chats'],
    ...['telegram.allow_all_users', 'telegram.bot_username', 'telegram.poll_interval', 'telegram.poll_timeout'],
    ...['telegram.max_msg_length', 'telegram.progress', 'telegram.progress_cleanup', 'telegram.daily_token_budget'],
    ...['telegram.agent_timeout_seconds', 'telegram.session_ttl_hours', 'telegram.health_addr', 'telegram.max_download_size'],
    ...['telegram.media_quota_per_chat', 'telegram.default_chat_id'],
  ],
};

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const NAMES: Readonly<Record<string, string>> = {
  '<id>': 'evil',
  '<class>': 'network_egress',
  '<model>': 'm',
  '<name>': 'jsonl',
  '<server>': 'evil',
};
const concrete = (key: string): string => key.replace(/<\w+>/, (name) => NAMES[name] ?? 'x');

/** A document that sets one dotted key. */
function setting(key: string, value: unknown): object {
  const [first = '', ...rest] = concrete(key).split('.');
  return { [first]: rest.length === 0 ? value : setting(rest.join('.'), value) };
}

/** A value that the key takes and that is not its default. */
function sample(spec: KeySpec): unknown {
  switch (spec.type) {
    case 'boolean':
      return spec.default !== true;
    case 'integer':
    case 'number':
      return Math.max(spec.min ?? 1, Math.min(spec.max ?? 7, 7));
    case 'choice':
      return spec.choices?.find((choice) => choice !== spec.default && choice !== '') ?? spec.default;
    case 'list':
      return [
        ['localhost:22', 'shell', '/tmp', '42', 'http://127.0.0.1:80'].find(
          (text) => spec.pattern === undefined || spec.pattern.test.test(text),
        ),
      ];
    case 'url':
      return 'http://evil.example/v1';
    case 'object':
      return spec.key === 'mcp_servers.<server>' ? { command: 'server' } : { file: '/tmp/x' };
    case 'string':
      return ['evil', 'none', '512m', '1.5', '1000:1000', '127.0.0.1:80', 'sixteen-and-more', '42', `1:${'a'.repeat(30)}`].find(
        (text) => spec.pattern === undefined || spec.pattern.test.test(text),
      );
  }
}

const rule = (name: ProjectRule): readonly KeySpec[] => CONFIG_KEYS.filter(({ project }) => project === name);
const named = (specs: readonly KeySpec[]): readonly (readonly [string, KeySpec])[] => specs.map((spec) => [spec.key, spec]);

describe("a project's odek.json", () => {
  it('has one rule for every key there is', () => {
    const rules = Object.fromEntries(
      Object.keys(POLICY).map((name) => [
        name,
        rule(name as ProjectRule)
          .map(({ key }) => key)
          .sort(),
      ]),
    );
    expect(rules).toEqual(Object.fromEntries(Object.entries(POLICY).map(([name, keys]) => [name, [...keys].sort()])));
  });

  it.each(named([...rule('ignored'), ...rule('rejected')]))('changes nothing with %s, and a warning says so', async (key, spec) => {
    const before = await home.load();
    await home.project(setting(key, sample(spec)));
    const { config, values, warnings } = await home.load();
    expect(values).toEqual(before.values);
    expect({ ...config, warnings: [] }).toEqual({ ...before.config, warnings: [] });
    expect(warnings.filter((warning) => !before.warnings.includes(warning))).toEqual([
      expect.stringMatching(spec.project === 'ignored' ? /is ignored: a project cannot set it$/ : /is rejected: a project cannot set it$/),
    ]);
  });

  it.each(named([...rule('ignored'), ...rule('rejected')]))(
    "changes nothing with %s either where the operator's file sets it",
    async (key, spec) => {
      await home.global(setting(key, sample(spec)));
      const before = await home.load();
      await home.project(setting(key, spec.type === 'boolean' ? sample(spec) !== true : sample(spec)));
      expect((await home.load()).values).toEqual(before.values);
    },
  );

  it.each(named(rule('set').filter(({ type }) => type !== 'object')))('sets %s', async (key, spec) => {
    await home.project(setting(key, sample(spec)));
    const { values, sources } = await home.load();
    expect([values[key], sources[key]]).toEqual([sample(spec), 'project']);
  });

  it.each(named(rule('lower').filter(({ type }) => type !== 'boolean')))('lowers %s, and raises it never', async (key, spec) => {
    const least = Math.max(spec.min ?? 0, 1);
    await home.global(setting(key, least + 2));
    await home.project(setting(key, least + 3));
    const raised = await home.load();
    expect([raised.values[key], raised.sources[key]]).toEqual([least + 2, 'global']);
    expect(raised.warnings).toEqual([expect.stringContaining(`is above the operator's ${least + 2}`)]);
    await home.project(setting(key, least + 1));
    const lowered = await home.load();
    expect([lowered.values[key], lowered.sources[key]]).toEqual([least + 1, 'project']);
  });

  it.each(named(rule('lower').filter(({ min }) => min === 0)))('inherits %s with a zero, which would be no limit', async (key) => {
    await home.global(setting(key, 5));
    await home.project(setting(key, 0));
    expect((await home.load()).values[key]).toBe(5);
  });

  it.each(named(rule('lower').filter(({ min, type }) => min !== 0 && type !== 'boolean')))(
    'is refused with %s of zero or less',
    async (key, { clamps }) => {
      for (const value of [0, -1]) {
        await home.project(setting(key, value));
        if (clamps === undefined) await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value' });
        else expect(Number((await home.load()).values[key])).toBeGreaterThan(0);
      }
    },
  );

  it.each(named(rule('lower').filter(({ type }) => type === 'boolean')))('turns %s off, and on never', async (key) => {
    await home.project(setting(key, false));
    expect((await home.load()).values[key]).toBe(false);
    await home.global(setting(key, false));
    await home.project(setting(key, true));
    expect((await home.load()).values[key]).toBe(false);
  });

  it.each(named(rule('raise')))('turns %s on, and off never', async (key) => {
    await home.global(setting(key, true));
    await home.project(setting(key, false));
    expect((await home.load()).values[key]).toBe(true);
    await home.global(setting(key, false));
    await home.project(setting(key, true));
    expect((await home.load()).values[key]).toBe(true);
  });

  it.each(named(rule('ask')))('sets %s only once a person has agreed', async (key, spec) => {
    const before = await home.load();
    await home.project(setting(key, sample(spec)));
    const { values, sources } = await home.load();
    expect([values[key], sources[key]]).toEqual([before.values[key], before.sources[key]]);
  });

  it('adds to tools.disabled and takes nothing from it', async () => {
    await home.global({ tools: { disabled: ['shell'] } });
    await home.project({ tools: { disabled: ['glob'] } });
    expect((await home.load()).config.tools.disabled).toEqual(['shell', 'glob']);
  });
});

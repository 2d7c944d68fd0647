// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of configuration files hold such references.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../hosts/config/load.ts';
import { MAX_CONFIG_BYTES } from '../../../hosts/config/read-file.ts';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

describe('layers', () => {
  it('has the documented defaults where nobody says anything', async () => {
    const { config, sources, warnings } = await home.load();
    expect(config).toMatchObject({
      max_iterations: 90,
      max_tool_parallel: 4,
      stream: true,
      interaction_mode: 'engaging',
      temperature: 0,
      thinking: '',
      limits: {},
      durability: 'process',
      verify: { enabled: false, mode: 'hint', max_cycles: 1 },
      llm: { request_timeout_seconds: 300, stream_idle_timeout_seconds: 300, context_window: 0 },
      dangerous: { classes: {}, allowlist: [], denylist: [], non_interactive: 'read_only' },
      tools: { disabled: [] },
      providers: {},
    });
    expect(config).not.toHaveProperty('provider');
    expect(sources.max_iterations).toBe('default');
    expect(warnings).toEqual([]);
  });

  it('lets each layer win over the one before it and says which one won', async () => {
    const seen: unknown[] = [];
    const look = async (given: Parameters<Home['load']>[0] = {}): Promise<void> => {
      const { config, sources } = await home.load(given);
      seen.push([config.max_iterations, sources.max_iterations]);
    };
    await look();
    await home.secrets('ODEK_MAX_ITER=11\n');
    await look();
    await home.global({ max_iterations: 12 });
    await look();
    await home.project({ max_iterations: 13 });
    await look();
    await look({ env: { ODEK_MAX_ITER: '14' } });
    await look({ env: { ODEK_MAX_ITER: '14' }, flags: { 'max-iter': 15 } });
    expect(seen).toEqual([
      [90, 'default'],
      [11, 'secrets.env'],
      [12, 'global'],
      [13, 'project'],
      [14, 'env'],
      [15, 'flag'],
    ]);
  });

  it('inherits a key that a layer leaves out, sets to null, or sets to an empty variable', async () => {
    await home.global({ max_iterations: 7 });
    await home.project({ max_iterations: null });
    const { config } = await home.load({ env: { ODEK_MAX_ITER: '' } });
    expect(config.max_iterations).toBe(7);
  });

  it('takes the state folder from ODEK_HOME, and .odek in the home folder otherwise', async () => {
    const moved = await home.load();
    expect(moved.config.state.database).toBe(join(home.state, 'odek.db'));
    const usual = await loadConfig({ env: {}, cwd: home.cwd, flags: {}, home: home.root });
    expect(usual.config.state.configFile).toBe(join(home.root, '.odek', 'config.json'));
  });

  it('takes a switch from a flag that says no', async () => {
    await home.global({ stream: true });
    const { config } = await home.load({ flags: { stream: false } });
    expect(config.stream).toBe(false);
  });

  it('honours NO_COLOR, and ODEK_NO_COLOR before it', async () => {
    expect((await home.load({ env: { NO_COLOR: '1' } })).config.no_color).toBe(true);
    expect((await home.load({ env: { NO_COLOR: '' } })).config.no_color).toBe(false);
    expect((await home.load({ env: { NO_COLOR: '1', ODEK_NO_COLOR: 'false' } })).config.no_color).toBe(false);
  });

  it('reads lists from variables and lets every layer add to tools.disabled', async () => {
    await home.global({ tools: { disabled: ['shell'] } });
    await home.project({ tools: { disabled: ['patch', 'shell'] } });
    const { config } = await home.load({
      env: { ODEK_TOOLS_ENABLED: 'read_file, glob', ODEK_TOOLS_DISABLED: 'glob' },
      flags: { 'no-tool': ['write_file'] },
    });
    expect(config.tools).toEqual({ enabled: ['read_file', 'glob'], disabled: ['shell', 'patch', 'glob', 'write_file'] });
  });

  it('keeps model ids with dots apart in model_prices', async () => {
    await home.global({
      model_prices: { 'gpt-5.4': { input_cost_per_million_usd: 1, output_cost_per_million_usd: 2 }, m: { input_cost_per_million_usd: 3 } },
    });
    const { config, sources } = await home.load();
    expect(config.model_prices).toEqual({
      'gpt-5.4': { input_cost_per_million_usd: 1, output_cost_per_million_usd: 2 },
      m: { input_cost_per_million_usd: 3 },
    });
    expect(sources['model_prices.gpt-5.4.input_cost_per_million_usd']).toBe('global');
  });

  it('makes relative adapters start at the configuration file and leaves package names alone', async () => {
    await home.global({ adapters: ['./sink.mjs', 'odek-sink', '/opt/sink.mjs'] });
    expect((await home.load()).config.adapters).toEqual([join(home.state, 'sink.mjs'), 'odek-sink', '/opt/sink.mjs']);
  });
});

describe('files that cannot be used', () => {
  it("stops at an operator's file that is no JSON and names file, line and column", async () => {
    const path = await home.global('{\n  "model": "m",\n  "stream": yes\n}');
    await expect(home.load()).rejects.toMatchObject({ name: 'ConfigError', code: 'invalid_json' });
    await expect(home.load()).rejects.toThrow(`${path}:3:13: invalid JSON`);
  });

  it('only warns of it where the caller asked to see the rest', async () => {
    await home.global('{');
    const { config, warnings } = await home.load({ tolerant: true });
    expect(config.max_iterations).toBe(90);
    expect(warnings.join()).toContain('config.json:1:2');
  });

  it("ignores a project's file that is no JSON, with a warning that names line and column", async () => {
    const path = await home.project('{"max_iterations": 3,}');
    const { config, warnings } = await home.load();
    expect(config.max_iterations).toBe(90);
    expect(warnings).toEqual([expect.stringContaining(`${path}:1:22: invalid JSON`)]);
  });

  it('never shows more than one character of a broken file', async () => {
    await home.global('{"api_key": "sk-top-secret-value" "x"}');
    const error: Error = await home.load().catch((caught) => caught);
    expect(error.message).not.toContain('top-secret');
  });

  it('refuses a file above 5 MiB', async () => {
    await home.project(`{"model": "${'m'.repeat(MAX_CONFIG_BYTES)}"}`);
    expect((await home.load()).warnings.join()).toContain(`the limit is ${MAX_CONFIG_BYTES}`);
  });

  it('does not wait for ever at a named pipe, and says what is no file', async () => {
    await promisify(execFile)('mkfifo', [join(home.cwd, 'odek.json')]);
    expect((await home.load()).warnings.join()).toContain('no regular file');
    await mkdir(join(home.state, 'config.json'));
    await expect(home.load()).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('reads an empty file and one with a byte order mark', async () => {
    await home.project('');
    await home.global('\ufeff{"model": "m"}');
    expect((await home.load()).config.model).toBe('m');
  });

  it("warns when others may read the operator's file", async () => {
    await home.global({ model: 'm' }, 0o644);
    const { config, warnings } = await home.load();
    expect(config.model).toBe('m');
    expect(warnings).toEqual([expect.stringContaining('chmod 600')]);
  });
});

describe('values', () => {
  it('names key, value, limit and file of a value that is wrong', async () => {
    const path = await home.global({ max_iterations: 'many' });
    await expect(home.load()).rejects.toThrow(`max_iterations must be a whole number from 1 to 100000, not "many" (${path})`);
    await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value', value: 'many' });
  });

  it.each([
    [{ max_iterations: 0 }, 'max_iterations'],
    [{ max_iterations: 1.5 }, 'max_iterations'],
    [{ stream: 'yes' }, 'stream'],
    [{ temperature: 3 }, 'temperature'],
    [{ limits: { max_cost_usd: -1 } }, 'limits.max_cost_usd'],
    [{ limits: 5 }, 'limits'],
    [{ base_url: 'ftp://host/' }, 'base_url'],
    [{ base_url: 'http://host/?key=1' }, 'base_url'],
    [{ model: 'two words' }, 'model'],
    [{ tools: { enabled: 'shell' } }, 'tools.enabled'],
    [{ dangerous: { classes: { shell: 'deny' } } }, 'dangerous.classes'],
    [{ dangerous: { classes: { blocked: 'allow' } } }, 'dangerous.classes.blocked'],
    [{ dangerous: { action: 'maybe' } }, 'dangerous.action'],
    [{ network: { allow_hosts: ['localhost:70000'] } }, 'network.allow_hosts'],
    [{ network: { allow_hosts: ['localhost'] } }, 'network.allow_hosts'],
    [{ sinks: { jsonl: true } }, 'sinks.jsonl'],
    [{ providers: { '../x': { format: 'openai' } } }, 'providers'],
    [{ durability: 'none' }, 'durability'],
    [{ verify: { mode: 'loose' } }, 'verify.mode'],
    [{ verify: { max_cycles: 4 } }, 'verify.max_cycles'],
  ])('refuses %j', async (document, key) => {
    await home.global(document);
    const error: Error = await home.load().catch((caught) => caught);
    expect(error).toMatchObject({ name: 'ConfigError', code: 'invalid_value' });
    expect(error.message.startsWith(`${key} `)).toBe(true);
  });

  it('names the variable or the flag of a value that is wrong', async () => {
    await expect(home.load({ env: { ODEK_MAX_ITER: 'x' } })).rejects.toThrow('ODEK_MAX_ITER must be');
    await expect(home.load({ env: { ODEK_STREAM: 'maybe' } })).rejects.toThrow('ODEK_STREAM must be true or false');
    await expect(home.load({ flags: { 'max-iter': 0 } })).rejects.toThrow('--max-iter must be');
  });

  it('takes the other spellings of a thinking level', async () => {
    expect((await home.load({ env: { ODEK_THINKING: 'max' } })).config.thinking).toBe('high');
    expect((await home.load({ flags: { thinking: 'off' } })).config.thinking).toBe('disabled');
  });

  it('raises an idle timeout under its floor, with a warning', async () => {
    const { config, warnings } = await home.load({ env: { ODEK_STREAM_IDLE_TIMEOUT_SECONDS: '1' } });
    expect(config.llm.stream_idle_timeout_seconds).toBe(5);
    expect(warnings).toEqual([expect.stringContaining('5 counts')]);
  });

  it('turns an unknown non-interactive rule into deny, with a warning', async () => {
    await home.global({ dangerous: { non_interactive: 'sometimes' } });
    const { config, warnings } = await home.load();
    expect(config.dangerous.non_interactive).toBe('deny');
    expect(warnings).toEqual([expect.stringContaining('"deny" counts')]);
  });

  it('warns of an unknown key with the nearest known one, at every depth', async () => {
    await home.global({ max_iteratons: 5, limits: { max_tool_call: 3 }, zzzzzz: 1 });
    const { warnings } = await home.load();
    expect(warnings).toEqual([
      expect.stringContaining('unknown key max_iteratons is ignored; did you mean max_iterations?'),
      expect.stringContaining('unknown key limits.max_tool_call is ignored; did you mean limits.max_tool_calls?'),
      expect.stringMatching(/unknown key zzzzzz is ignored$/),
    ]);
  });

  it('tells a hundred warnings of one file and no more, in time that its keys alone do not make', async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]));
    await home.project(JSON.stringify({ ...many, model: 'm' }));
    const { config, warnings } = await home.load();
    expect(config.model).toBe('m');
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toContain('there are more such warnings');
  }, 20_000);

  it('ignores a file of a project that is nested too deeply to be walked through', async () => {
    await home.project(`{"mcp_servers":{"a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}}`);
    expect((await home.load()).warnings).toEqual([expect.stringMatching(/nested deeper than 200 levels; the file is ignored$/)]);
  });

  it('takes members that start with // for comments', async () => {
    await home.global({ '// model': 7, '//': 'text', limits: { '// max_tool_calls': 'x' } });
    expect((await home.load()).warnings).toEqual([]);
  });

  it('lets no file change what every object inherits', async () => {
    await home.global('{"__proto__": {"polluted": 1}, "model_prices": {"__proto__": {"input_cost_per_million_usd": 1}}}');
    const { config } = await home.load();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).input_cost_per_million_usd).toBeUndefined();
    expect(Object.keys(config.model_prices)).toEqual(['__proto__']);
  });
});

describe('variables in files', () => {
  it('puts in ${NAME} and $NAME, from the environment and then from secrets.env', async () => {
    await home.secrets('A=from-file\nB=from-file\n');
    await home.global({ model: '${A}-$B', system: 'costs $$5, $7 and ${C}' });
    const { config } = await home.load({ env: { A: 'from-env', C: 'c' } });
    expect(config.model).toBe('from-env-from-file');
    expect(config.system).toBe('costs $5, $7 and c');
  });

  it('reads a number or a switch out of a variable', async () => {
    await home.global({ max_iterations: '${N}', stream: '$S' });
    const { config } = await home.load({ env: { N: '5', S: 'false' } });
    expect([config.max_iterations, config.stream]).toEqual([5, false]);
  });

  it('warns of a variable that is not set and goes on to the next source of the key', async () => {
    await home.global({ provider: 'openai', api_key: '${NOT_SET}' });
    const { config, warnings } = await home.load({ env: { OPENAI_API_KEY: 'sk-own' } });
    expect(config.api_key).toBe('sk-own');
    expect(warnings).toEqual([expect.stringContaining('api_key names $NOT_SET, which is not set')]);
  });

  it('leaves commands as they are', async () => {
    await home.global({ dangerous: { allowlist: ['echo $HOME'] } });
    expect((await home.load({ env: { HOME: '/h' } })).config.dangerous.allowlist).toEqual(['echo $HOME']);
  });

  it('does not expand what was put in', async () => {
    await home.global({ system: '${A}' });
    expect((await home.load({ env: { A: '${B}', B: 'b' } })).config.system).toBe('${B}');
  });

  it("gives a project's file no secret", async () => {
    await home.secrets('PLAIN_NAME=from-secrets-file\n');
    await home.project({ model: 'a${AWS_SECRET_ACCESS_KEY}b${OPENAI_API_KEY}c${PLAIN_NAME}d${COLOUR}' });
    const { config, warnings } = await home.load({
      env: { AWS_SECRET_ACCESS_KEY: 'leak', OPENAI_API_KEY: 'leak', COLOUR: 'red' },
    });
    expect(config.model).toBe('abcdred');
    expect(warnings).toHaveLength(3);
  });
});

describe("a project's file", () => {
  it.each([
    ['provider', 'evil'],
    ['providers', { evil: { format: 'openai', base_url: 'http://evil.example' } }],
    ['llm', { request_timeout_seconds: 1 }],
    ['base_url', 'http://evil.example'],
    ['api_key', 'x'],
    ['system', 'be evil'],
    ['dangerous', { action: 'allow' }],
    ['adapters', ['./evil.mjs']],
    ['sinks', { jsonl: { file: '/tmp/x' } }],
    ['durability', 'power'],
    ['verify', { enabled: true, max_cycles: 3 }],
    ['network', { allow_hosts: ['localhost:22'] }],
    ['web_search', { base_url: 'http://evil.example', max_results: 50 }],
  ])('cannot set %s', async (key, value) => {
    const before = await home.load();
    await home.project({ [key]: value });
    const { config, warnings } = await home.load();
    expect({ ...config, warnings: [] }).toEqual({ ...before.config, warnings: [] });
    expect(warnings).toEqual([expect.stringContaining(`${key} is ignored: a project cannot set it`)]);
  });

  it('cannot set tools.enabled, and may add to tools.disabled', async () => {
    await home.project({ tools: { enabled: ['shell'], disabled: ['glob'] } });
    const { config, warnings } = await home.load();
    expect(config.tools).toEqual({ disabled: ['glob'] });
    expect(warnings).toEqual([expect.stringContaining('tools.enabled is ignored')]);
  });

  it('has its prices rejected, flat and per model', async () => {
    await home.project({
      input_cost_per_million_usd: 0,
      output_cost_per_million_usd: 0,
      model_prices: { m: { input_cost_per_million_usd: 0 } },
    });
    const { config, warnings } = await home.load();
    expect(config.input_cost_per_million_usd).toBeUndefined();
    expect(config.model_prices).toEqual({});
    expect(warnings).toHaveLength(3);
    for (const warning of warnings) expect(warning).toContain('is rejected');
  });

  it('may lower a limit, not raise it, and 0 inherits', async () => {
    await home.global({ limits: { max_tool_calls: 10, max_input_tokens: 100, max_cost_usd: 1 } });
    await home.project({ limits: { max_tool_calls: 50, max_input_tokens: 60, max_cost_usd: 0, max_runtime_seconds: 9 } });
    const { config, sources, warnings } = await home.load();
    expect(config.limits).toEqual({ max_tool_calls: 10, max_input_tokens: 60, max_cost_usd: 1, max_runtime_seconds: 9 });
    expect(sources['limits.max_tool_calls']).toBe('global');
    expect(sources['limits.max_input_tokens']).toBe('project');
    expect(warnings).toEqual([expect.stringContaining("limits.max_tool_calls 50 is above the operator's 10; 10 counts")]);
  });

  it('may limit what the operator left open, and lower the parallel calls', async () => {
    await home.global({ limits: { max_tool_calls: 0 } });
    await home.project({ limits: { max_tool_calls: 5 }, max_tool_parallel: 2, max_tokens: 100 });
    const { config } = await home.load();
    expect([config.limits.max_tool_calls, config.max_tool_parallel, config.max_tokens]).toEqual([5, 2, 100]);
    await home.project({ max_tool_parallel: 9 });
    expect((await home.load()).config.max_tool_parallel).toBe(4);
  });

  it('is overruled by a flag of the operator, also upwards', async () => {
    await home.project({ limits: { max_tool_calls: 5 } });
    expect((await home.load({ flags: { 'max-tool-calls': 50 } })).config.limits.max_tool_calls).toBe(50);
  });

  it('may set model, iterations, thinking, mode and stream', async () => {
    await home.project({ model: 'm', max_iterations: 500, thinking: 'low', interaction_mode: 'off', stream: false });
    expect((await home.load()).config).toMatchObject({
      model: 'm',
      max_iterations: 500,
      thinking: 'low',
      interaction_mode: 'off',
      stream: false,
    });
  });
});

describe('secrets', () => {
  it('are all named to the redactor: keys, secrets.env, passwords in addresses, secret variables', async () => {
    await home.secrets('MY_SERVICE=service-secret\nODEK_MODEL=some-model\n');
    await home.global({
      providers: { own: { format: 'openai', base_url: 'https://user:pass%20word@h.example/v1', api_key: 'own-key' } },
      api_key: 'top-key',
      sinks: { hook: { header: 'Bearer ${HOOK_TOKEN}' } },
    });
    const { config } = await home.load({ env: { KIMI_API_KEY: 'kimi-key', ODEK_API_KEY: 'odek-key', HOOK_TOKEN: 'hook-token' } });
    expect([...config.secrets].sort()).toEqual([
      'hook-token',
      'kimi-key',
      'odek-key',
      'own-key',
      'pass word',
      'pass%20word',
      'service-secret',
      'top-key',
    ]);
  });

  it('never show in an error about their own value', async () => {
    await home.global({ api_key: { secret: 'hunter22' } });
    const error: Error = await home.load().catch((caught) => caught);
    expect(error.message).toContain('(hidden)');
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain('hunter22');
  });

  it('show as their variable in an error about another value', async () => {
    await home.global({ model: '${LONG_NAME} x' });
    await expect(home.load({ env: { LONG_NAME: 'expanded-value' } })).rejects.toThrow(/not "\$\{LONG_NAME\} x"/);
  });

  it('are not read from a file that others may read', async () => {
    await home.secrets('OPENAI_API_KEY=sk-x\n', 0o640);
    const { config, warnings } = await home.load();
    expect(config.api_key).toBeUndefined();
    expect(config.secrets).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('chmod 600')]);
  });

  it('leave the environment once they are read, and are still known at the next reading', async () => {
    const env: Record<string, string | undefined> = { OPENAI_API_KEY: 'sk-1', ODEK_API_KEY: 'sk-0', OTHER: 'stays' };
    const first = await home.load({ env });
    expect(Object.keys(env).sort()).toEqual(['ODEK_HOME', 'OTHER']);
    const second = await home.load({ env });
    expect([first.config.api_key, second.config.api_key]).toEqual(['sk-0', 'sk-0']);
    expect(second.config.provider).toBe('openai');
  });

  it('are out of reach of a child process of the same environment', async () => {
    await writeFile(
      join(home.cwd, 'child.mjs'),
      `import { execFileSync } from 'node:child_process';
       const { loadConfig } = await import(process.argv[2]);
       await loadConfig({ env: process.env, cwd: process.cwd(), flags: {} });
       process.stdout.write(execFileSync(process.execPath, ['-p', 'String(process.env.OPENAI_API_KEY) + process.env.SEEN']));`,
    );
    const module = new URL('../../../hosts/config/load.ts', import.meta.url).href;
    const { stdout } = await promisify(execFile)(process.execPath, [join(home.cwd, 'child.mjs'), module], {
      cwd: home.cwd,
      env: { ODEK_HOME: home.state, OPENAI_API_KEY: 'sk-child', SEEN: 'yes' },
    });
    expect(stdout.trim()).toBe('undefinedyes');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from '../../../hosts/config/keys.ts';
import { type Home, makeHome } from '../config/home.ts';
import { odek, type Spoken } from './terminal.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const config = (args: string[] = [], env: Record<string, string> = {}): Promise<Spoken> =>
  odek(['config', ...args], { env: { ODEK_HOME: home.state, ...env }, cwd: home.cwd });

describe('odek config', () => {
  it('shows every key with its value and the layer that won', async () => {
    await home.global({ max_iterations: 12, limits: { max_tool_calls: 9 } });
    await home.project({ model: 'm', limits: { max_tool_calls: 5 } });
    const { code, out } = await config([], { ODEK_THINKING: 'low' });
    expect(code).toBe(0);
    const rows = new Map(
      out
        .split('\n')
        .map((line) => line.split(/ {2,}/))
        .map(([key, value, source]) => [key, [value, source]]),
    );
    expect(rows.get('max_iterations')).toEqual(['12', 'global']);
    expect(rows.get('model')).toEqual(['m', 'project']);
    expect(rows.get('thinking')).toEqual(['low', 'env']);
    expect(rows.get('limits.max_tool_calls')).toEqual(['5', 'project']);
    expect(rows.get('stream')).toEqual(['true', 'default']);
    expect(rows.get('system')).toEqual(['-', undefined]);
    for (const { key } of CONFIG_KEYS.filter((spec) => !spec.key.includes('<'))) expect(rows.has(key)).toBe(true);
  });

  it('prints the same as JSON', async () => {
    await home.global({ model_prices: { 'gpt-5.4': { input_cost_per_million_usd: 1 } } });
    const view = JSON.parse((await config(['--json'])).out);
    expect(view.max_iterations).toEqual({ value: 90, source: 'default' });
    expect(view['model_prices.gpt-5.4.input_cost_per_million_usd']).toEqual({ value: 1, source: 'global' });
    expect(view.system).toEqual({ source: 'default' });
  });

  it('hides every secret wherever it stands', async () => {
    await home.secrets('HOOK=hook-secret\n');
    await home.global({
      providers: { own: { format: 'openai', base_url: 'https://u:p4ssw0rd@h.example/v1', api_key: 'own-secret' } },
      api_key: 'top-secret',
      system: 'use own-secret here',
      sinks: { hook: { url: 'https://h.example/hook-secret', 'x-api-key': 'not-known-elsewhere', depth: 3 } },
    });
    for (const args of [[], ['--json']]) {
      const { out, err } = await config(args, { OPENAI_API_KEY: 'env-secret' });
      for (const secret of ['hook-secret', 'p4ssw0rd', 'own-secret', 'top-secret', 'not-known-elsewhere', 'env-secret']) {
        expect(out + err).not.toContain(secret);
      }
      expect(out).toContain('set (hidden)');
    }
    const view = JSON.parse((await config(['sinks', '--json'])).out);
    expect(view['sinks.hook'].value.depth).toBe(3);
  });

  it('shows one section or one key, and names the nearest of an unknown one', async () => {
    await home.global({ limits: { max_tool_calls: 3 } });
    expect(Object.keys(JSON.parse((await config(['limits', '--json'])).out))).toHaveLength(5);
    expect(Object.keys(JSON.parse((await config(['limits.max_tool_calls', '--json'])).out))).toEqual(['limits.max_tool_calls']);
    expect(JSON.parse((await config(['providers', '--json'])).out)).toEqual({});
    const wrong = await config(['limit']);
    expect(wrong.code).toBe(3);
    expect(wrong.err).toContain('did you mean limits?');
  });

  it('tells warnings on standard error, and still works beside a file that is no JSON', async () => {
    await home.global('{');
    await home.project({ dangerous: {} });
    const { code, err } = await config();
    expect(code).toBe(0);
    expect(err).toContain('config.json:1:2');
    expect(err).toContain('dangerous is ignored');
  });

  it('refuses a value that is wrong with exit code 3', async () => {
    await home.global({ max_iterations: -1 });
    const { code, err } = await config();
    expect(code).toBe(3);
    expect(err).toContain('max_iterations must be');
  });
});

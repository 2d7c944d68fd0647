import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { usageReport } from '../../../../hosts/cli/usage/report.ts';
import type { Usage } from '../../../../ports/message.ts';
import type { UsageTotal } from '../../../../ports/usage.ts';
import { movableClock, open } from '../../../adapters/store/fixture.ts';
import { odek } from '../terminal.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'odek-usage-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Call {
  readonly daysAgo: number;
  readonly model: string;
  readonly surface?: string;
  readonly purpose?: 'main' | 'side';
  readonly usage?: Partial<Usage>;
  readonly cost?: number;
}

const NOON = new Date().setHours(12, 0, 0, 0);

async function book(...calls: readonly Call[]): Promise<void> {
  for (const [at, { daysAgo, model, surface = 'run', purpose = 'main', usage, cost }] of calls.entries()) {
    const now = new Date(NOON).setDate(new Date(NOON).getDate() - daysAgo);
    const store = await open(join(home, 'odek.db'), { surface, clock: { ...movableClock(), now: () => now } });
    const facts = { title: 't', provider: 'acme', model, workspace: '/', listed: false, externalRefs: [] };
    const writer = await store.sessions.create({ id: `s${daysAgo}-${at}-${model.length}`, ...facts });
    const record = { kind: 'usage', run: 'r', provider: 'acme', model, purpose } as const;
    await writer.append([
      { ...record, usage: { input: 1_000, output: 500, estimated: false, ...usage }, ...(cost !== undefined && { costMicroUsd: cost }) },
    ]);
    await writer.close({ discard: true });
    await store.close();
  }
}

const say = (...args: string[]) => odek(['usage', ...args], { env: { ODEK_HOME: home }, cwd: home, columns: 80 });
const dayBefore = (days: number): string => {
  const date = new Date(new Date(NOON).setDate(new Date(NOON).getDate() - days));
  return [date.getFullYear(), String(date.getMonth() + 1).padStart(2, '0'), String(date.getDate()).padStart(2, '0')].join('-');
};

describe('odek usage', () => {
  it('prints a table and charts of what all runs used', async () => {
    await book(
      { daysAgo: 1, model: 'big', usage: { cache_read: 8_500, input: 1_000 }, cost: 12_345 },
      { daysAgo: 0, model: 'big', cost: 5_000, usage: { cache_read: 0 } },
      { daysAgo: 0, model: 'small', purpose: 'side', surface: 'repl', usage: { estimated: true } },
    );
    const { code, out, err } = await say();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')).toEqual([
      'Provider  Model  Use   Calls      In    Out   Cached                Cost',
      'acme      big    main      2   10.5k   1.0k     8.5k             $0.0173',
      'acme      small  side      1   ~1.0k   ~500  unknown             unknown',
      'Total                      3  ~11.5k  ~1.5k     8.5k  ~$0.0173 + unknown',
      '',
      'Tokens by day',
      expect.stringMatching(new RegExp(`^${dayBefore(1)}  █{2,} {2,}10\\.0k {2}\\$0\\.0123$`)),
      expect.stringMatching(new RegExp(`^${dayBefore(0)}  █+.? +~3\\.0k {2}\\$0\\.0050 \\+ unknown$`)),
      '',
      'Tokens by model',
      expect.stringMatching(/^big {4}█+ +11\.5k {2}\$0\.0173$/),
      expect.stringMatching(/^small {2}█+.? +~1\.5k {2}unknown$/),
      '',
      'Tokens by surface',
      expect.stringMatching(/^run {3}█+ +11\.5k {2}\$0\.0173$/),
      expect.stringMatching(/^repl {2}█+.? +~1\.5k {2}unknown$/),
      '',
      '~ 1 of 3 calls were not measured by the provider; odek estimated them.',
      'unknown: no price is configured for the model; see model_prices.',
      '',
    ]);
  });

  it('counts from a date or an age on', async () => {
    await book({ daysAgo: 40, model: 'a' }, { daysAgo: 8, model: 'b' }, { daysAgo: 0, model: 'c' });
    const models = async (...args: string[]): Promise<string[]> =>
      (JSON.parse((await say('--json', ...args)).out) as { models: { model: string }[] }).models.map(({ model }) => model);
    expect(await models()).toEqual(['b', 'c']);
    expect(await models('--since', '7d')).toEqual(['c']);
    expect(await models('--since', dayBefore(8))).toEqual(['b', 'c']);
    expect(await models('--since', 'all')).toEqual(['a', 'b', 'c']);
  });

  it('prints JSON in which what is unknown is null', async () => {
    await book({ daysAgo: 0, model: 'm' }, { daysAgo: 0, model: 'n', cost: 1_500_000, usage: { cache_read: 0, cache_write: 4 } });
    const figures = JSON.parse((await say('--json')).out);
    expect(Object.keys(figures)).toEqual(['since', 'calls', 'days', 'models', 'surfaces', 'total']);
    expect(figures.models).toEqual([
      { model: 'm', calls: 1, input: 1_000, output: 500, estimated: 0, unpriced: 1, cache_read: null, cache_write: null, cost_usd: null },
      { model: 'n', calls: 1, input: 1_000, output: 500, estimated: 0, unpriced: 0, cache_read: 0, cache_write: 4, cost_usd: 1.5 },
    ]);
  });

  it('says so where there was no call', async () => {
    expect(await say()).toMatchObject({ code: 0, out: 'No model calls in this time.\n' });
  });

  it('names what is wrong with a time', async () => {
    expect(await say('--since', 'monday')).toMatchObject({ code: 3, err: expect.stringContaining('got "monday"') });
  });
});

describe('the report', () => {
  const total = (changes: Partial<UsageTotal>): UsageTotal => ({ calls: 1, input: 1, output: 1, estimated: 0, unpriced: 1, ...changes });

  it('keeps its lines within the terminal, and a name from steering it', () => {
    const model = `evil\u001b[2J${'x'.repeat(200)}`;
    const calls = [total({ provider: 'p', model, purpose: 'main', input: 123_456_789 })];
    const days = Array.from({ length: 400 }, (_, at) => total({ day: `2026-${at}`, input: at * 1_000 }));
    const lines = usageReport({ calls, days, models: [total({ model })], surfaces: [total({ surface: 'run' })], total: [total({})] }, 100);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines).toContain('(369 more not shown)');
  });

  it('draws a bar for every call, however small', () => {
    const days = [total({ day: 'a', input: 1_000_000_000 }), total({ day: 'b' })];
    const lines = usageReport({ calls: [], days, models: days, surfaces: days, total: days.slice(0, 1) }, 80);
    expect(lines.find((line) => line.startsWith('b '))).toMatch(/^b {2}▏ /);
  });
});

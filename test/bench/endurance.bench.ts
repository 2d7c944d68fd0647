/** Long runs under a window that they outgrow: what an iteration costs, and the memory, must not depend on how long it has been going on. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { odekArgs } from './loop.ts';
import { type Bench, type Cost, cleanEnv, METER, type ModelServer, median, readMeter, runNode } from './processes.ts';
import type { Row } from './table.ts';

const START = 1;
const LENGTHS = [50, 200, 800] as const;
/** Tokens. With the pages of the benchmarks the first trim comes at the thirtieth iteration. */
const WINDOW = 38_000;
const FIRST_TRIM = { from: 25, to: 35 } as const;
const LIMIT = 1.2;

interface Trimmed {
  readonly type: string;
  readonly iteration?: number;
}

async function firstTrim(eventFile: string): Promise<number> {
  const lines = (await readFile(eventFile, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Trimmed).find(({ type }) => type === 'context_trimmed')?.iteration ?? Number.NaN;
}

async function run(bench: Bench, model: ModelServer, iterations: number, flags: readonly string[] = []): Promise<Cost> {
  await model.script(iterations);
  const home = await bench.freshHome();
  await writeFile(join(home, 'config.json'), JSON.stringify({ llm: { context_window: WINDOW } }));
  const meter = join(home, `meter-${randomUUID()}.json`);
  const ended = await runNode(['--import', METER, ...odekArgs(bench, model, ['--interaction-mode', 'off', ...flags])], {
    cwd: bench.workspace,
    env: cleanEnv({ ODEK_HOME: home, ODEK_API_KEY: 'bench', BENCH_METER: meter }),
  });
  if (ended.code !== 0) throw new Error(`odek failed with ${ended.code}: ${ended.stderr}`);
  const result = JSON.parse(ended.stdout) as { readonly iterations: number; readonly outcome: string };
  if (result.iterations !== iterations || result.outcome !== 'answer') throw new Error(`odek ended otherwise than asked: ${ended.stdout}`);
  return readMeter(meter);
}

/** The window must be one that the runs outgrow when they are said to. */
async function checkWindow(bench: Bench, model: ModelServer): Promise<void> {
  const file = join(await bench.freshHome(), 'events.jsonl');
  await run(bench, model, LENGTHS[0], ['--events-jsonl', file]);
  const first = await firstTrim(file);
  if (first >= FIRST_TRIM.from && first <= FIRST_TRIM.to) return;
  throw new Error(`the first trim came at iteration ${first}; it has to come from ${FIRST_TRIM.from} to ${FIRST_TRIM.to}`);
}

export async function measureEndurance(bench: Bench, model: ModelServer, rounds: number): Promise<Row[]> {
  await checkWindow(bench, model);
  const seen = new Map<number, Cost[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const length of [START, ...LENGTHS]) seen.set(length, [...(seen.get(length) ?? []), await run(bench, model, length)]);
  }
  const middle = (length: number, of: (cost: Cost) => number): number => median((seen.get(length) ?? []).map(of));
  const cpu = (length: number): number => middle(length, ({ cpuMs }) => cpuMs);
  const perIteration = (length: number): number => (cpu(length) - cpu(START)) / (length - START);
  const memory = (length: number): number => middle(length, ({ maxRssKb }) => maxRssKb) / 1024;
  const [short, ...longer] = LENGTHS;
  return longer.flatMap((length): Row[] => [
    {
      what: `CPU per iteration over ${length} iterations, trimmed from the thirtieth on, against ${short}`,
      odek: `${perIteration(length).toFixed(2)} ms`,
      bare: `${perIteration(short).toFixed(2)} ms`,
      ratio: perIteration(length) / perIteration(short),
      limit: LIMIT,
    },
    {
      what: `peak memory of those ${length} iterations, against ${short}`,
      odek: `${memory(length).toFixed(2)} MiB`,
      bare: `${memory(short).toFixed(2)} MiB`,
      ratio: memory(length) / memory(short),
      limit: LIMIT,
    },
  ]);
}

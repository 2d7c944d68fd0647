/** Long runs under a window that they outgrow: neither what an iteration costs nor what is kept may depend on how long the run has been going on. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { odekArgs } from './loop.ts';
import { type Bench, type Cost, cleanEnv, type ModelServer, median, runNode } from './processes.ts';
import type { Row } from './table.ts';

const START = 1;
const LENGTHS = [50, 200, 800] as const;
/** Tokens. With the pages of the benchmarks the first trim comes at the thirtieth iteration. */
const WINDOW = 38_000;
const FIRST_TRIM = { from: 25, to: 35 } as const;
const LIMIT = 1.2;
/** Flat but for the heap's first growth, which 50 iterations do not reach. */
const PEAK_LIMIT = 1.3;

interface LongCost extends Cost {
  /** Bytes in use once everything that nobody holds was collected. */
  readonly alive: number;
}

/** Loaded before odek: writes what the process cost when it exits, then what of its memory is alive. */
const METER = `data:text/javascript,${encodeURIComponent(
  `import{writeFileSync}from'node:fs';process.on('exit',()=>{const c=process.cpuUsage(),maxRssKb=process.resourceUsage().maxRSS;gc();gc();const m=process.memoryUsage();writeFileSync(process.env.BENCH_METER,JSON.stringify({cpuMs:(c.user+c.system)/1000,maxRssKb,alive:m.heapUsed+m.external}))})`,
)}`;

interface Trimmed {
  readonly type: string;
  readonly iteration?: number;
}

async function firstTrim(eventFile: string): Promise<number> {
  const lines = (await readFile(eventFile, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Trimmed).find(({ type }) => type === 'context_trimmed')?.iteration ?? Number.NaN;
}

async function run(bench: Bench, model: ModelServer, iterations: number, flags: readonly string[] = []): Promise<LongCost> {
  await model.script(iterations);
  const home = await bench.freshHome();
  await writeFile(join(home, 'config.json'), JSON.stringify({ llm: { context_window: WINDOW } }));
  const meter = join(home, `meter-${randomUUID()}.json`);
  const ended = await runNode(['--expose-gc', '--import', METER, ...odekArgs(bench, model, ['--interaction-mode', 'off', ...flags])], {
    cwd: bench.workspace,
    env: cleanEnv({ ODEK_HOME: home, ODEK_API_KEY: 'bench', BENCH_METER: meter }),
  });
  if (ended.code !== 0) throw new Error(`odek failed with ${ended.code}: ${ended.stderr}`);
  const result = JSON.parse(ended.stdout) as { readonly iterations: number; readonly outcome: string };
  if (result.iterations !== iterations || result.outcome !== 'answer') throw new Error(`odek ended otherwise than asked: ${ended.stdout}`);
  return JSON.parse(await readFile(meter, 'utf8')) as LongCost;
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
  const seen = new Map<number, LongCost[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const length of [START, ...LENGTHS]) seen.set(length, [...(seen.get(length) ?? []), await run(bench, model, length)]);
  }
  const middle = (length: number, of: (cost: LongCost) => number): number => median((seen.get(length) ?? []).map(of));
  const cpu = (length: number): number => middle(length, ({ cpuMs }) => cpuMs);
  const perIteration = (length: number): number => (cpu(length) - cpu(START)) / (length - START);
  const alive = (length: number): number => middle(length, (cost) => cost.alive) / 1024 ** 2;
  const peak = (length: number): number => middle(length, ({ maxRssKb }) => maxRssKb) / 1024;
  const [short, ...longer] = LENGTHS;
  const against = (what: string, length: number, of: (length: number) => number, unit: string): Row => {
    return { what, odek: `${of(length).toFixed(2)} ${unit}`, bare: `${of(short).toFixed(2)} ${unit}`, ratio: of(length) / of(short) };
  };
  return longer.flatMap((length) => [
    {
      ...against(`CPU per iteration, ${length} trimmed from the thirtieth on, against ${short}`, length, perIteration, 'ms'),
      limit: LIMIT,
    },
    { ...against(`memory alive after those ${length} iterations, against ${short}`, length, alive, 'MiB'), limit: LIMIT },
    { ...against(`peak memory of the process in those ${length} iterations, against ${short}`, length, peak, 'MiB'), limit: PEAK_LIMIT },
  ]);
}

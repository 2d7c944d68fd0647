/** What an iteration costs beside the bare loop, how that grows, and the memory at the end. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bench, type Cost, cleanEnv, METER, type ModelServer, median, readMeter, runNode } from './processes.ts';
import type { Row } from './table.ts';

const BARE = fileURLToPath(new URL('bare-loop.ts', import.meta.url));

async function runBare(bench: Bench, model: ModelServer, iterations: number): Promise<Cost> {
  await model.script(iterations);
  const ended = await runNode([BARE, model.baseUrl, bench.workspace]);
  if (ended.code !== 0) throw new Error(`the bare loop failed: ${ended.stderr}`);
  const report = JSON.parse(ended.stdout) as { readonly cpu_ms: number; readonly rss_kb: number; readonly iterations: number };
  if (report.iterations !== iterations) throw new Error(`the bare loop made ${report.iterations} iterations, not ${iterations}`);
  return { cpuMs: report.cpu_ms, maxRssKb: report.rss_kb };
}

/** Arguments of a run against the model of the benchmarks. */
export function odekArgs(bench: Bench, model: ModelServer): string[] {
  const flags = ['--base-url', model.baseUrl, '--model', 'bench', '--max-iter', '1000', '--json'];
  return [bench.program, 'run', ...flags, 'Go on until you are done.'];
}

async function runOdek(bench: Bench, model: ModelServer, iterations: number): Promise<Cost> {
  await model.script(iterations);
  const home = await bench.freshHome();
  const meter = join(home, `meter-${randomUUID()}.json`);
  const ended = await runNode(['--import', METER, ...odekArgs(bench, model)], {
    cwd: bench.workspace,
    env: cleanEnv({ ODEK_HOME: home, ODEK_API_KEY: 'bench', BENCH_METER: meter }),
  });
  if (ended.code !== 0) throw new Error(`odek failed with ${ended.code}: ${ended.stderr}`);
  const result = JSON.parse(ended.stdout) as { readonly iterations: number; readonly outcome: string };
  if (result.iterations !== iterations || result.outcome !== 'answer') throw new Error(`odek ended otherwise than asked: ${ended.stdout}`);
  return readMeter(meter);
}

type Run = (bench: Bench, model: ModelServer, iterations: number) => Promise<Cost>;

/** Medians of `rounds` runs of each program at each length, taken in turns so that a slow moment hits both. */
async function measure(
  bench: Bench,
  model: ModelServer,
  lengths: readonly number[],
  rounds: number,
): Promise<Record<'bare' | 'odek', Map<number, Cost>>> {
  const programs = { bare: runBare, odek: runOdek } satisfies Record<string, Run>;
  const seen = { bare: new Map<number, Cost[]>(), odek: new Map<number, Cost[]>() };
  for (let round = 0; round < rounds; round += 1) {
    for (const length of lengths) {
      for (const name of ['bare', 'odek'] as const) {
        const costs = seen[name].get(length) ?? [];
        costs.push(await programs[name](bench, model, length));
        seen[name].set(length, costs);
      }
    }
  }
  const summary = (costs: Map<number, Cost[]>): Map<number, Cost> =>
    new Map(
      [...costs].map(([length, all]) => [
        length,
        { cpuMs: median(all.map((each) => each.cpuMs)), maxRssKb: median(all.map((each) => each.maxRssKb)) },
      ]),
    );
  return { bare: summary(seen.bare), odek: summary(seen.odek) };
}

const START = 1;
const SHORT = 200;
const LONG = 800;

export async function measureLoop(bench: Bench, model: ModelServer, rounds: number): Promise<Row[]> {
  const { bare, odek } = await measure(bench, model, [START, SHORT, LONG], rounds);
  const cpu = (costs: Map<number, Cost>, length: number): number => costs.get(length)?.cpuMs ?? Number.NaN;
  const net = (costs: Map<number, Cost>, length: number): number => cpu(costs, length) - cpu(costs, START);
  const perIteration = (costs: Map<number, Cost>): number => net(costs, SHORT) / (SHORT - START);
  const growth = (costs: Map<number, Cost>): number => net(costs, LONG) / net(costs, SHORT);
  const memory = (costs: Map<number, Cost>): number => (costs.get(LONG)?.maxRssKb ?? Number.NaN) / 1024;
  const figure = (value: number, unit: string): string => `${value.toFixed(2)} ${unit}`;
  return [
    {
      what: `CPU per iteration over ${SHORT} tool iterations, net of start-up`,
      odek: figure(perIteration(odek), 'ms'),
      bare: figure(perIteration(bare), 'ms'),
      ratio: perIteration(odek) / perIteration(bare),
      limit: 1.5,
    },
    {
      what: `growth of that CPU from ${SHORT} to ${LONG} iterations`,
      odek: figure(growth(odek), 'times'),
      bare: figure(growth(bare), 'times'),
      ratio: growth(odek) / growth(bare),
      limit: 1.1,
    },
    {
      what: `peak memory at ${LONG} iterations`,
      odek: figure(memory(odek), 'MiB'),
      bare: figure(memory(bare), 'MiB'),
      ratio: memory(odek) / memory(bare),
      limit: 1.5,
    },
  ];
}

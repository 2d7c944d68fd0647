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
export function odekArgs(bench: Bench, model: ModelServer, flags: readonly string[] = []): string[] {
  const fixed = ['--base-url', model.baseUrl, '--model', 'bench', '--max-iter', '1000', '--json'];
  return [bench.program, 'run', ...fixed, ...flags, 'Go on until you are done.'];
}

/** The bare loop shows nothing, so neither does odek where the two are compared. */
const SILENT = ['--interaction-mode', 'off'];

const runSilent: Run = (bench, model, iterations) => runOdek(bench, model, iterations, SILENT);
const runShown: Run = (bench, model, iterations) => runOdek(bench, model, iterations, []);

async function runOdek(bench: Bench, model: ModelServer, iterations: number, flags: readonly string[]): Promise<Cost> {
  await model.script(iterations);
  const home = await bench.freshHome();
  const meter = join(home, `meter-${randomUUID()}.json`);
  const ended = await runNode(['--import', METER, ...odekArgs(bench, model, flags)], {
    cwd: bench.workspace,
    env: cleanEnv({ ODEK_HOME: home, ODEK_API_KEY: 'bench', BENCH_METER: meter }),
  });
  if (ended.code !== 0) throw new Error(`odek failed with ${ended.code}: ${ended.stderr}`);
  const result = JSON.parse(ended.stdout) as { readonly iterations: number; readonly outcome: string };
  if (result.iterations !== iterations || result.outcome !== 'answer') throw new Error(`odek ended otherwise than asked: ${ended.stdout}`);
  return readMeter(meter);
}

type Run = (bench: Bench, model: ModelServer, iterations: number) => Promise<Cost>;

const PROGRAMS = { bare: runBare, odek: runSilent, shown: runShown } satisfies Record<string, Run>;
type Program = keyof typeof PROGRAMS;
type Costs = ReadonlyMap<number, Cost>;

/** Medians of `rounds` runs of each program at each length, taken in turns so that a slow moment hits all. */
async function measure(
  bench: Bench,
  model: ModelServer,
  plan: Readonly<Record<Program, readonly number[]>>,
  rounds: number,
): Promise<Record<Program, Costs>> {
  const names = Object.keys(PROGRAMS) as Program[];
  const seen: Record<Program, Map<number, Cost[]>> = { bare: new Map(), odek: new Map(), shown: new Map() };
  for (let round = 0; round < rounds; round += 1) {
    for (const length of [START, SHORT, LONG]) {
      for (const name of names.filter((each) => plan[each].includes(length))) {
        seen[name].set(length, [...(seen[name].get(length) ?? []), await PROGRAMS[name](bench, model, length)]);
      }
    }
  }
  const summary = (costs: ReadonlyMap<number, readonly Cost[]>): Costs =>
    new Map(
      [...costs].map(([length, all]) => [
        length,
        { cpuMs: median(all.map((each) => each.cpuMs)), maxRssKb: median(all.map((each) => each.maxRssKb)) },
      ]),
    );
  return { bare: summary(seen.bare), odek: summary(seen.odek), shown: summary(seen.shown) };
}

/** One tool call and the answer: what is needed once, such as the first look at a schema, belongs to the start. */
const START = 2;
const SHORT = 200;
const LONG = 800;

export async function measureLoop(bench: Bench, model: ModelServer, rounds: number): Promise<Row[]> {
  const { bare, odek, shown } = await measure(
    bench,
    model,
    { bare: [START, SHORT, LONG], odek: [START, SHORT, LONG], shown: [START, SHORT] },
    rounds,
  );
  const cpu = (costs: Costs, length: number): number => costs.get(length)?.cpuMs ?? Number.NaN;
  const net = (costs: Costs, length: number): number => cpu(costs, length) - cpu(costs, START);
  const perIteration = (costs: Costs): number => net(costs, SHORT) / (SHORT - START);
  const growth = (costs: Costs): number => net(costs, LONG) / net(costs, SHORT);
  const memory = (costs: Costs): number => (costs.get(LONG)?.maxRssKb ?? Number.NaN) / 1024;
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
      what: 'the same with the live view going into a pipe',
      odek: figure(perIteration(shown), 'ms'),
      bare: figure(perIteration(bare), 'ms'),
      ratio: perIteration(shown) / perIteration(bare),
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

/** What the process of plugins costs: its start, a call, a large result, its memory. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createExtensionHostLauncher } from '../../adapters/extension-host/index.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import type { ExtensionHost } from '../../ports/extension-host.ts';
import { type Bench, median, runNode } from './processes.ts';
import type { Row } from './table.ts';

const CALLS = 300;
const LARGE_CALLS = 15;
const MIB = 1024 * 1024;
/** A result twice as long may take so many times as long: copying all of it for each piece would be four. */
const LINEAR = 3;
const PLUGIN = `export const inject = ['tools'];
export const apply = (ctx) => ctx.tools.register({ name: 'echo_tool', description: 'Gives text of a length.',
  parameters: { type: 'object' }, execute: ({ length }) => 'x'.repeat(length) });`;

interface Started {
  readonly host: ExtensionHost;
  call(length: number): Promise<number>;
}

async function start(folder: string, program: string): Promise<Started> {
  const root = join(folder, 'snapshot');
  const data = join(folder, 'data');
  for (const each of [root, data]) mkdirSync(each, { recursive: true });
  writeFileSync(join(root, 'main.mjs'), PLUGIN);
  const sha256 = createHash('sha256').update(PLUGIN).digest('hex');
  let handle = '';
  const launcher = createExtensionHostLauncher({ program, stateDir: join(folder, 'state'), workspace: folder, environment: process.env });
  const listener = {
    request: async () => {
      handle = `h-${createRandomIds().hex(8)}`;
      return { handle };
    },
    notice: () => {},
  };
  const never = new AbortController().signal;
  const host = await launcher.start({ name: 'bench', readable: [root], writable: [data] }, listener, never);
  await host.activate(
    {
      owner: { plugin_id: 'bench', generation: 1, owner_token: createRandomIds().hex(16) },
      ...{ plugin_name: 'bench', root, config: {}, data_dir: data, services: [] },
      entries: [{ path: 'main.mjs', sha256 }],
      files: { 'main.mjs': sha256 },
    },
    never,
  );
  const call = async (length: number): Promise<number> => {
    const startedAt = performance.now();
    const params = { handle, call_id: 'c', input: { length } };
    const { content } = await host.call({ method: 'tool/call', deadlineMs: 60_000, params }, never).result;
    if (content.length !== length) throw new Error(`the tool gave ${content.length} characters, not ${length}`);
    return performance.now() - startedAt;
  };
  return { host, call };
}

/** Resident memory of a process and all that it started, in MiB. */
function residentMib(pid: number): number {
  const parents = new Map<number, number>();
  const resident = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
      resident.set(Number(name), Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It ended meanwhile.
    }
  }
  const isWithin = (each: number | undefined): boolean => each !== undefined && each > 1 && (each === pid || isWithin(parents.get(each)));
  return [...resident].filter(([each]) => isWithin(each)).reduce((sum, [, mib]) => sum + mib, 0);
}

export async function measurePlugins({ program }: Pick<Bench, 'program'>, rounds: number): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'odek-bench-plugins-'));
  const file = join(dirname(program), 'extension-host.mjs');
  const cold: number[] = [];
  const bare: number[] = [];
  const trips: number[] = [];
  const one: number[] = [];
  const two: number[] = [];
  const memory: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const nodeAt = performance.now();
      await runNode(['-e', '0']);
      bare.push(performance.now() - nodeAt);
      const startedAt = performance.now();
      const { host, call } = await start(folder, file);
      await call(1);
      cold.push(performance.now() - startedAt);
      for (let n = 0; n < CALLS; n += 1) trips.push(await call(1));
      for (let n = 0; n < LARGE_CALLS; n += 1) one.push(await call(MIB));
      for (let n = 0; n < LARGE_CALLS; n += 1) two.push(await call(2 * MIB));
      memory.push(residentMib(host.report().pid));
      await host.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const ms = (values: readonly number[]): string => `${median(values).toFixed(2)} ms`;
  return [
    { what: 'plugin host: from nothing to the first result of a tool', odek: ms(cold), bare: ms(bare), ratio: median(cold) / median(bare) },
    { what: 'plugin host: round trip of a tool call', odek: ms(trips), bare: '–' },
    {
      what: 'plugin host: a result of 2 MiB against one of 1 MiB',
      odek: ms(two),
      bare: ms(one),
      ratio: median(two) / median(one),
      limit: LINEAR,
    },
    { what: 'plugin host: resident memory after results of 2 MiB', odek: `${median(memory).toFixed(0)} MiB`, bare: '–' },
  ];
}

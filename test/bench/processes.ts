/** Whole processes and what they cost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');

/** Milliseconds one measured process may take. */
const PROCESS_TIMEOUT_MS = 300_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Milliseconds since the epoch, just before the start. */
  readonly startedAt: number;
  readonly wallMs: number;
}

/** A small environment: no odek setting, no key, and no `NODE_EXTRA_CA_CERTS`, which alone costs 50 ms at start. */
export function cleanEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: tmpdir(), LANG: 'C.UTF-8', NO_COLOR: '1', ...extra };
}

export function runNode(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Ended> {
  return new Promise((done, fail) => {
    const startedAt = performance.timeOrigin + performance.now();
    const child = spawn(process.execPath, args, {
      cwd: options.cwd ?? ROOT,
      env: options.env ?? cleanEnv(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PROCESS_TIMEOUT_MS,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-20_000);
    });
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout, stderr, startedAt, wallMs: performance.timeOrigin + performance.now() - startedAt }));
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export interface ModelServer {
  readonly baseUrl: string;
  script(iterations: number): Promise<void>;
  seen(): Promise<{ readonly requests: number; readonly firstByteAt: number; readonly firstRequestBytes: number }>;
  stop(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const child = spawn(process.execPath, [join(HERE, 'model-server.ts')], { stdio: ['pipe', 'pipe', 'inherit'], env: cleanEnv() });
  const baseUrl = await new Promise<string>((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done);
    child.once('exit', (code) => fail(new Error(`the model server ended with ${code}`)));
  });
  const origin = new URL(baseUrl).origin;
  return {
    baseUrl,
    script: async (iterations) => {
      await fetch(`${origin}/script?iterations=${iterations}`, { method: 'POST' });
    },
    seen: async () => (await (await fetch(`${origin}/seen`)).json()) as Awaited<ReturnType<ModelServer['seen']>>,
    stop: () => endChild(child),
  };
}

function endChild(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.removeAllListeners('exit');
    child.once('exit', () => done());
    child.stdin?.end();
  });
}

/** A built odek, a folder with ten files of 2 kB to work in, and a state folder for each run. */
export interface Bench {
  /** Absolute path of the built program. */
  readonly program: string;
  readonly workspace: string;
  /** A fresh `ODEK_HOME`. */
  freshHome(): Promise<string>;
  remove(): Promise<void>;
}

export async function prepareBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'odek-bench-'));
  const built = await runNode([join(ROOT, 'hosts/build.ts'), '--out', join(folder, 'dist'), '--no-types']);
  if (built.code !== 0) throw new Error(`the build failed:\n${built.stderr}`);
  // What is measured is a package: a `package.json` beside it says that its files are ES modules.
  await writeFile(join(folder, 'package.json'), await readFile(join(ROOT, 'package.json')));
  const workspace = await mkdtemp(join(folder, 'work-'));
  for (let page = 0; page < 10; page += 1) {
    await writeFile(join(workspace, `page-${page}.txt`), `Page ${page}.\n${'The quick brown fox jumps over the lazy dog. '.repeat(44)}\n`);
  }
  return {
    program: join(folder, 'dist/odek.js'),
    workspace,
    freshHome: () => mkdtemp(join(folder, 'home-')),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface Cost {
  /** Processor time of the one process, user and system. */
  readonly cpuMs: number;
  readonly maxRssKb: number;
}

/** Loaded before odek by `--import`: writes what the process cost when it exits. */
export const METER = `data:text/javascript,${encodeURIComponent(
  `import{writeFileSync}from'node:fs';process.on('exit',()=>{const c=process.cpuUsage();writeFileSync(process.env.BENCH_METER,JSON.stringify({cpuMs:(c.user+c.system)/1000,maxRssKb:process.resourceUsage().maxRSS}))})`,
)}`;

export async function readMeter(file: string): Promise<Cost> {
  return JSON.parse(await readFile(file, 'utf8')) as Cost;
}

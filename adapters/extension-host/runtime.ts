import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, sep } from 'node:path';
import { promisify } from 'node:util';
import { ExtensionHostError } from '../../ports/extension-host.ts';
import { findPrograms } from './programs.ts';

/** A Node that can run a host, and what was found out about it. */
export interface NodeRuntime {
  /** Absolute, without links. */
  readonly path: string;
  /** Without the leading `v`. */
  readonly version: string;
  /** Bytes of data that it holds when it has just started; 0 where the system does not tell. */
  readonly dataBytes: number;
  /** Absolute paths of the libraries that it is made of, as its loader names them. */
  readonly libraries: readonly string[];
}

export interface RuntimeOptions {
  /** The only one that is tried. */
  readonly configured?: string;
  /** Programs in it are not started. */
  readonly workspace: string;
  readonly searchPath: string | undefined;
  /** What was found out is kept here for the next start. */
  readonly cacheFile: string;
}

const PROBE_TIMEOUT_MS = 10_000;
const MAX_CACHE_CHARS = 65_536;
const MAX_CACHED = 16;
export const NODE_RANGE = '22.19 or newer of 22, or 24 and newer';

const PROBE = `
  const report = process.report; report.excludeNetwork = true;
  let data = 0;
  try { data = 1024 * Number(/VmData:\\s+(\\d+)/.exec(require('fs').readFileSync('/proc/self/status', 'utf8'))[1]); } catch {}
  console.log(JSON.stringify({ version: process.versions.node, dataBytes: data, libraries: report.getReport().sharedObjects.filter((each) => each.startsWith('/')) }));`;

/** Rejects with {@link ExtensionHostError} `extension_runtime_missing`, which names what was tried. */
export async function findRuntime(options: RuntimeOptions): Promise<NodeRuntime> {
  const refused: string[] = [];
  for (const candidate of candidates(options)) {
    try {
      const runtime = await probed(candidate, options.cacheFile);
      if (isSupported(runtime.version)) return runtime;
      refused.push(`${candidate} is ${runtime.version}`);
    } catch (error) {
      refused.push(`${candidate} does not run: ${(error as Error).message.split('\n')[0]?.slice(0, 200)}`);
    }
  }
  const told = refused.length === 0 ? 'no node was found' : refused.join('; ');
  throw new ExtensionHostError('extension_runtime_missing', `plugins need Node ${NODE_RANGE}: ${told}`, { limit: NODE_RANGE });
}

function candidates({ configured, workspace, searchPath }: RuntimeOptions): readonly string[] {
  if (configured !== undefined) {
    if (isAbsolute(configured)) return [configured];
    throw new ExtensionHostError('extension_runtime_missing', `extension_host.node must be an absolute path, not "${configured}"`, {
      value: configured,
    });
  }
  // What runs odek is trusted already, unless it only looks like Node.
  if (!('bun' in process.versions || 'electron' in process.versions || 'deno' in process.versions)) return [process.execPath];
  return findPrograms('node', searchPath, workspace).filter((file) => !`${file}${sep}`.includes(`${sep}node_modules${sep}`));
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major >= 24 || (major === 22 && minor >= 19);
}

async function probed(candidate: string, cacheFile: string): Promise<NodeRuntime> {
  const path = realpathSync(candidate);
  const { mtimeMs, size, ino } = statSync(path);
  const key = createHash('sha256')
    .update(JSON.stringify([path, mtimeMs, size, ino, PROBE]))
    .digest('hex');
  const cache = readCache(cacheFile);
  const known = cache[key];
  if (known !== undefined) return { ...known, path };
  const { stdout } = await promisify(execFile)(path, ['-e', PROBE], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    timeout: PROBE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_CACHE_CHARS,
  });
  const found = parsed(JSON.parse(stdout));
  if (found === undefined) throw new Error('it answered with something else');
  writeCache(cacheFile, Object.fromEntries([...Object.entries(cache), [key, found] as const].slice(-MAX_CACHED)));
  return { ...found, path };
}

type Found = Omit<NodeRuntime, 'path'>;

function parsed(value: unknown): Found | undefined {
  const { version, dataBytes, libraries } = (value ?? {}) as Record<string, unknown>;
  if (typeof version !== 'string' || typeof dataBytes !== 'number' || !Array.isArray(libraries)) return undefined;
  return libraries.every((each) => typeof each === 'string' && isAbsolute(each)) ? { version, dataBytes, libraries } : undefined;
}

function readCache(file: string): Record<string, Found> {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > MAX_CACHE_CHARS) return {};
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>).map(([key, value]) => [key, parsed(value)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, Found] => entry[1] !== undefined));
  } catch {
    return {};
  }
}

function writeCache(file: string, cache: Record<string, Found>): void {
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, JSON.stringify(cache), { mode: 0o600 });
    renameSync(fresh, file);
  } catch {
    // It is found out again.
    rmSync(fresh, { force: true });
  }
}

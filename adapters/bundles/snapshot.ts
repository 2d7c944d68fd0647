import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BundleError } from '../../ports/bundle.ts';
import { stripTypes, TRANSFORMER } from './strip.ts';
import { type WalkedFile, type WalkOptions, walkBundle } from './walk.ts';

/** A staged copy of a bundle: `src` is what was reviewed, `run` is the same without types. */
export interface Snapshot {
  /** Absolute. */
  readonly source: string;
  readonly root: string;
  /** Every file of `run` that a module may be loaded from → 64 hex digits of its bytes. */
  readonly table: Readonly<Record<string, string>>;
  /** Files of `src`. */
  readonly files: readonly WalkedFile[];
}

interface Receipt {
  readonly version: number;
  readonly transformer: string;
  readonly table: Readonly<Record<string, string>>;
  /** Every other file of `run` → 64 hex digits of its bytes. */
  readonly assets: Readonly<Record<string, string>>;
}

const VERSION = 1;
const MAX_ATTEMPTS = 16;
const RECEIPT = 'receipt.json';
const MAX_RECEIPT_BYTES = 4 * 1024 * 1024;
/** A folder of another name is no bundle, and cannot be told of without writing something else to a terminal. */
const SHOWABLE = /^[\p{L}\p{N}._ -]{1,255}$/u;
const MODULE = /\.(?:mjs|js|mts|json)$/;

export interface StageInput extends WalkOptions {
  /** The bundle. */
  readonly folder: string;
  /** Folder of the snapshot, named by its content hash. */
  readonly into: string;
  /** What was reviewed: the files and nothing else, with exactly these bytes. */
  readonly reviewed: readonly Pick<WalkedFile, 'path' | 'sha256'>[];
}

/**
 * Copies a bundle to `into`, in one piece: it is there whole or not at all. Each file is read once, and what
 * is written is what was compared with the review. Rejects with {@link BundleError} `plugin_changed`, which
 * names the path, when a file is another one than was reviewed.
 */
export async function stageBundle(input: StageInput): Promise<void> {
  const { into, reviewed } = input;
  const expected = new Map(reviewed.map(({ path, sha256 }) => [path, sha256]));
  await mkdir(dirname(into), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(into), `.stage-${process.pid}-${crypto.randomUUID()}`);
  try {
    const table: Record<string, string> = {};
    const assets: Record<string, string> = {};
    await walkBundle(input.folder, {
      ...input,
      onFile: async (file, bytes) => {
        if (expected.get(file.path) !== file.sha256) throw changed(file.path);
        expected.delete(file.path);
        await writeNew(join(temporary, 'src', file.path), bytes, file.executable);
        const ran = runnable(file.path, bytes);
        if (ran === undefined) return;
        await writeNew(join(temporary, 'run', file.path), ran, false);
        (MODULE.test(file.path) ? table : assets)[file.path] = input.hash.sha256(ran);
      },
    });
    const missing = [...expected.keys()][0];
    if (missing !== undefined) throw changed(missing);
    await mkdir(join(temporary, 'run'), { recursive: true, mode: 0o700 });
    const receipt: Receipt = { version: VERSION, transformer: TRANSFORMER, table, assets };
    await writeNew(join(temporary, RECEIPT), new TextEncoder().encode(JSON.stringify(receipt)), false);
    await takePlace(temporary, input);
  } finally {
    await removeTree(temporary);
  }
}

/** The bytes that are run. A file with types that cannot be taken away is no module: nothing the entries reach is one, or the review had refused it. */
function runnable(path: string, bytes: Uint8Array): Uint8Array | undefined {
  if (!path.endsWith('.mts')) return bytes;
  const stripped = stripTypes(new TextDecoder().decode(bytes));
  return 'text' in stripped ? new TextEncoder().encode(stripped.text) : undefined;
}

/** Another process may have staged the same: then this copy is thrown away. What is there and is not whole makes room. */
async function takePlace(temporary: string, { into, onFile: _, ...options }: StageInput): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rename(temporary, into);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (attempt >= MAX_ATTEMPTS || (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'EPERM')) throw error;
      if (await isWhole(into, options)) return;
      const away = `${temporary}-old`;
      await rename(into, away).catch(() => {});
      await removeTree(away);
    }
  }
}

/** Whether the snapshot that is there holds what was reviewed, and what is run of it. */
async function isWhole(into: string, { reviewed, ...options }: Omit<StageInput, 'into' | 'onFile'>): Promise<boolean> {
  const found = await openSnapshot(into, options).catch(() => undefined);
  return found !== undefined && differingPath(found.files, reviewed) === undefined;
}

/** The first path of which two states of a bundle hold different bytes. */
export function differingPath(a: StageInput['reviewed'], b: StageInput['reviewed']): string | undefined {
  const others = new Map(b.map(({ path, sha256 }) => [path, sha256]));
  for (const { path, sha256 } of a) {
    if (others.get(path) !== sha256) return path;
    others.delete(path);
  }
  return [...others.keys()][0];
}

/**
 * Looks at every file of a snapshot. Undefined: it is not there, or was made by another version of what takes
 * types away. Rejects with `plugin_changed`, which names the path, when a byte is another one.
 */
export async function openSnapshot(into: string, options: Omit<WalkOptions, 'onFile'>): Promise<Snapshot | undefined> {
  const receipt = await readReceipt(join(into, RECEIPT));
  if (receipt?.version !== VERSION || receipt.transformer !== TRANSFORMER) return undefined;
  const [source, root] = [join(into, 'src'), join(into, 'run')];
  const files = await walkBundle(source, options);
  const expected = new Map([...Object.entries(receipt.table), ...Object.entries(receipt.assets)]);
  for (const { path, sha256 } of await walkBundle(root, options)) {
    if (expected.get(path) !== sha256) throw changed(path, root);
    expected.delete(path);
  }
  const missing = [...expected.keys()][0];
  if (missing !== undefined) throw changed(missing, root);
  return { source, root, table: receipt.table, files };
}

async function readReceipt(file: string): Promise<Receipt | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size > MAX_RECEIPT_BYTES) return undefined;
    const value = JSON.parse(await handle.readFile('utf8')) as Receipt | null;
    return typeof value === 'object' && value !== null && isTable(value.table) && isTable(value.assets) ? value : undefined;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

function isTable(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string');
}

function changed(path: string, root?: string): BundleError {
  const where = root === undefined ? 'since it was reviewed' : `in the copy that is run, ${root}`;
  return new BundleError('plugin_changed', `${path} changed ${where}`, { value: path });
}

/** A file that nobody writes again. */
async function writeNew(target: string, bytes: Uint8Array, executable: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const handle = await open(target, 'wx', executable ? 0o500 : 0o400);
  try {
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

/**
 * Copies a bundle into a new folder beside its place, as an installation: nothing of it is run. `nameOf` is given
 * the copy and says where it goes; with `replace`, what is there makes room. Resolves with that place.
 */
export async function installCopy(
  folder: string,
  options: Omit<WalkOptions, 'onFile'> & {
    readonly into: string;
    readonly replace: boolean;
    nameOf(copy: string): Promise<string>;
  },
): Promise<string> {
  const { into, replace, nameOf } = options;
  await mkdir(into, { recursive: true, mode: 0o700 });
  const copy = join(into, `.install-${process.pid}-${crypto.randomUUID()}`);
  try {
    await mkdir(copy, { mode: 0o700 });
    await walkBundle(folder, {
      ...options,
      onFile: async (file, bytes) => {
        await writeNew(join(copy, file.path), bytes, file.executable);
        await chmod(join(copy, file.path), file.executable ? 0o700 : 0o600);
      },
    });
    const target = join(into, await nameOf(copy));
    const old = `${copy}-old`;
    if (replace) await rename(target, old).catch(() => {});
    if ((await lstat(target).catch(() => undefined)) !== undefined) {
      throw new BundleError('plugin_exists', `${target} is there already; "odek plugin install --replace" puts the new one in its place`, {
        value: target,
      });
    }
    await rename(copy, target);
    await removeTree(old);
    return target;
  } finally {
    await removeTree(copy);
  }
}

/** Removes a folder and all in it; links are removed, not followed. */
export async function removeTree(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 2 });
}

/** Names of the folders in `folder` that hold a `plugin.json`, sorted, at most `most`. Links are named too, so that they can be refused. */
export async function bundleFolders(folder: string, most: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || !SHOWABLE.test(entry.name) || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
    const isThere = entry.isSymbolicLink() || (await lstat(join(folder, entry.name, 'plugin.json')).catch(() => undefined)) !== undefined;
    if (isThere) names.push(entry.name);
  }
  return names.sort().slice(0, most);
}

/** A text file of a bundle that was just looked at, for comparing. Undefined where it is no text of at most `most` bytes. */
export async function readText(file: string, most: number): Promise<string | undefined> {
  try {
    const bytes = await readFile(file);
    return bytes.length > most ? undefined : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Removes the snapshots that are not named and are older than `ageMs`: somebody may still run one that was just given up. */
export async function pruneSnapshots(folder: string, named: ReadonlySet<string>, ageMs: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = named.has(name) ? undefined : await lstat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.ctimeMs > ageMs) await removeTree(path);
  }
}

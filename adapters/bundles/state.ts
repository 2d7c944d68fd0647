import { constants, statSync } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BundleError } from '../../ports/bundle.ts';
import { withStateLock } from './lock.ts';

/** Records of bundles by their id; what is in one is for the reader to judge. */
export type StateRecords = Readonly<Record<string, unknown>>;

export interface BundleState {
  /** What is kept. A file that cannot be understood keeps nothing, with a warning, and is left as it is. */
  read(): Promise<StateRecords>;
  /**
   * Changes what is kept while no other process does. Resolves with what `next` returned beside the records.
   * Rejects with {@link BundleError} `plugin_state_busy` or `plugin_state_unwritable`.
   */
  change<Result>(next: (held: StateRecords) => { readonly records: StateRecords; readonly result: Result }): Promise<Result>;
  /** A text that is another one after each change, by whichever process; costs one look at the file. */
  stamp(): string;
}

export interface StateOptions {
  /** `state.json`; its folder is made when something is kept. */
  readonly file: string;
  readonly warn: (text: string) => void;
  /** Milliseconds to wait for another process that writes; default 5,000. */
  readonly waitMs?: number;
}

const VERSION = 1;
const MAX_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 5_000;

type Reading = { readonly records: StateRecords } | { readonly refused: string } | { readonly corrupt: string };

/** What is known of bundles, in one file that is replaced as a whole and readable by its owner alone. */
export function createBundleState({ file, warn, waitMs = WAIT_MS }: StateOptions): BundleState {
  return {
    async read() {
      const reading = await readState(file);
      if ('records' in reading) return reading.records;
      warn('refused' in reading ? reading.refused : `${file} is corrupt (${reading.corrupt}); no plugin counts as trusted`);
      return {};
    },
    async change(next) {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        return await withStateLock(`${file}.lock`, waitMs, async () => {
          const reading = await readState(file);
          if ('refused' in reading) throw new BundleError('plugin_state_unwritable', reading.refused, { value: file });
          const held = 'records' in reading ? reading.records : await setAside(file, reading.corrupt, warn);
          const { records, result } = next(held);
          if (records !== held) await write(file, records);
          return result;
        });
      } catch (cause) {
        if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
        const why = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
        throw new BundleError('plugin_state_unwritable', `${file} cannot be written: ${why}`, { value: file, cause });
      }
    },
    stamp() {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      return found === undefined ? '' : `${found.ino}.${found.mtimeNs}.${found.size}`;
    },
  };
}

async function readState(file: string): Promise<Reading> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0)).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (opened instanceof Error) {
    if (opened.code === 'ENOENT' || opened.code === 'ENOTDIR') return { records: {} };
    return { refused: `${file} cannot be read (${opened.code}); no plugin counts as trusted` };
  }
  try {
    const found = await opened.stat();
    if (!found.isFile()) return { refused: `${file} is no regular file; no plugin counts as trusted` };
    // Whoever may write there could trust for this user.
    if (process.platform !== 'win32' && (found.mode & 0o022) !== 0) {
      return { refused: `${file} may be written by others; no plugin counts as trusted until you run: chmod 600 ${file}` };
    }
    if (found.size > MAX_BYTES) return { corrupt: `it has ${found.size} bytes, the limit is ${MAX_BYTES}` };
    return parsed(await opened.readFile('utf8'));
  } finally {
    await opened.close();
  }
}

function parsed(text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { corrupt: 'it is not JSON' };
  }
  const { version, bundles } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (version !== VERSION || typeof bundles !== 'object' || bundles === null || Array.isArray(bundles)) {
    return { corrupt: `it is no record of plugins of version ${VERSION}` };
  }
  return { records: bundles as StateRecords };
}

async function setAside(file: string, why: string, warn: (text: string) => void): Promise<StateRecords> {
  const kept = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await rename(file, kept);
  warn(`${file} is corrupt (${why}); no plugin counts as trusted any more, and it is kept as ${kept}`);
  return {};
}

async function write(file: string, bundles: StateRecords): Promise<void> {
  const temporary = join(dirname(file), `.${process.pid}-${crypto.randomUUID()}.tmp`);
  const opened = await open(temporary, 'wx', 0o600);
  try {
    await opened.writeFile(`${JSON.stringify({ version: VERSION, bundles }, null, 1)}\n`);
    await opened.sync();
    await opened.close();
    await rename(temporary, file);
  } catch (error) {
    await opened.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

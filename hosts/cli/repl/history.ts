import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Entries kept. */
export const MAX_HISTORY = 500;
/** Bytes of a history file that are read; a larger file is cut at the front. */
const MAX_FILE_BYTES = 4_194_304;
/** An entry longer than this is not remembered. */
const MAX_ENTRY_CHARS = 32_768;

/** What was typed before, oldest first. */
export interface History {
  entries(): readonly string[];
  /** Remembers `entry` and saves it redacted. Never rejects: a history that cannot be saved stays in memory. */
  add(entry: string): Promise<void>;
}

export interface HistoryOptions {
  /** Absolute path; `undefined` keeps the history in memory alone. */
  readonly file: string | undefined;
  /** Applied to an entry before it is saved. */
  redact(text: string): string;
}

/** One entry a line: backslash and newline are escaped. */
function encode(entry: string): string {
  return entry.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}

function decode(line: string): string {
  return line.replace(/\\([\\nr])/g, (_, what: string) => (what === 'n' ? '\n' : what === 'r' ? '\r' : '\\'));
}

async function load(file: string): Promise<string[]> {
  try {
    const content = (await readFile(file)).subarray(-MAX_FILE_BYTES).toString('utf8');
    return content
      .split('\n')
      .filter((line) => line !== '')
      .slice(-MAX_HISTORY)
      .map(decode);
  } catch {
    return [];
  }
}

async function save(file: string, entries: readonly string[]): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(entries.map((entry) => `${encode(entry)}\n`).join(''));
  } finally {
    await handle.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}

/** Reads the history. A file that cannot be read is an empty history. */
export async function openHistory({ file, redact }: HistoryOptions): Promise<History> {
  const entries = file === undefined ? [] : await load(file);
  let saving: Promise<void> = Promise.resolve();

  const store = async (entry: string): Promise<void> => {
    if (file === undefined) return;
    // Another odek may have added to it since.
    const onDisk = await load(file);
    if (onDisk.at(-1) !== entry) onDisk.push(entry);
    await save(file, onDisk.slice(-MAX_HISTORY)).catch(() => undefined);
  };

  return {
    entries: () => entries,
    add(entry) {
      const kept = redact(entry);
      if (entry.trim() === '' || kept.length > MAX_ENTRY_CHARS || entries.at(-1) === kept) return saving;
      entries.push(kept);
      if (entries.length > MAX_HISTORY) entries.shift();
      saving = saving.then(() => store(kept));
      return saving;
    },
  };
}

import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { defineAdapter } from '../../ports/adapter.ts';
import { ConfigError, OdekError } from '../../ports/errors.ts';
import type { EventSink } from '../../ports/event-sink.ts';

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE = 0o600;
const NEWLINE = 0x0a;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const OPEN_FAILURES: Readonly<Record<string, readonly [code: string, text: string]>> = {
  ENOENT: ['sink_parent_missing', 'its folder does not exist; create it first'],
  ENOTDIR: ['sink_parent_missing', 'its folder is not a folder'],
  ELOOP: ['sink_symlink_refused', 'it is a symbolic link; name the file itself'],
  EISDIR: ['sink_not_a_file', 'it is a folder; name a file'],
  ENXIO: ['sink_not_a_file', 'it is not a regular file'],
  EACCES: ['permission_denied', 'permission denied'],
  EPERM: ['permission_denied', 'permission denied'],
  EROFS: ['read_only_filesystem', 'the file system is read-only'],
  ENOSPC: ['disk_full', 'the disk is full'],
};

function openError(path: string, error: unknown): ConfigError {
  const [code, text] = OPEN_FAILURES[codeOf(error)] ?? ['sink_open_failed', codeOf(error) || 'unknown failure'];
  return new ConfigError(code, `cannot write events to ${path}: ${text}`, { value: path, cause: error });
}

function refuse(path: string, osCode: string): never {
  throw openError(path, Object.assign(new Error(osCode), { code: osCode }));
}

async function isSymlink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw openError(path, error);
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Makes the name of a new file as durable as its contents. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether the file ends inside a line, as a killed process leaves it. */
async function endsInsideLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

async function openFile(path: string): Promise<{ file: FileHandle; insideLine: boolean }> {
  if (await isSymlink(path)) refuse(path, 'ELOOP');
  const isNew = !(await exists(path));
  const file = await open(path, FLAGS, MODE).catch((error: unknown) => Promise.reject(openError(path, error)));
  try {
    const stat = await file.stat();
    if (!stat.isFile()) refuse(path, 'ENXIO');
    if ((stat.mode & 0o777) !== MODE) await file.chmod(MODE);
    if (isNew) await syncFolder(dirname(path));
    return { file, insideLine: await endsInsideLine(file, stat.size) };
  } catch (error) {
    await file.close();
    throw error instanceof ConfigError ? error : openError(path, error);
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, null);
    at += bytesWritten;
  }
}

function writeError(path: string, error: unknown): OdekError {
  const known: Record<string, string> = {
    ENOSPC: 'disk_full',
    EDQUOT: 'disk_full',
    EROFS: 'read_only_filesystem',
    EACCES: 'permission_denied',
  };
  const code = known[codeOf(error)] ?? 'sink_write_failed';
  return new OdekError(code, `cannot write an event to ${path}: ${codeOf(error) || 'unknown failure'}`, { value: path, cause: error });
}

/**
 * Opens (or creates, with mode 0600) the file at `path` for events, one JSON object a line. Its
 * folder must exist; a symbolic link and anything but a regular file is refused, also when it
 * appears between the check and the open. `accept` resolves when the line is on stable storage.
 *
 * Rejects with {@link ConfigError}: `sink_parent_missing`, `sink_symlink_refused`, `sink_not_a_file`,
 * `permission_denied`, `read_only_filesystem`, `disk_full`, `sink_open_failed`. `accept` rejects with
 * {@link OdekError}: `disk_full`, `read_only_filesystem`, `permission_denied`, `sink_write_failed`, `sink_closed`.
 */
export async function createJsonlSink(path: string): Promise<EventSink> {
  const opened = await openFile(path);
  const { file } = opened;
  let { insideLine } = opened;
  let writing: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  async function write(line: string): Promise<void> {
    const bytes = Buffer.from(`${insideLine ? '\n' : ''}${line}\n`);
    insideLine = true;
    try {
      await writeAll(file, bytes);
      insideLine = false;
      await file.datasync();
    } catch (error) {
      throw writeError(path, error);
    }
  }

  async function closeFile(): Promise<void> {
    await writing.catch(() => {});
    await file.close();
  }

  return {
    async accept(event) {
      if (closing !== undefined) throw new OdekError('sink_closed', `the event file ${path} is closed`, { value: path });
      writing = write(JSON.stringify(event));
      await writing;
    },
    close() {
      closing ??= closeFile();
      return closing;
    },
  };
}

export default defineAdapter({
  port: 'event-sink',
  name: 'jsonl',
  create(options) {
    const { path } = options;
    if (typeof path !== 'string' || path === '') {
      throw new ConfigError('invalid_sink_options', `the jsonl sink needs "path", a file name; got ${JSON.stringify(path)}`, {
        value: path,
      });
    }
    return createJsonlSink(resolve(path));
  },
});

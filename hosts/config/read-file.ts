import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { depthFault, findJsonProblem } from './json-position.ts';

/** Largest configuration file, bytes. */
export const MAX_CONFIG_BYTES = 5 * 1024 * 1024;

/** What reading a configuration file gave. `problem` is one line that names the file. */
export type FileReading =
  | { readonly state: 'absent' }
  | { readonly state: 'bad'; readonly code: 'unreadable' | 'too_large' | 'invalid_json'; readonly problem: string; readonly mode?: number }
  | { readonly state: 'read'; readonly text: string; readonly mode: number };

export type JsonReading =
  | Exclude<FileReading, { readonly state: 'read' }>
  | { readonly state: 'parsed'; readonly value: Readonly<Record<string, unknown>>; readonly mode: number };

/** Reads a regular file of at most {@link MAX_CONFIG_BYTES}. Never throws for what the disk holds. */
export async function readSmallFile(path: string): Promise<FileReading> {
  let file: FileHandle | undefined;
  try {
    // O_NONBLOCK: opening a pipe that nobody writes would wait for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { mode, size } = await file.stat().then((stat) => {
      if (!stat.isFile()) throw Object.assign(new Error('it is no regular file'), { plain: true });
      return stat;
    });
    if (size > MAX_CONFIG_BYTES) return tooLarge(path, size, mode);
    const text = await file.readFile('utf8');
    if (text.length > MAX_CONFIG_BYTES) return tooLarge(path, text.length, mode);
    return { state: 'read', text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, mode };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'absent' };
    const why = 'plain' in (error as object) ? (error as Error).message : (code ?? 'unknown error');
    return { state: 'bad', code: 'unreadable', problem: `${path} cannot be read: ${why}` };
  } finally {
    await file?.close();
  }
}

/** Reads a file that holds one JSON object. An empty file is an empty object. */
export async function readJsonFile(path: string): Promise<JsonReading> {
  const reading = await readSmallFile(path);
  if (reading.state !== 'read') return reading;
  const { text, mode } = reading;
  if (text.trim() === '') return { state: 'parsed', value: {}, mode };
  const bad = (problem: string): JsonReading => ({ state: 'bad', code: 'invalid_json', problem, mode });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const found = findJsonProblem(text);
    return bad(found === undefined ? `${path}: invalid JSON` : `${path}:${found.line}:${found.column}: invalid JSON: ${found.says}`);
  }
  const deep = depthFault(text);
  if (deep !== undefined) return bad(`${path}: ${deep}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad(`${path}:1:1: invalid JSON: not an object`);
  return { state: 'parsed', value: value as Record<string, unknown>, mode };
}

/** True where others than the owner may read or write. Always false on Windows, whose modes say nothing. */
export function isLoose(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0;
}

function tooLarge(path: string, size: number, mode: number): FileReading {
  return { state: 'bad', code: 'too_large', problem: `${path} has ${size} bytes; the limit is ${MAX_CONFIG_BYTES}`, mode };
}

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { McpConnectorOptions } from '../../adapters/mcp/index.ts';

type Eras = NonNullable<McpConnectorOptions['eras']>;
type Era = ReturnType<Eras['get']>;

const MAX_KEPT = 1000;
const MAX_CHARS = 1024 * 1024;
const KNOWN: readonly unknown[] = ['modern', 'legacy'];

/**
 * Which servers speak an old protocol and which a new one, kept in a file so that the next start need not ask.
 * It is no more than a hint: a file that cannot be read or written is as good as none.
 */
export function keptEras(file: string): Eras {
  const known = read(file);
  return {
    get: (key) => known.get(digest(key)),
    set(key, era) {
      // The newest last: the oldest go first.
      known.delete(digest(key));
      if (era !== undefined) known.set(digest(key), era);
      write(file, [...known].slice(-MAX_KEPT));
    },
  };
}

/** A command line may hold a secret. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function read(file: string): Map<string, Era> {
  try {
    const text = readFileSync(file, 'utf8');
    const value: unknown = text.length > MAX_CHARS ? {} : JSON.parse(text);
    return new Map(Object.entries(value as Record<string, Era>).filter(([, era]) => KNOWN.includes(era)));
  } catch {
    return new Map();
  }
}

function write(file: string, entries: readonly (readonly [string, Era])[]): void {
  const temporary = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, JSON.stringify(Object.fromEntries(entries)), { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    removed(temporary);
  }
}

function removed(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It was never there.
  }
}

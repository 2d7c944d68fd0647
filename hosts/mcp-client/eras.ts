import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { McpConnectorOptions } from '../../adapters/mcp/index.ts';

type Eras = NonNullable<McpConnectorOptions['eras']>;
type Era = ReturnType<Eras['get']>;

const MAX_KEPT = 1000;
const MAX_CHARS = 1024 * 1024;
const KNOWN: readonly unknown[] = ['modern', 'legacy'];
/** An old server may have been renewed since: after this long it is asked again. */
const LEGACY_MS = 7 * 24 * 60 * 60 * 1000;

interface Verdict {
  readonly era: NonNullable<Era>;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Which servers speak an old protocol and which a new one, kept in a file so that the next start need not ask; that a
 * server is old is believed for a week. It is no more than a hint: a file that cannot be read or written is as good as none.
 */
export function keptEras(file: string, now: () => number = Date.now): Eras {
  const known = read(file);
  return {
    get(key) {
      const verdict = known.get(digest(key));
      const isOver = verdict?.era === 'legacy' && !(Math.abs(now() - verdict.at) < LEGACY_MS);
      return isOver ? undefined : verdict?.era;
    },
    set(key, era) {
      // The newest last: the oldest go first.
      known.delete(digest(key));
      if (era !== undefined) known.set(digest(key), { era, at: now() });
      write(file, [...known].slice(-MAX_KEPT));
    },
  };
}

/** A command line may hold a secret. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function read(file: string): Map<string, Verdict> {
  try {
    const text = readFileSync(file, 'utf8');
    const value: unknown = text.length > MAX_CHARS ? {} : JSON.parse(text);
    return new Map(
      Object.entries(value as Record<string, Verdict>).filter(([, { era, at }]) => KNOWN.includes(era) && Number.isFinite(at)),
    );
  } catch {
    return new Map();
  }
}

function write(file: string, entries: readonly (readonly [string, Verdict])[]): void {
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

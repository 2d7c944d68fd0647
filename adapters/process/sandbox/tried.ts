import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** Which calls of `bwrap` have been seen to run since the machine was started. */
export interface Tried {
  has(args: readonly string[]): boolean;
  add(args: readonly string[]): void;
  /** What was seen counts no more. */
  forget(): void;
}

/** Calls remembered; the oldest go first. */
const MAX_CALLS = 64;
const MAX_CHARS = 16_384;
const DIGEST = /^[0-9a-f]{64}$/;
/** What decides beside the arguments whether a call runs. */
const CONDITIONS = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
];

/** Remembers in `file`, whose folder has to be there, so that a start need not wait for a process that only tries. A file that cannot be used is as none. */
export function openTried(file: string, bwrap: string): Tried {
  const { mtimeMs, size, mode } = statSync(bwrap);
  const conditions = [...CONDITIONS.map(textOf), bwrap, mtimeMs, size, mode, process.getuid?.() ?? '', textOf('/proc/self/uid_map')];
  const digestOf = (args: readonly string[]): string =>
    createHash('sha256')
      .update(JSON.stringify([conditions, args]))
      .digest('hex');
  return {
    has: (args) => read(file).includes(digestOf(args)),
    add(args) {
      const fresh = `${file}.${randomBytes(6).toString('hex')}`;
      try {
        writeFileSync(fresh, JSON.stringify([...read(file), digestOf(args)].slice(-MAX_CALLS)), { mode: 0o600 });
        renameSync(fresh, file);
      } catch {
        rmSync(fresh, { force: true });
      }
    },
    forget: () => rmSync(file, { force: true }),
  };
}

function read(file: string): readonly string[] {
  const text = textOf(file);
  try {
    const value: unknown = text.length > MAX_CHARS ? [] : JSON.parse(text);
    return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && DIGEST.test(each)) : [];
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

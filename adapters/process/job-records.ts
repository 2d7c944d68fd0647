import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isComparable } from './identity.ts';
import { type JobTree, killTree } from './job-tree.ts';

/** Which jobs run, on disk, so that the next start finds what a killed odek left behind. */
export interface JobRecords {
  /** Stored when it returns. Throws what the file system does. */
  add(tree: JobTree): void;
  remove(tree: JobTree): void;
}

interface JobRecord extends JobTree {
  readonly identity: string;
  readonly owner: { readonly pid: number; readonly identity: string };
}

/** Records looked at in one start. */
const MAX_RECORDS = 1000;
const MAX_RECORD_CHARS = 4096;
const NAME = /^[0-9a-f]{32}\.json$/;

/** Records in `folder`, an absolute path that is made when it is needed; nobody else may read it. */
export function openJobRecords(folder: string): JobRecords {
  const pathOf = ({ mark }: JobTree): string => join(folder, `${mark}.json`);
  return {
    add(tree) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const record: JobRecord = {
        pid: tree.pid,
        mark: tree.mark,
        identity: identityOf(tree.pid) ?? '',
        owner: { pid: process.pid, identity: identityOf(process.pid) ?? '' },
      };
      writeFileSync(`${pathOf(tree)}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${pathOf(tree)}.new`, pathOf(tree));
    },
    remove(tree) {
      try {
        rmSync(pathOf(tree), { force: true });
      } catch {
        // What is left names processes that are gone, and the next start removes it.
      }
    },
  };
}

/**
 * Kills the jobs of odek processes that are gone, and returns how many records there were of such.
 * A process that got the number of one of them since is left alone.
 */
export function reapJobs(folder: string): number {
  let reaped = 0;
  for (const name of recordNames(folder)) {
    const path = join(folder, name);
    const record = readRecord(path);
    if (record === undefined) rmSync(path, { force: true });
    else if (isComparable(record.owner.identity) && identityOf(record.owner.pid) !== record.owner.identity) {
      killTree(record, { withGroup: record.identity !== '' && identityOf(record.pid) === record.identity });
      rmSync(path, { force: true });
      reaped += 1;
    }
  }
  return reaped;
}

function recordNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .slice(0, MAX_RECORDS);
  } catch {
    return [];
  }
}

/** Undefined for a file that is no record. */
function readRecord(path: string): JobRecord | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    const value: unknown = text.length > MAX_RECORD_CHARS ? undefined : JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is JobRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, mark, identity, owner } = value as Record<string, unknown>;
  if (!isPid(pid) || typeof identity !== 'string' || typeof mark !== 'string' || !/^[0-9a-f]{32}$/.test(mark)) return false;
  if (typeof owner !== 'object' || owner === null) return false;
  const { pid: ownerPid, identity: ownerIdentity } = owner as Record<string, unknown>;
  return isPid(ownerPid) && typeof ownerIdentity === 'string';
}

/** Above 1: nothing is ever sent to the first process, to our own group (0) or to everybody (-1). */
function isPid(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 1;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { identityOf, isComparable } from '../identity.ts';

/** Notes in `file`, for its owner's eyes alone, that something belongs to this process. */
export function writeOwner(file: string): void {
  writeFileSync(file, JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) ?? '' }), { mode: 0o600 });
}

/** Whether the process that a file names is gone. A file that is not whole may still be written: it counts as living. */
export function isOwnerGone(file: string): boolean {
  try {
    const { pid, identity } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number; readonly identity: string };
    return isComparable(identity) && identityOf(pid) !== identity;
  } catch {
    return false;
  }
}

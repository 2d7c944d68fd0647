import { hasGroup, processesWith } from './identity.ts';

/** In the environment of a job and of everything it starts, so that what leaves its group is found too. */
const MARK = 'ODEK_JOB';
const ROUNDS = 8;

/** A job's processes: those of the group it leads, and those that carry its mark. */
export interface JobTree {
  readonly pid: number;
  /** Random, for this job alone. */
  readonly mark: string;
}

export function markVariable(mark: string): Readonly<Record<string, string>> {
  return { [MARK]: mark };
}

/**
 * Kills a job's processes; what they start meanwhile is found in the next round. `withGroup: false`
 * where the leader may be gone for long and its number be somebody else's.
 */
export function killTree({ pid, mark }: JobTree, { withGroup }: { readonly withGroup: boolean }): void {
  if (withGroup) kill(-pid);
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = processesWith(`${MARK}=${mark}`);
    if (left.length === 0) return;
    for (const each of left) kill(each);
  }
}

/** Whether anything of it runs although the process that led it has just ended. */
export function isTreeLeft({ pid, mark }: JobTree): boolean {
  return hasGroup(pid) || processesWith(`${MARK}=${mark}`).length > 0;
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

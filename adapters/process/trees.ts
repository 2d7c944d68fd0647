import { randomBytes } from 'node:crypto';
import { openJobRecords, reapJobs } from './job-records.ts';
import { type JobTree, killTree, markVariable } from './job-tree.ts';
import { endWithProcess } from './process-end.ts';

/** Children that stay for as long as odek does: they end with it, at the latest with the next start. */
export interface ProcessTrees {
  /** A fresh mark, and the variables that carry it to everything a child starts. */
  mark(): { readonly mark: string; readonly variables: Readonly<Record<string, string>> };
  /** Notes a running child. One that cannot be noted on disk still ends with this process. */
  add(tree: JobTree): void;
  remove(tree: JobTree): void;
  /** Kills the group that the child leads and whatever carries its mark. */
  kill(tree: JobTree, options: { readonly withGroup: boolean }): void;
}

/** Children noted in `folder`, an absolute path. What a killed odek noted there is ended first. */
export function openProcessTrees(folder: string): ProcessTrees {
  const records = openJobRecords(folder);
  const running = new Set<JobTree>();
  reapJobs(folder);
  const guard = endWithProcess(() => {
    for (const tree of running) {
      killTree(tree, { withGroup: true });
      records.remove(tree);
    }
  });
  return {
    mark() {
      const mark = randomBytes(16).toString('hex');
      return { mark, variables: markVariable(mark) };
    },
    add(tree) {
      running.add(tree);
      guard.arm();
      try {
        records.add(tree);
      } catch {
        // A full disk must not keep a server from being used.
      }
    },
    remove(tree) {
      running.delete(tree);
      records.remove(tree);
      if (running.size === 0) guard.disarm();
    },
    kill: killTree,
  };
}

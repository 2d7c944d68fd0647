import { randomBytes } from 'node:crypto';
import type { ProcessTree, ProcessTrees } from '../../adapters/mcp/process-trees.ts';
import { openJobRecords, reapJobs } from '../../adapters/process/job-records.ts';
import { killTree, markVariable } from '../../adapters/process/job-tree.ts';
import { endWithProcess } from '../../adapters/process/process-end.ts';

const MARK_BYTES = 16;

/**
 * What servers need of the system: each ends with this process at the latest, and what a killed odek left
 * running is ended here. `recordsFolder` is absolute.
 */
export function serverTrees(recordsFolder: string): ProcessTrees {
  const records = openJobRecords(recordsFolder);
  const running = new Set<ProcessTree>();
  reapJobs(recordsFolder);
  const guard = endWithProcess(() => {
    for (const tree of running) {
      killTree(tree, { withGroup: true });
      records.remove(tree);
    }
  });
  return {
    mark() {
      const mark = randomBytes(MARK_BYTES).toString('hex');
      return { mark, variables: markVariable(mark) };
    },
    add(tree) {
      guard.arm();
      running.add(tree);
      records.add(tree);
    },
    remove(tree) {
      running.delete(tree);
      records.remove(tree);
      if (running.size === 0) guard.disarm();
    },
    kill: killTree,
  };
}

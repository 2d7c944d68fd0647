import type { Journal } from '../../../core/agent/journal.ts';

/** Counts the commits that a journal is asked for from now on. */
export function countCommits(journal: Journal): () => number {
  let commits = 0;
  const { append } = journal;
  Object.assign(journal, {
    append: (records: Parameters<Journal['append']>[0]) => {
      commits += 1;
      return append(records);
    },
  });
  return () => commits;
}

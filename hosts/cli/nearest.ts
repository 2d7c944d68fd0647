/** Edits (insert, delete, replace) between two texts, each at most 64 characters long; longer ones are cut. */
export function editDistance(left: string, right: string): number {
  const a = left.slice(0, 64);
  const b = right.slice(0, 64);
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/**
 * The candidate that `word` most likely meant: fewest edits, at most a third of its length and at
 * least 2; ties go to the earlier candidate. `undefined` when nothing is that near.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const bound = Math.max(2, Math.floor(word.length / 3));
  let best: string | undefined;
  let fewest = bound + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest && edits < candidate.length) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

/** `; did you mean X?`, or nothing. */
export function suggestion(word: string, candidates: Iterable<string>, show: (candidate: string) => string = (text) => text): string {
  const match = nearest(word, candidates);
  return match === undefined ? '' : `; did you mean ${show(match)}?`;
}

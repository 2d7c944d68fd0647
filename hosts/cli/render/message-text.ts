/**
 * The text of an answer that was shown piece by piece, against the text that arrived whole. What
 * was already shown is not shown again.
 *
 * Gives what is still to be shown: nothing, the rest, or all of it.
 */
export function unshownPart(shown: string, whole: string): string {
  if (shown.trim() === whole.trim()) return '';
  if (shown.trim() !== '' && whole.startsWith(shown)) return whole.slice(shown.length);
  return whole;
}

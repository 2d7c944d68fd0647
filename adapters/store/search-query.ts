const MAX_WORDS = 16;
const MAX_WORD_CHARS = 128;

/**
 * One full-text expression for each word of what a user typed, at most 16 words. A word of two or
 * more characters also finds what begins with it. No character of the input is ever syntax.
 */
export function searchExpressions(text: string): readonly string[] {
  const words = text
    .replaceAll('\0', ' ')
    .toWellFormed()
    .split(/\s+/u)
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word));
  return [...new Set(words)].slice(0, MAX_WORDS).map((word) => {
    const bounded = [...word].slice(0, MAX_WORD_CHARS);
    return `"${bounded.join('').replaceAll('"', '""')}"${bounded.length > 1 ? '*' : ''}`;
  });
}

/** Code units of a pattern that is looked at; a longer one could be anything. */
export const MAX_PATTERN = 512;

/**
 * Whether a name could match a shell pattern: `*` is any text, `?` one character, `[…]` any one
 * character (the set is not read, which errs on the side of a match). No wildcard at the beginning finds
 * a name that begins with a dot. Takes at most
 * `pattern.length × name.length` steps; a pattern over `MAX_PATTERN` matches, a name over it does not.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  if (pattern.length > MAX_PATTERN) return true;
  if (name.length > MAX_PATTERN) return false;
  if (name.startsWith('.') && /^[*?[]/.test(pattern)) return false;
  const tokens = tokensOf(pattern);
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted !== undefined && wanted !== '*' && (wanted === '?' || wanted === name[at])) {
      token += 1;
      at += 1;
    } else if (wanted === '*') {
      star = token;
      starAt = at;
      token += 1;
    } else if (star >= 0) {
      token = star + 1;
      starAt += 1;
      at = starAt;
    } else return false;
  }
  while (tokens[token] === '*') token += 1;
  return token === tokens.length;
}

function tokensOf(pattern: string): readonly string[] {
  const tokens: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    const close = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (close > 0) {
      tokens.push('?');
      at = close;
    } else if (character !== '*' || tokens.at(-1) !== '*') tokens.push(character);
  }
  return tokens;
}

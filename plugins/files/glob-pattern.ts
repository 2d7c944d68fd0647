/** Segments of one expanded pattern; `**` stands for any number of folders. */
type Segments = readonly string[];

export interface GlobPattern {
  /** Whether a path with `/` between its parts matches. */
  matches(path: string): boolean;
  /** Levels below the start that can match; Infinity with `**`. */
  readonly depth: number;
  /** Whether some part of the pattern names this folder or begins with a dot, so that it is entered although it usually is not. */
  names(folder: string): boolean;
}

export interface GlobOptions {
  /** Whether `*`, `?` and `**` match names that begin with a dot. */
  readonly dot: boolean;
}

export const MAX_PATTERN_CHARS = 512;
const MAX_ALTERNATIVES = 64;

/**
 * Compiles `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `**`. Matching takes time proportional to pattern
 * times path, whatever the pattern. Throws `RangeError` for a pattern that is too long or has too
 * many alternatives.
 */
export function compileGlob(pattern: string, options: GlobOptions): GlobPattern {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new RangeError(`the pattern has ${pattern.length} characters, the limit is ${MAX_PATTERN_CHARS}`);
  const alternatives = expandBraces(pattern).map((each) => each.split('/').filter((segment) => segment !== '' && segment !== '.'));
  const segments = alternatives.flat();
  return {
    matches: (path) => alternatives.some((alternative) => pathMatches(alternative, path.split('/'), options.dot)),
    depth: segments.includes('**') ? Number.POSITIVE_INFINITY : Math.max(1, ...alternatives.map((each) => each.length)),
    names: (folder) => segments.some((segment) => segment === folder || (segment.startsWith('.') && segmentMatches(segment, folder))),
  };
}

/** `a{b,c}` → `ab`, `ac`; nested groups too. An unbalanced brace stands for itself. */
function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = outerGroup(next);
    if (group) waiting.push(...group.reverse());
    else done.push(next);
    if (waiting.length + done.length > MAX_ALTERNATIVES) throw new RangeError(`the pattern has more than ${MAX_ALTERNATIVES} alternatives`);
  }
  return done;
}

/** The pattern with its first brace group replaced by each of its choices; undefined without one. */
function outerGroup(pattern: string): string[] | undefined {
  const open = pattern.indexOf('{');
  if (open < 0) return undefined;
  const cuts = [open];
  let depth = 0;
  for (let at = open; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '{') depth += 1;
    if (character === ',' && depth === 1) cuts.push(at);
    if (character !== '}') continue;
    depth -= 1;
    if (depth > 0) continue;
    if (cuts.length === 1) return undefined;
    const ends = [...cuts.slice(1), at];
    return cuts.map((cut, index) => pattern.slice(0, open) + pattern.slice(cut + 1, ends[index]) + pattern.slice(at + 1));
  }
  return undefined;
}

function pathMatches(pattern: Segments, path: readonly string[], dot: boolean): boolean {
  return wildcardMatch(pattern.length, path.length, {
    isStar: (at) => pattern[at] === '**',
    skips: (at) => dot || !path[at]?.startsWith('.'),
    one: (at, part) => nameMatches(pattern[at] ?? '', path[part] ?? '', dot),
  });
}

function nameMatches(segment: string, name: string, dot: boolean): boolean {
  if (name.startsWith('.') && !dot && !segment.startsWith('.')) return false;
  return segmentMatches(segment, name);
}

function segmentMatches(segment: string, name: string): boolean {
  const tokens = tokensOf(segment);
  const characters = [...name];
  return wildcardMatch(tokens.length, characters.length, {
    isStar: (at) => tokens[at] === '*',
    skips: () => true,
    one: (at, character) => tokenMatches(tokens[at] ?? '', characters[character] ?? ''),
  });
}

/** Literal characters, `?`, `*` (repeats collapsed) and whole `[…]` sets. */
function tokensOf(segment: string): readonly string[] {
  return (segment.match(/\[(?:!|\^)?\]?[^\]]*\]|\*+|\\.|[\s\S]/gu) ?? []).map((token) => (token.startsWith('*') ? '*' : token));
}

function tokenMatches(token: string, character: string): boolean {
  if (token === '?') return true;
  if (token.length > 2 && token.startsWith('[')) return setMatches(token.slice(1, -1), character);
  return (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token) === character;
}

function setMatches(set: string, character: string): boolean {
  const negated = set.startsWith('!') || set.startsWith('^');
  const characters = [...(negated ? set.slice(1) : set)];
  let found = false;
  for (let at = 0; at < characters.length; at += 1) {
    const from = characters[at] ?? '';
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    const to = isRange ? (characters[at + 2] ?? '') : from;
    if (from <= character && character <= to) found = true;
    if (isRange) at += 2;
  }
  return found !== negated;
}

interface Matching {
  isStar(at: number): boolean;
  /** Whether a star may swallow this subject. */
  skips(subject: number): boolean;
  one(at: number, subject: number): boolean;
}

/** Matches with a row of possible positions, so that stars never multiply. */
function wildcardMatch(patternLength: number, subjectLength: number, { isStar, skips, one }: Matching): boolean {
  let reached = new Array<boolean>(patternLength + 1).fill(false);
  reached[0] = true;
  passStars(reached, isStar);
  for (let subject = 0; subject < subjectLength; subject += 1) {
    const next = new Array<boolean>(patternLength + 1).fill(false);
    for (let at = 0; at < patternLength; at += 1) {
      if (!reached[at]) continue;
      if (isStar(at)) next[at] ||= skips(subject);
      else if (one(at, subject)) next[at + 1] = true;
    }
    passStars(next, isStar);
    reached = next;
  }
  return reached[patternLength] === true;
}

/** A star may stand for nothing. */
function passStars(reached: boolean[], isStar: (at: number) => boolean): void {
  for (let at = 0; at < reached.length - 1; at += 1) if (reached[at] && isStar(at)) reached[at + 1] = true;
}

/** Where a text stops being JSON. Lines and columns count from 1; columns count UTF-16 units. */
export interface JsonProblem {
  readonly line: number;
  readonly column: number;
  /** What was wrong there. Shows one character of the text at most, since the text may hold secrets. */
  readonly says: string;
}

const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const DEEPEST = 200;

class Stop extends Error {
  readonly at: number;
  readonly says: string;
  constructor(at: number, says: string) {
    super(says);
    this.at = at;
    this.says = says;
  }
}

/** Finds the first fault of a text that `JSON.parse` refused; `undefined` when this scanner finds none. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  try {
    const end = skip(text, value(text, skip(text, 0), 0));
    if (end < text.length) throw new Stop(end, `${shown(text, end)} after the end of the document`);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    if (!(error instanceof Stop)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, says: error.says };
  }
}

/** Why a text that is JSON is nested too deeply to be walked through; undefined when it is not. */
export function depthFault(text: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = string(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > DEEPEST) return `nested deeper than ${DEEPEST} levels`;
  }
  return undefined;
}

function value(text: string, at: number, depth: number): number {
  if (depth > DEEPEST) throw new Stop(at, `nested deeper than ${DEEPEST} levels`);
  if (text[at] === '{') return members(text, at + 1, '}', depth, pair);
  if (text[at] === '[') return members(text, at + 1, ']', depth, value);
  if (text[at] === '"') return string(text, at);
  for (const pattern of [NUMBER, WORD]) {
    const end = match(pattern, text, at);
    if (end > at) return end;
  }
  throw new Stop(at, `${shown(text, at)} where a value should be`);
}

/** Steps over plain runs and escapes in turn: one expression for both would backtrack without end. */
function string(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    at = match(PLAIN, text, at);
    if (text[at] === '"') return at + 1;
    const end = match(ESCAPE, text, at);
    if (end === at) throw new Stop(start, 'a string that does not end, or holds a bad escape');
    at = end;
  }
}

function pair(text: string, at: number, depth: number): number {
  if (text[at] !== '"') throw new Stop(at, `${shown(text, at)} where a name in double quotes should be`);
  const colon = skip(text, string(text, at));
  if (text[colon] !== ':') throw new Stop(colon, `${shown(text, colon)} where ":" should be`);
  return value(text, skip(text, colon + 1), depth);
}

function members(
  text: string,
  start: number,
  close: string,
  depth: number,
  one: (text: string, at: number, depth: number) => number,
): number {
  let at = skip(text, start);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skip(text, one(text, at, depth + 1));
    if (text[at] === close) return at + 1;
    if (text[at] !== ',') throw new Stop(at, `${shown(text, at)} where "," or "${close}" should be`);
    at = skip(text, at + 1);
  }
}

function skip(text: string, at: number): number {
  return match(SPACE, text, at);
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function shown(text: string, at: number): string {
  return at >= text.length ? 'the end of the file' : JSON.stringify(text[at]);
}

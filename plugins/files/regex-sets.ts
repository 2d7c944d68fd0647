/** Whether a code point belongs to a set. */
export type CharTest = (code: number) => boolean;

const isDigit: CharTest = (code) => code >= 48 && code <= 57;
const isUpper: CharTest = (code) => code >= 65 && code <= 90;
const isLower: CharTest = (code) => code >= 97 && code <= 122;
const isSpace: CharTest = (code) => code === 32 || (code >= 9 && code <= 13) || (code > 127 && /\s/.test(String.fromCodePoint(code)));

/** Letters, digits and `_` of ASCII. */
export const isWordCode: CharTest = (code) => isLower(code) || isDigit(code) || isUpper(code) || code === 95;

const SHORTHANDS: Readonly<Record<string, CharTest>> = {
  d: isDigit,
  D: (code) => !isDigit(code),
  w: isWordCode,
  W: (code) => !isWordCode(code),
  s: isSpace,
  S: (code) => !isSpace(code),
};

const NAMED: Readonly<Record<string, CharTest>> = {
  digit: isDigit,
  upper: isUpper,
  lower: isLower,
  alpha: (code) => isUpper(code) || isLower(code),
  alnum: (code) => isUpper(code) || isLower(code) || isDigit(code),
  space: isSpace,
  blank: (code) => code === 32 || code === 9,
  punct: (code) => code > 32 && code < 127 && !(isUpper(code) || isLower(code) || isDigit(code)),
  xdigit: (code) => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102),
};

/** The set of `\d`, `\W` and the like. */
export function shorthandSet(letter: string): CharTest | undefined {
  return Object.hasOwn(SHORTHANDS, letter) ? SHORTHANDS[letter] : undefined;
}

/** The set of `[:alpha:]` and the like. */
export function namedSet(name: string): CharTest | undefined {
  return Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
}

/** The set of `\p{…}`. */
export function propertySet(name: string): CharTest | undefined {
  try {
    const one = new RegExp(`^\\p{${name}}$`, 'u');
    return (code) => one.test(String.fromCodePoint(code));
  } catch {
    return undefined;
  }
}

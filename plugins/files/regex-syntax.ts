import { type CharTest, namedSet, propertySet, shorthandSet } from './regex-sets.ts';

export type Assertion = 'start' | 'end' | 'word' | 'not_word';

/** A parsed pattern. */
export type RegexNode =
  | { readonly kind: 'char'; readonly test: CharTest }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly min: number; readonly max: number };

/** A pattern that cannot be used; the message says why and what to write instead. */
export class PatternError extends Error {}

export const MAX_REPEAT = 1000;
const MAX_NESTING = 100;
const ESCAPED: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, a: 7, '0': 0 };
const ASSERTIONS: Readonly<Record<string, Assertion>> = { b: 'word', B: 'not_word', A: 'start', z: 'end', Z: 'end' };

/** Parses the usual syntax of regular expressions, without look-around and back-references, which cannot be matched in linear time. */
export function parseRegex(pattern: string): RegexNode {
  const flags = /^\(\?([a-z]+)\)/.exec(pattern);
  if (flags && !/^[ims]+$/.test(flags[1] ?? ''))
    throw new PatternError(`unsupported flags ${flags[0]}; only (?i), (?m) and (?s) are known`);
  const reader = new Reader([...pattern.slice(flags?.[0].length ?? 0)], flags?.[1]?.includes('i') ?? false);
  const node = reader.choice(0);
  if (!reader.atEnd()) throw new PatternError('unbalanced ")"; write "\\)" for the character itself');
  return node;
}

class Reader {
  private readonly characters: readonly string[];
  private readonly ignoreCase: boolean;
  private at = 0;

  constructor(characters: readonly string[], ignoreCase: boolean) {
    this.characters = characters;
    this.ignoreCase = ignoreCase;
  }

  atEnd(): boolean {
    return this.at >= this.characters.length;
  }

  choice(nesting: number): RegexNode {
    if (nesting > MAX_NESTING) throw new PatternError(`groups are nested more than ${MAX_NESTING} deep`);
    const items = [this.sequence(nesting)];
    while (this.take('|')) items.push(this.sequence(nesting));
    return items.length === 1 && items[0] ? items[0] : { kind: 'choice', items };
  }

  private sequence(nesting: number): RegexNode {
    const items: RegexNode[] = [];
    while (!this.atEnd() && this.peek() !== '|' && this.peek() !== ')') items.push(this.repeated(this.atom(nesting)));
    return { kind: 'sequence', items };
  }

  private repeated(item: RegexNode): RegexNode {
    let node = item;
    for (let range = this.quantifier(); range; range = this.quantifier()) {
      node = { kind: 'repeat', item: node, min: range[0], max: range[1] };
      // Lazy and possessive: whether a line matches does not depend on them.
      if (!this.take('?')) this.take('+');
    }
    return node;
  }

  private quantifier(): readonly [number, number] | undefined {
    if (this.take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.take('?')) return [0, 1];
    const counted = this.peek() === '{' ? /^\{(\d*)(,?)(\d*)\}/.exec(this.characters.slice(this.at, this.at + 20).join('')) : null;
    if (!counted || (counted[1] === '' && counted[3] === '')) return undefined;
    this.at += counted[0].length;
    const min = Number(counted[1] || 0);
    const max = counted[2] === '' ? min : counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]);
    if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && (max > MAX_REPEAT || max < min))) {
      throw new PatternError(`bad repeat ${counted[0]}; counts go from small to large, up to ${MAX_REPEAT}`);
    }
    return [min, max];
  }

  private atom(nesting: number): RegexNode {
    const character = this.next();
    if (character === '(') return this.group(nesting);
    if (character === '[') return { kind: 'char', test: this.set() };
    if (character === '.') return { kind: 'char', test: (code) => code !== 10 };
    if (character === '^') return { kind: 'assert', what: 'start' };
    if (character === '$') return { kind: 'assert', what: 'end' };
    if (character === '*' || character === '+' || character === '?') {
      throw new PatternError(`"${character}" has nothing to repeat; write "\\${character}" for the character itself`);
    }
    return character === '\\' ? this.escape() : this.literal(character.codePointAt(0) ?? 0);
  }

  private group(nesting: number): RegexNode {
    const rest = this.characters.slice(this.at, this.at + 80).join('');
    const opening = /^\?(?::|P?<[A-Za-z_]\w*>)/.exec(rest);
    if (opening) this.at += opening[0].length;
    else if (rest.startsWith('?')) {
      throw new PatternError(
        `"(${rest.slice(0, 3)}" is not supported: look-around and inline flags are out; use a plain group, or (?i) at the very start`,
      );
    }
    const node = this.choice(nesting + 1);
    if (!this.take(')')) throw new PatternError('missing ")"; write "\\(" for the character itself');
    return node;
  }

  private escape(): RegexNode {
    const letter = this.peek();
    const assertion = letter === undefined ? undefined : ASSERTIONS[letter];
    if (assertion) {
      this.at += 1;
      return { kind: 'assert', what: assertion };
    }
    const set = this.escapedSet();
    return typeof set === 'number' ? this.literal(set) : { kind: 'char', test: set };
  }

  /** After a backslash: a set, or the code of one character. */
  private escapedSet(): CharTest | number {
    if (this.atEnd()) throw new PatternError('it ends with a lone "\\"');
    const letter = this.next();
    const shorthand = shorthandSet(letter);
    if (shorthand) return shorthand;
    if (letter === 'p' || letter === 'P') return this.property(letter === 'P');
    if (letter === 'x' || letter === 'u') return this.hex(letter);
    const code = ESCAPED[letter];
    if (code !== undefined) return code;
    if (/[1-9]/.test(letter) || letter === 'k') throw new PatternError(`back-reference "\\${letter}" is not supported; spell the text out`);
    if (/[A-Za-z]/.test(letter)) throw new PatternError(`unknown escape "\\${letter}"`);
    return letter.codePointAt(0) ?? 0;
  }

  private property(negated: boolean): CharTest {
    const rest = this.characters.slice(this.at, this.at + 60).join('');
    const name = /^\{([\w=]+)\}|^([A-Z])/.exec(rest);
    const set = name && propertySet(name[1] ?? name[2] ?? '');
    if (!name || !set) throw new PatternError(`unknown character property in "\\p${rest.slice(0, 12)}"`);
    this.at += name[0].length;
    return negated ? (code) => !set(code) : set;
  }

  private hex(letter: string): number {
    const rest = this.characters.slice(this.at, this.at + 10).join('');
    const digits = letter === 'x' ? /^([0-9a-f]{2})/i.exec(rest) : /^(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})/i.exec(rest);
    if (!digits) throw new PatternError(`"\\${letter}" wants hexadecimal digits after it`);
    this.at += digits[0].length;
    return Number.parseInt(digits[1] ?? digits[2] ?? '0', 16);
  }

  private set(): CharTest {
    const negated = this.take('^');
    const tests: CharTest[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.atEnd()) throw new PatternError('missing "]"; write "\\[" for the character itself');
      tests.push(this.setItem());
    }
    this.at += 1;
    const any = this.folded((code) => tests.some((test) => test(code)));
    return negated ? (code) => !any(code) : any;
  }

  private setItem(): CharTest {
    const posix = /^\[:(\w+):\]/.exec(this.characters.slice(this.at, this.at + 14).join(''));
    const named = posix && namedSet(posix[1] ?? '');
    if (posix && named) {
      this.at += posix[0].length;
      return named;
    }
    const from = this.setEnd();
    if (typeof from !== 'number') return from;
    if (this.peek() !== '-' || this.characters[this.at + 1] === ']' || this.at + 1 >= this.characters.length)
      return (code) => code === from;
    this.at += 1;
    const to = this.setEnd();
    if (typeof to !== 'number') return (code) => code === from || code === 45 || to(code);
    if (to < from) throw new PatternError('a range in "[…]" runs backwards');
    return (code) => from <= code && code <= to;
  }

  private setEnd(): CharTest | number {
    const character = this.next();
    if (character !== '\\') return character.codePointAt(0) ?? 0;
    return this.take('b') ? 8 : this.escapedSet();
  }

  private literal(wanted: number): RegexNode {
    return { kind: 'char', test: this.folded((code) => code === wanted) };
  }

  /** With (?i), a character also matches as its upper and lower case. */
  private folded(test: CharTest): CharTest {
    if (!this.ignoreCase) return test;
    return (code) => {
      if (test(code)) return true;
      const character = String.fromCodePoint(code);
      return test(character.toLowerCase().codePointAt(0) ?? 0) || test(character.toUpperCase().codePointAt(0) ?? 0);
    };
  }

  private peek(): string | undefined {
    return this.characters[this.at];
  }

  private next(): string {
    const character = this.characters[this.at] ?? '';
    this.at += 1;
    return character;
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }
}

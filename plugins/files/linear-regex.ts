import { type CharTest, isWordCode } from './regex-sets.ts';
import { type Assertion, PatternError, parseRegex, type RegexNode } from './regex-syntax.ts';

/** Says whether a stretch of text matches somewhere. */
export interface LineMatcher {
  /** Whether `text` between `from` and `to` matches, taken as a line of its own. Throws {@link PatternTooCostly} when its allowance is used up. */
  test(text: string, from: number, to: number): boolean;
  /** Gives a fresh allowance, for the next file. */
  refill(): void;
}

/** Matching one file took more steps than it may. */
export class PatternTooCostly extends Error {}

type Instruction =
  | { readonly op: 'char'; readonly test: CharTest; readonly next: number }
  | { readonly op: 'split'; readonly next: readonly number[] }
  | { readonly op: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly op: 'match' };

/** What lies before or after a position. */
type Side = 'edge' | 'word' | 'other';

/** A set of places in the program, reached after some text. Its successors are found once and kept. */
interface State {
  readonly places: readonly number[];
  readonly before: Side;
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
  atEnd: boolean | undefined;
}

const MAX_PATTERN_CHARS = 1000;
const MAX_INSTRUCTIONS = 4000;
const MAX_KEPT_STATES = 2000;
const MAX_KEPT_SUCCESSORS = 100_000;
/** Program places visited for one file; a common pattern needs a few thousand. */
const ALLOWANCE = 8_000_000;

/**
 * Compiles a pattern to a matcher whose time grows with the text alone, whatever the pattern: all
 * ways to match are followed at once, and sets of them are remembered. Throws {@link PatternError}.
 */
export function compileLinearRegex(pattern: string): LineMatcher {
  if (pattern.length > MAX_PATTERN_CHARS) throw new PatternError(`it has ${pattern.length} characters, the limit is ${MAX_PATTERN_CHARS}`);
  return createMatcher(assemble(parseRegex(pattern)));
}

interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

function assemble(root: RegexNode): Program {
  const instructions: Instruction[] = [];
  const add = (instruction: Instruction): number => {
    if (instructions.length >= MAX_INSTRUCTIONS) throw new PatternError('it is too large once its counted repeats are written out');
    return instructions.push(instruction) - 1;
  };
  /** Puts down what matches `node` and then goes on at `next`. Returns where it begins. */
  const put = (node: RegexNode, next: number): number => {
    if (node.kind === 'char') return add({ op: 'char', test: node.test, next });
    if (node.kind === 'assert') return add({ op: 'assert', what: node.what, next });
    if (node.kind === 'choice') return add({ op: 'split', next: node.items.map((item) => put(item, next)) });
    if (node.kind === 'sequence') return node.items.reduceRight((after, item) => put(item, after), next);
    return putRepeat(node.item, node.min, node.max, next);
  };
  const putRepeat = (item: RegexNode, min: number, max: number, next: number): number => {
    let begin = next;
    if (max === Number.POSITIVE_INFINITY) {
      const ways: number[] = [];
      begin = add({ op: 'split', next: ways });
      ways.push(put(item, begin), next);
    } else {
      for (let count = min; count < max; count += 1) begin = add({ op: 'split', next: [put(item, begin), next] });
    }
    for (let count = 0; count < min; count += 1) begin = put(item, begin);
    return begin;
  };
  const match = add({ op: 'match' });
  const start = put(root, match);
  return { instructions, start };
}

function createMatcher({ instructions, start }: Program): LineMatcher {
  const states = new Map<string, State>();
  let successors = 0;
  let allowance = ALLOWANCE;

  const stateOf = (places: readonly number[], before: Side): State => {
    const key = `${before} ${places.join(' ')}`;
    const known = states.get(key);
    if (known) return known;
    if (states.size >= MAX_KEPT_STATES || successors >= MAX_KEPT_SUCCESSORS) forget();
    const state: State = { places, before, ascii: [], others: new Map(), atEnd: undefined };
    states.set(key, state);
    return state;
  };
  const forget = () => {
    for (const state of states.values()) {
      state.ascii.length = 0;
      state.others.clear();
    }
    states.clear();
    successors = 0;
  };

  /** The character instructions that can come next, or undefined when the match is complete. */
  const reachable = (places: readonly number[], before: Side, after: Side): readonly number[] | undefined => {
    const seen = new Set<number>(places);
    const waiting = [...places];
    const found: number[] = [];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const instruction = instructions[place];
      allowance -= 1;
      if (!instruction || instruction.op === 'match') return undefined;
      if (instruction.op === 'char') found.push(place);
      else if (instruction.op === 'split' || holds(instruction.what, before, after)) {
        for (const next of instruction.op === 'split' ? instruction.next : [instruction.next]) {
          if (!seen.has(next)) waiting.push(next);
          seen.add(next);
        }
      }
    }
    if (allowance < 0) throw new PatternTooCostly();
    return found;
  };

  const matched: State = { places: [], before: 'edge', ascii: [], others: new Map(), atEnd: true };

  const advance = (state: State, code: number): State => {
    const side: Side = isWordCode(code) ? 'word' : 'other';
    const open = reachable(state.places, state.before, side);
    if (!open) return matched;
    const next = new Set<number>([start]);
    for (const place of open) {
      const instruction = instructions[place];
      if (instruction?.op === 'char' && instruction.test(code)) next.add(instruction.next);
    }
    return stateOf(
      [...next].sort((a, b) => a - b),
      side,
    );
  };

  const successor = (state: State, code: number): State => {
    const known = code < 128 ? state.ascii[code] : state.others.get(code);
    if (known) return known;
    const next = advance(state, code);
    successors += 1;
    if (code < 128) state.ascii[code] = next;
    else state.others.set(code, next);
    return next;
  };

  return {
    test(text, from, to) {
      let state = stateOf([start], 'edge');
      for (let at = from; at < to; at += 1) {
        let code = text.charCodeAt(at);
        if (code >= 0xd800 && code <= 0xdbff && at + 1 < to) {
          code = text.codePointAt(at) ?? code;
          if (code > 0xffff) at += 1;
        }
        state = (code < 128 ? state.ascii[code] : undefined) ?? successor(state, code);
        if (state === matched) return true;
      }
      state.atEnd ??= reachable(state.places, state.before, 'edge') === undefined;
      return state.atEnd;
    },
    refill() {
      allowance = ALLOWANCE;
    },
  };
}

function holds(what: Assertion, before: Side, after: Side): boolean {
  if (what === 'start') return before === 'edge';
  if (what === 'end') return after === 'edge';
  const atBoundary = (before === 'word') !== (after === 'word');
  return atBoundary === (what === 'word');
}

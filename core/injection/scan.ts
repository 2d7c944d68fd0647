import { displayText } from '../approvals/display.ts';
import { FOREIGN_HINT } from './languages.ts';
import { decodedParts } from './layers.ts';
import { flattened, folded, unescaped, withoutUnseen } from './normalise.ts';
import { FOREIGN_RULES, type InjectionRule, MARK_RULES, WORD_RULES } from './rules.ts';
import { hiddenCharacters } from './unseen.ts';

/** Something in a text that reads like an attempt to give a model orders. */
export interface InjectionHit {
  /**
   * `override`, `exfiltration`, `concealment`, `chat_token`, `beacon`, `invisible`, `homoglyph`, or
   * `encoded_command` (only with `decodeLayers`).
   */
  readonly rule: string;
  /** The place, flattened to one line, hidden characters as escapes; at most 160 characters. Begins with `base64: ` or `hex: ` when it was decoded. */
  readonly excerpt: string;
}

export interface ScanOptions {
  /** Characters (UTF-16 units) that are looked at, from the beginning; default and most 262,144. */
  readonly maxChars?: number;
  /** 1: parts that are base64 or hex text are decoded once and looked at too. Default 0. */
  readonly decodeLayers?: 0 | 1;
}

/** Characters that are looked at where nothing else is said. */
export const MAX_SCANNED_CHARS = 262_144;
const MAX_EXCERPT = 160;
const MAX_MATCH = 120;
const AROUND = 12;

const COMMAND =
  /(?:curl|wget|nc|ncat|bash|sh|zsh|python3?|perl|ruby|node|eval|chmod|rm -[rf]{1,2}|powershell|IEX)\b[^\n]{0,120}?(?:https?:\/\/|\/dev\/tcp\/|-e |-c |\| ?(?:ba|z)?sh|\+x|~\/|\$HOME|\/etc\/|\$\()/u;
/** Words whose disguise is telling by itself. */
const TELLING =
  /(?<![\p{L}\p{N}])(?:ignore|disregard|forget|override|previous|instructions?|system|prompt|assistant|password|secrets?|credentials?|execute|exfiltrate|admin|bypass|developer)(?![\p{L}\p{N}])/giu;

function excerptAt(text: string, at: number, length: number): string {
  const from = Math.max(0, at - AROUND);
  const part = text
    .slice(from, at + Math.min(length, MAX_MATCH) + AROUND)
    .toWellFormed()
    .trim();
  return displayText(part, MAX_EXCERPT).slice(0, MAX_EXCERPT);
}

/** Adds the first match of each rule that has no hit yet. */
function applyRules(rules: readonly InjectionRule[], text: string, hits: Map<string, string>): void {
  for (const { rule, pattern } of rules) {
    if (hits.has(rule)) continue;
    const match = pattern.exec(text);
    if (match !== null) hits.set(rule, excerptAt(text, match.index, match[0].length));
  }
}

/** Words that are telling once their letters are folded, and were not before. */
function disguised(plain: string, text: string): string | undefined {
  if (plain === text) return undefined;
  const open = new Map<string, number>();
  const count = (word: string, by: number) => open.set(word, (open.get(word) ?? 0) + by);
  for (const match of plain.matchAll(TELLING)) count(match[0].toLowerCase(), 1);
  for (const match of text.matchAll(TELLING)) {
    const word = match[0].toLowerCase();
    count(word, -1);
    if ((open.get(word) ?? 0) < 0) return excerptAt(text, match.index, word.length);
  }
  return undefined;
}

function scanOnce(text: string): Map<string, string> {
  const hits = new Map<string, string>();
  const hidden = hiddenCharacters(text);
  if (hidden !== undefined) hits.set('invisible', excerptAt(text, hidden, 8));
  const seen = withoutUnseen(unescaped(text));
  const plain = flattened(seen);
  applyRules(WORD_RULES, plain, hits);
  if (FOREIGN_HINT.test(plain)) applyRules(FOREIGN_RULES, plain, hits);
  applyRules(MARK_RULES, seen, hits);
  const latin = flattened(folded(seen));
  if (latin === plain) return hits;
  const before = hits.size;
  applyRules(WORD_RULES, latin, hits);
  const word = disguised(plain, latin);
  if (word !== undefined) hits.set('homoglyph', word);
  else if (hits.size > before) hits.set('homoglyph', [...hits.values()].at(-1) ?? '');
  return hits;
}

/**
 * Looks for text that tries to give a model orders: override phrases in many languages, requests to
 * send secrets away or to keep something from the user, forged chat tokens, exfiltration beacons,
 * invisible characters and letters that only look like Latin ones. At most one hit a rule. Rules see
 * words only, so a hit is a reason to look, not a proof, and no hit proves nothing.
 *
 * Linear in what is looked at.
 */
export function scanInjection(text: string, options: ScanOptions = {}): readonly InjectionHit[] {
  const max = Math.min(options.maxChars ?? MAX_SCANNED_CHARS, MAX_SCANNED_CHARS);
  const part = text.length > max ? text.slice(0, max) : text;
  const hits = [...scanOnce(part)].map(([rule, excerpt]): InjectionHit => ({ rule, excerpt }));
  if (options.decodeLayers !== 1) return hits;
  const known = new Set(hits.map((hit) => hit.rule));
  for (const { encoding, text: decoded } of decodedParts(part)) {
    const inner = scanOnce(decoded);
    const command = COMMAND.exec(decoded);
    if (command !== null) inner.set('encoded_command', excerptAt(flattened(decoded), Math.max(0, command.index), command[0].length));
    for (const [rule, excerpt] of inner) {
      if (known.has(rule)) continue;
      known.add(rule);
      hits.push({ rule, excerpt: `${encoding}: ${excerpt}`.slice(0, MAX_EXCERPT) });
    }
  }
  return hits;
}

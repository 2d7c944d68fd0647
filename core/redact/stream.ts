import { REDACTION_REACH, type Redactor } from './redactor.ts';

/** Redacts a text that arrives in pieces. */
export interface RedactedStream {
  /** What can be shown by now; it may lag behind by the word that is not whole yet. */
  push(piece: string): string;
  /** What was held back. The stream may then be used for another text. */
  end(): string;
}

/** So much of what was shown is looked at again, because a name in front of a value tells that it is secret. */
const CONTEXT = 96;
/** Larger than most secrets, so that one of a few cuts falls into none. */
const CUT_STEP = 1021;
const KEY_BEGINS = '-----BEGIN ';
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}-----/;

/** Behind the last character that no secret holds. */
function boundary(text: string): number {
  let at = text.length;
  // Half a character has to wait for its other half.
  if (/[\ud800-\udbff]$/.test(text)) return at - 1;
  while (at > 0 && text.charCodeAt(at - 1) > 0x20 && text.charCodeAt(at - 1) < 0x7f) at -= 1;
  return at;
}

/** Where a run that never ends can be cut: at least a reach before its end, and inside no secret. */
function cutLength(held: string, redactor: Redactor): number {
  const all = redactor.text(held);
  for (let at = held.length - REDACTION_REACH; at > 0; at -= CUT_STEP) {
    if (redactor.text(held.slice(0, at)) + redactor.text(held.slice(at)) === all) return at;
  }
  return held.length;
}

/** Up to the last word, and not into a private key that has not ended. */
function endOfWhole(held: string, redactor: Redactor): number {
  const whole = redactor.cut(held, boundary(held));
  const key = held.lastIndexOf(KEY_BEGINS);
  if (key === -1) return whole;
  const end = KEY_ENDS.exec(held.slice(key));
  return end !== null && key + end.index + end[0].length <= whole ? whole : Math.min(key, whole);
}

/** How much of `held` can go: what is whole, and of a run that does not end the part that is far enough from its end. */
function wholeLength(held: string, redactor: Redactor): number {
  const whole = endOfWhole(held, redactor);
  return held.length - whole > 2 * REDACTION_REACH ? cutLength(held, redactor) : whole;
}

/**
 * Holds back the last run of visible ASCII, which may be the beginning of a secret, what may be the
 * beginning of a known value with spaces in it, and a private key until its end; at most 64 Ki characters.
 */
export function createRedactedStream(redactor: Redactor): RedactedStream {
  let held = '';
  let context = '';

  const release = (length: number): string => {
    const ready = held.slice(0, length);
    held = held.slice(length);
    if (ready === '') return '';
    const before = redactor.text(context);
    const all = redactor.text(context + ready);
    const recent = (context + ready).slice(-CONTEXT);
    // Whole words only: a part of one could look like something else.
    context = recent.length < CONTEXT ? recent : recent.slice(recent.search(/\s|$/));
    return all.startsWith(before) ? all.slice(before.length) : redactor.text(ready);
  };

  return {
    push: (piece) => {
      held += piece;
      return release(wholeLength(held, redactor));
    },
    end: () => {
      const rest = release(held.length);
      context = '';
      return rest;
    },
  };
}

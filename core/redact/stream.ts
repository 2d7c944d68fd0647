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

/** How much of `held` is whole: up to its last word, and not into a private key that has not ended. */
function wholeLength(held: string): number {
  if (held.length > REDACTION_REACH) return held.length;
  const whole = boundary(held);
  const key = held.lastIndexOf(KEY_BEGINS);
  if (key === -1) return whole;
  const end = KEY_ENDS.exec(held.slice(key));
  return end !== null && key + end.index + end[0].length <= whole ? whole : Math.min(key, whole);
}

/**
 * Holds back the last run of visible ASCII, which may be the beginning of a secret, and a private key
 * until its end; at most 32 Ki characters. A known value with a space in it is not found this way
 * when it is cut there; what is stored is redacted whole and does not depend on this.
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
      return release(wholeLength(held));
    },
    end: () => {
      const rest = release(held.length);
      context = '';
      return rest;
    },
  };
}

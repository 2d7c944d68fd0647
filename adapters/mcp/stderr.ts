import { StringDecoder } from 'node:string_decoder';
import type { Redaction } from './process-trees.ts';

const TAIL_BYTES = 8 * 1024;
const MAX_LINE = 4096;
/** Lines are shown up to this rate; the rest is counted. */
const SHOWN_CHARS = 64 * 1024;
const SHOWN_WINDOW_MS = 1000;

export interface StderrReader {
  push(chunk: Uint8Array): void;
  end(): void;
  /** Redacted, at most 8 KiB. */
  tail(): string;
}

/**
 * Reads a child's standard error for ever: keeps the last of it and shows it by lines, both redacted. What is cut
 * off is cut so that no part of a secret stays.
 */
export function createStderrReader(redaction: Redaction, show: (line: string) => void): StderrReader {
  const decoder = new StringDecoder('utf8');
  const keep = TAIL_BYTES + redaction.reach;
  let kept = '';
  let cut = false;
  let line = '';
  let dropped = false;
  let windowEnd = 0;
  let room = SHOWN_CHARS;
  let skipped = 0;

  const showLine = (text: string): void => {
    const now = performance.now();
    if (now >= windowEnd) {
      windowEnd = now + SHOWN_WINDOW_MS;
      room = SHOWN_CHARS;
      if (skipped > 0) show(`[${skipped} lines were not shown]`);
      skipped = 0;
    }
    if (room <= 0) {
      skipped += 1;
      return;
    }
    const safe = redaction.text(text);
    const shown = safe.length > MAX_LINE ? `${safe.slice(0, MAX_LINE)} […]` : safe;
    room -= shown.length + 1;
    show(shown);
  };

  const extend = (part: string): void => {
    const space = MAX_LINE + redaction.reach - line.length;
    if (part.length > space) dropped = true;
    line += part.slice(0, Math.max(0, space));
  };

  const finishLine = (): void => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    line = '';
    if (text !== '' || dropped) showLine(text);
    dropped = false;
  };

  const add = (text: string): void => {
    kept += text;
    if (kept.length > 2 * keep) {
      kept = kept.slice(-keep);
      cut = true;
    }
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      extend(text.slice(start, end));
      finishLine();
      start = end + 1;
    }
    extend(text.slice(start));
  };

  return {
    push: (chunk) => add(decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))),
    end() {
      add(decoder.end());
      if (line !== '') finishLine();
      if (skipped > 0) show(`[${skipped} lines were not shown]`);
      skipped = 0;
    },
    tail() {
      const whole = redaction.text(kept);
      // A secret that the cut went through is not recognised, and lies at the very beginning.
      return lastBytes(cut ? whole.slice(redaction.reach) : whole, TAIL_BYTES);
    },
  };
}

/** The end of a text, of at most so many bytes and beginning with a whole character. */
function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text.slice(-limit));
  if (bytes.length <= limit) return text.slice(-limit);
  let start = bytes.length - limit;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

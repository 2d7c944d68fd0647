import { CHAT_LIMITS } from '../../../ports/chat.ts';
import type { ChatEntity, ChatText } from '../../../ports/chat-message.ts';

/** A grapheme longer than this is cut. */
const MAX_GRAPHEME = 64;
/** Looked at before a place, to know where graphemes begin. */
const WINDOW = 256;

interface Range {
  readonly start: number;
  readonly end: number;
}

let segmenter: Intl.Segmenter | undefined;

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
const isInPair = (text: string, at: number): boolean => isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));

/** The last place up to `limit` where no grapheme is cut, or at least no surrogate pair. */
function graphemeEnd(text: string, from: number, limit: number): number {
  const whole = isInPair(text, limit) ? limit - 1 : limit;
  let start = Math.max(from, whole - WINDOW);
  if (start > from && isInPair(text, start)) start += 1;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let last = start;
  for (const { index } of segmenter.segment(text.slice(start, whole + MAX_GRAPHEME))) {
    if (start + index > whole) break;
    last = start + index;
  }
  return last > from && whole - last <= MAX_GRAPHEME ? last : Math.max(whole, from + 1);
}

function rangesOf(entities: readonly ChatEntity[]): readonly Range[] {
  return entities
    .filter(({ type }) => type === 'pre')
    .map(({ offset, length }) => ({ start: offset, end: offset + length }))
    .sort((one, other) => one.start - other.start);
}

const around = (ranges: readonly Range[], at: number): Range | undefined => ranges.find(({ start, end }) => start < at && at < end);

/** The last place in `(from, limit]` right after `mark` that `accept` takes. */
function lastAfter(text: string, mark: string, from: number, limit: number, accept: (at: number) => boolean): number | undefined {
  for (let at = text.lastIndexOf(mark, limit - mark.length); at >= from; at = text.lastIndexOf(mark, at - 1)) {
    if (at + mark.length > from && text.slice(from, at).trim() !== '' && accept(at + mark.length)) return at + mark.length;
    if (at === 0) break;
  }
  return undefined;
}

/** Best a blank line, then a line's end, both outside code; then a line's end in code, a space, a grapheme. */
function cutAt(text: string, ranges: readonly Range[], from: number, limit: number): number {
  const outside = (at: number): boolean => around(ranges, at) === undefined;
  return (
    lastAfter(text, '\n\n', from, limit, outside) ??
    lastAfter(text, '\n', from, limit, outside) ??
    lastAfter(text, '\n', from, limit, () => true) ??
    lastAfter(text, ' ', from, limit, () => true) ??
    graphemeEnd(text, from, limit)
  );
}

/** The part between two places, without the white space at its ends, which the service drops. */
function part({ text, entities }: ChatText, start: number, end: number): ChatText {
  const shown = text.slice(start, end);
  const first = start + (/^\s*\n/.exec(shown)?.[0].length ?? 0);
  const last = start + shown.trimEnd().length;
  const own = entities.flatMap((entity) => {
    const offset = Math.max(entity.offset, first);
    const length = Math.min(entity.offset + entity.length, last) - offset;
    return length > 0 ? [{ ...entity, offset: offset - first, length }] : [];
  });
  return { text: text.slice(first, Math.max(first, last)), entities: own };
}

/** As many units as come before the entity that would be one too many. */
function entityLimit(entities: readonly ChatEntity[], from: number): number {
  const open = entities.filter(({ offset, length }) => offset + length > from).sort((one, other) => one.offset - other.offset);
  const next = open[CHAT_LIMITS.entities];
  return next === undefined || next.offset <= from ? Number.POSITIVE_INFINITY : next.offset;
}

/**
 * Parts of at most `maxUnits` UTF-16 units and 100 entities; nothing but white space between them is lost. Code is cut only
 * where it is longer than a part, at the end of a line, and goes on as code.
 */
export function chunked(whole: ChatText, maxUnits: number = CHAT_LIMITS.text): readonly ChatText[] {
  const { text, entities } = whole;
  const ranges = rangesOf(entities);
  const parts: ChatText[] = [];
  for (let start = 0; start < text.length; ) {
    const limit = Math.min(start + Math.max(1, maxUnits), entityLimit(entities, start), text.length);
    const end = limit === text.length ? limit : cutAt(text, ranges, start, limit);
    const next = part(whole, start, end);
    if (next.text.trim() !== '') parts.push({ ...next, entities: next.entities.slice(0, CHAT_LIMITS.entities) });
    start = end;
  }
  return parts;
}

import { MIN_SECRET_LENGTH, type Needle } from './needles.ts';

/** Half-open ranges of UTF-16 units, sorted, not overlapping. */
type Ranges = readonly (readonly [start: number, end: number])[];

const WINDOW = MIN_SECRET_LENGTH;
const BLOCK = 3;
const TABLE_MASK = 0xffff;

function blockHash(a: number, b: number, c: number): number {
  return ((a * 0x1f35) ^ (b * 0x3d1) ^ c) & TABLE_MASK;
}

function isBase64Digit(code: number): boolean {
  return (
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 47 ||
    code === 45 ||
    code === 95
  );
}

function extend(text: string, start: number, needle: Needle): [number, number] {
  let from = start;
  let to = start + needle.text.length;
  if (needle.before === 1 && isBase64Digit(text.charCodeAt(from - 1))) from -= 1;
  if (needle.after === 1) {
    if (isBase64Digit(text.charCodeAt(to))) to += 1;
    while (text.charCodeAt(to) === 61 && to < start + needle.text.length + 3) to += 1;
  }
  return [from, to];
}

/**
 * A search for many literals at once that skips over text: the shift table tells for the last three
 * characters of an eight-character window how far the next possible start of any needle is. Time
 * does not grow with the number of needles.
 */
export function createKnownValueSearch(needles: readonly Needle[]): (text: string) => Ranges {
  const shifts = new Uint8Array(TABLE_MASK + 1).fill(WINDOW - BLOCK + 1);
  const buckets = new Map<number, Needle[]>();
  for (const needle of needles) {
    const { text } = needle;
    for (let end = BLOCK - 1; end < WINDOW; end += 1) {
      const hash = blockHash(text.charCodeAt(end - 2), text.charCodeAt(end - 1), text.charCodeAt(end));
      shifts[hash] = Math.min(shifts[hash] ?? 0, WINDOW - 1 - end);
      if (end === WINDOW - 1) buckets.set(hash, [...(buckets.get(hash) ?? []), needle]);
    }
  }

  return (text) => {
    const ranges: [number, number][] = [];
    for (let end = WINDOW - 1; end < text.length; ) {
      const hash = blockHash(text.charCodeAt(end - 2), text.charCodeAt(end - 1), text.charCodeAt(end));
      const shift = shifts[hash] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const start = end - WINDOW + 1;
      const needle = buckets.get(hash)?.find((candidate) => text.startsWith(candidate.text, start));
      if (needle !== undefined) addRange(ranges, extend(text, start, needle));
      end += 1;
    }
    return ranges;
  };
}

function addRange(ranges: [number, number][], [start, end]: [number, number]): void {
  const last = ranges.at(-1);
  if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
  else ranges.push([start, end]);
}

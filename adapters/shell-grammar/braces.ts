const MAX_OPTIONS = 64;
const RANGE = /^\{(-?\d{1,6}|.)\.\.(-?\d{1,6}|.)\}$/u;

/**
 * The words that braces stand for: `{a,b}`, `{1..3}`, `{a..c}`. Undefined when they hold quotes,
 * expansions, other braces or more than 64 words: nobody should guess what those become.
 */
export function braceOptions(text: string): readonly string[] | undefined {
  const range = RANGE.exec(text);
  if (range) return rangeOptions(range[1] ?? '', range[2] ?? '');
  const inner = text.slice(1, -1);
  if (/[{}'"\\$`*?[\]~]/.test(inner)) return undefined;
  const options = inner.split(',');
  return options.length >= 2 && options.length <= MAX_OPTIONS ? options : undefined;
}

function rangeOptions(from: string, to: string): readonly string[] | undefined {
  const numbers = /^-?\d+$/.test(from) && /^-?\d+$/.test(to);
  const first = numbers ? Number(from) : (from.codePointAt(0) ?? 0);
  const last = numbers ? Number(to) : (to.codePointAt(0) ?? 0);
  const count = Math.abs(last - first) + 1;
  if (count > MAX_OPTIONS) return undefined;
  const step = last >= first ? 1 : -1;
  return Array.from({ length: count }, (_, index) => {
    const value = first + index * step;
    return numbers ? String(value) : String.fromCodePoint(value);
  });
}

/** Places that a text names: addresses, absolute paths and files. */

/** Most places taken from one text, and kept in one set. */
export const MAX_RESOURCES = 4096;
const MAX_RESOURCE_CHARS = 1024;

/** An address, an absolute path, or `name.ext`. Each begins where nothing of its own kind stands before it, so the search is linear. */
const RESOURCE =
  /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'`<>\\^{}|]+|(?<![\w./~-])~?(?:\/[\w.@~+%-]+)+\/?|(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,9}\b/gi;
const TRAILING = /[.,);:\]]+$/;

/** The places in `text` as they are written, trailing `.,);` left out; the first 4096. */
export function resourcesIn(text: string): readonly string[] {
  const found = new Map<string, string>();
  for (const [match] of text.matchAll(RESOURCE)) {
    const place = match.slice(0, MAX_RESOURCE_CHARS).replace(TRAILING, '');
    if (place.length > 1 && !found.has(place.toLowerCase())) found.set(place.toLowerCase(), place);
    if (found.size >= MAX_RESOURCES) break;
  }
  return [...found.values()];
}

/** Whether a place is the source itself, or the end of its path. */
export function isSource(place: string, source: string): boolean {
  const own = source.toLowerCase();
  const named = place.toLowerCase();
  return own === named || own.endsWith(`/${named}`);
}

const MAX_STRINGS = 4096;

/** The strings of a tool's arguments, each on a line; the text itself where it is no JSON. */
export function argumentText(json: string): string {
  const strings: string[] = [];
  const pending: unknown[] = [];
  try {
    pending.push(JSON.parse(json));
  } catch {
    return json;
  }
  while (pending.length > 0 && strings.length < MAX_STRINGS) {
    const value = pending.pop();
    if (typeof value === 'string') strings.push(value);
    else if (typeof value === 'object' && value !== null) pending.push(...Object.values(value).slice(0, MAX_STRINGS));
  }
  return strings.join('\n');
}

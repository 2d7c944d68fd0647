/**
 * The envelope around everything that did not come from the operator or the user: tool results,
 * files, pages. Its tag holds a nonce, so that text inside cannot close it.
 */

const LITERAL = 'untrusted_content';
/** U+02CD instead of the underscore: reads the same, matches no tag. */
const NEUTRALISED = 'untrusted\u02cdcontent';
const MAX_SOURCE_LENGTH = 1024;

function sanitiseSource(source: string): string {
  return source
    .slice(0, MAX_SOURCE_LENGTH)
    .replaceAll('"', "'")
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll(/[\r\n\u2028\u2029]/g, ' ');
}

/** Text in which nothing reads as a tag of the wrapper; what {@link wrapUntrusted} does to a body. */
export function neutralised(text: string): string {
  return text.replaceAll(LITERAL, NEUTRALISED);
}

/**
 * Wraps `body` with the label `source` (cut to 1024 characters). `nonce` is 16 lower-case hex digits
 * from a random source, new for each call. Empty text is returned as it is.
 */
export function wrapUntrusted(body: string, source: string, nonce: string): string {
  if (body === '') return '';
  const inner = neutralised(body);
  const end = inner.endsWith('\n') ? '' : '\n';
  return `<${LITERAL}_${nonce} source="${sanitiseSource(source)}">\n${inner}${end}</${LITERAL}_${nonce}>`;
}

const OPEN_TAG = /<untrusted_content_([0-9a-f]+) source="([^"]*)">\n?/;

/**
 * The first wrapped part of `text`, without its wrapper and the line breaks beside its tags.
 * Undefined when there is none, or when its closing tag with the same nonce is missing.
 */
export function unwrapUntrusted(text: string): { readonly source: string; readonly body: string } | undefined {
  const open = OPEN_TAG.exec(text);
  if (open === null) return undefined;
  const [tag, nonce = '', source = ''] = open;
  const from = open.index + tag.length;
  const close = text.indexOf(`</${LITERAL}_${nonce}>`, from);
  if (close === -1) return undefined;
  const body = text.slice(from, close);
  return { source, body: body.endsWith('\n') ? body.slice(0, -1) : body };
}

/** One wrapped part of a text. */
export interface WrappedPart {
  readonly source: string;
  readonly body: string;
  /** With its tags. */
  readonly whole: string;
}

/** Most opening tags that are looked at in one text. */
const MAX_TAGS = 1024;

/** Every wrapped part of `text` whose tags carry the same nonce, in order; the first 1024 tags are looked at. A part inside a part belongs to the outer one. */
export function allWrapped(text: string): readonly WrappedPart[] {
  if (!text.includes(`<${LITERAL}_`)) return [];
  const parts: WrappedPart[] = [];
  const open = new RegExp(OPEN_TAG, 'g');
  for (let match = open.exec(text), tags = 0; match !== null && tags < MAX_TAGS; match = open.exec(text), tags += 1) {
    const [tag, nonce = '', source = ''] = match;
    const from = match.index + tag.length;
    const closing = `</${LITERAL}_${nonce}>`;
    const close = text.indexOf(closing, from);
    if (close === -1) continue;
    const end = close + closing.length;
    const body = text.slice(from, close);
    parts.push({ source, body: body.endsWith('\n') ? body.slice(0, -1) : body, whole: text.slice(match.index, end) });
    open.lastIndex = end;
  }
  return parts;
}

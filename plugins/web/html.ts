import { decodeEntities } from './entities.ts';

/** What can be followed or filled in on a page. */
export interface PageElement {
  readonly ref: string;
  readonly type: string;
  readonly text: string;
  /** Absolute, for links alone. */
  readonly url?: string;
}

export interface PageContent {
  readonly title: string;
  readonly content: string;
  readonly elements: readonly PageElement[];
}

const MAX_ELEMENTS = 500;
/** Characters of all elements' texts and addresses together. */
const MAX_ELEMENT_CHARS = 128 * 1024;
const MAX_LABEL_CHARS = 200;
const MAX_URL_CHARS = 2000;
/** Their content is not text of the page. */
const SKIPPED: ReadonlySet<string> = new Set(['script', 'style', 'template', 'iframe', 'svg', 'textarea']);
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo button cite code data del dfn em font i img input ins kbd label mark q s samp select small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);
const CONTROLS: ReadonlySet<string> = new Set(['button', 'input', 'select', 'textarea']);

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: ReadonlyMap<string, string>;
}

/** A link or button whose text is still being read. */
interface Open {
  readonly type: string;
  readonly url: string | undefined;
  text: string;
}

/** Reads a page in one pass, in time linear in its length. Nothing of it is run. */
export function readHtml(html: string, pageUrl: URL): PageContent {
  const elements: PageElement[] = [];
  const parts: string[] = [];
  let [base, title, spent] = [pageUrl, '', 0];
  let open: Open | undefined;
  const add = (type: string, text: string, url?: string): void => {
    const label = squeeze(text).trim().slice(0, MAX_LABEL_CHARS);
    spent += label.length + (url?.length ?? 0);
    if (elements.length === MAX_ELEMENTS || spent > MAX_ELEMENT_CHARS) return;
    elements.push({ ref: `e${elements.length + 1}`, type, text: label, ...(url !== undefined && { url }) });
  };
  const close = (): void => {
    if (open) add(open.type, open.text, open.url);
    open = undefined;
  };
  const onText = (raw: string): void => {
    const text = squeeze(decodeEntities(raw));
    parts.push(text);
    if (open && open.text.length < MAX_LABEL_CHARS) open.text += text;
  };
  const onTag = ({ name, isEnd, attributes }: Tag): void => {
    if (!INLINE.has(name)) parts.push('\n');
    if (name === 'a' || name === 'button') close();
    if (isEnd) return;
    if (name === 'base') base = URL.parse(attributes.get('href') ?? '', pageUrl.href) ?? base;
    else if (name === 'a') {
      const url = linkOf(attributes.get('href'), base);
      if (url !== undefined) open = { type: 'link', url, text: '' };
    } else if (name === 'button') open = { type: 'button', url: undefined, text: '' };
    else if (CONTROLS.has(name) && attributes.get('type') !== 'hidden') add(name, controlLabel(attributes));
  };
  scan(html, onText, onTag, (text) => {
    title ||= squeeze(decodeEntities(text)).trim().slice(0, MAX_LABEL_CHARS);
  });
  close();
  return { title, content: tidy(parts.join('')), elements };
}

function linkOf(href: string | undefined, base: URL): string | undefined {
  const url = href === undefined || href.length > MAX_URL_CHARS ? null : URL.parse(href, base.href);
  const isWeb = url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.href.length <= MAX_URL_CHARS;
  return isWeb ? url.href : undefined;
}

function controlLabel(attributes: ReadonlyMap<string, string>): string {
  const names = ['aria-label', 'placeholder', 'name', 'type'];
  return names.map((name) => attributes.get(name)).find((value) => value !== undefined && value !== '') ?? '';
}

/** Without control characters, each stretch of white space as one space. */
function squeeze(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ');
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => squeeze(line).trim())
    .filter((line) => line !== '')
    .join('\n');
}

type Take<Part> = (part: Part) => void;

function scan(html: string, onText: Take<string>, onTag: Take<Tag>, onTitle: Take<string>): void {
  for (let at = 0; at < html.length; ) {
    const start = html.indexOf('<', at);
    const text = html.slice(at, start < 0 ? html.length : start);
    if (text !== '') onText(text);
    if (start < 0) return;
    if (html.startsWith('<!--', start)) at = after(html, '-->', start + 4);
    else if (/[!?]/.test(html[start + 1] ?? '')) at = after(html, '>', start + 1);
    else if (!/[a-zA-Z/]/.test(html[start + 1] ?? '')) {
      onText('<');
      at = start + 1;
    } else {
      const { tag, end } = readTag(html, start);
      onTag(tag);
      at = end;
      if (!tag.isEnd && (tag.name === 'title' || SKIPPED.has(tag.name))) {
        at = endOfElement(html, tag.name, end);
        if (tag.name === 'title') onTitle(html.slice(end, at));
      }
    }
  }
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

function endOfElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?![a-z0-9-])`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** The tag that begins at `start`; an unfinished one takes all that is left. */
function readTag(html: string, start: number): { readonly tag: Tag; readonly end: number } {
  const head = /<(\/?)([a-zA-Z][^\s/>]{0,63})?/y;
  head.lastIndex = start;
  const [all = '<', slash = '', name = ''] = head.exec(html) ?? [];
  const attributes = new Map<string, string>();
  let at = start + all.length;
  while (at < html.length) {
    at = matchEnd(/[\s/=]*/y, html, at);
    if (html[at] === '>') break;
    const attribute = /([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/y;
    attribute.lastIndex = at;
    const found = attribute.exec(html);
    if (found === null) break;
    at = attribute.lastIndex;
    const key = (found[1] ?? '').toLowerCase();
    if (!attributes.has(key)) attributes.set(key, decodeEntities(found[2] ?? found[3] ?? found[4] ?? ''));
  }
  return { tag: { name: name.toLowerCase(), isEnd: slash !== '', attributes }, end: Math.min(html.length, at + 1) };
}

function matchEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return Math.max(from, pattern.lastIndex);
}

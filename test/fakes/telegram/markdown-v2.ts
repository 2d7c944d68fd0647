/** MarkdownV2 as the Bot API reads it: what is not well-formed is refused, with the service's own words. */

export interface WireEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

export class MarkupFault extends Error {}

const RESERVED = '_*[]()~`>#+-=|{}.!';
const MARKS: readonly (readonly [mark: string, type: string])[] = [
  ['||', 'spoiler'],
  ['__', 'underline'],
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strikethrough'],
];

interface Open {
  readonly mark: string;
  readonly type: string;
  readonly at: number;
  readonly offset: number;
}

/** @throws {MarkupFault} with the text after "can't parse entities: ". */
export function parseMarkdownV2(source: string): { readonly text: string; readonly entities: readonly WireEntity[] } {
  const entities: WireEntity[] = [];
  const open: Open[] = [];
  let text = '';
  let at = 0;

  const closing = (start: number, mark: string, name: string): string => {
    let inner = '';
    for (let index = start; index < source.length; index += 1) {
      if (source.startsWith(mark, index)) {
        at = index + mark.length;
        return inner;
      }
      if (source[index] === '\\' && index + 1 < source.length) index += 1;
      inner += source[index];
    }
    throw new MarkupFault(`Can't find end of ${name} entity at byte offset ${Buffer.byteLength(source.slice(0, start - mark.length))}`);
  };

  const literal = (mark: string, name: string): void => {
    const offset = text.length;
    let inner = closing(at + mark.length, mark, name);
    const language = mark === '```' ? /^[^\s`]+(?=\n)/.exec(inner)?.[0] : undefined;
    if (mark === '```') inner = inner.slice(language?.length ?? 0).replace(/^\n/, '');
    text += inner;
    entities.push({ type: mark === '```' ? 'pre' : 'code', offset, length: inner.length, ...(language !== undefined && { language }) });
  };

  const closeLink = (link: Open): void => {
    if (source[at + 1] !== '(') throw new MarkupFault(`Character ']' is reserved and must be escaped with the preceding '\\'`);
    const url = closing(at + 2, ')', 'a URL');
    entities.push({ type: 'text_link', offset: link.offset, length: text.length - link.offset, url });
  };

  while (at < source.length) {
    const character = source[at] ?? '';
    const last = open.at(-1);
    if (character === '\\' && at + 1 < source.length && source.charCodeAt(at + 1) <= 126) {
      text += source[at + 1];
      at += 2;
      continue;
    }
    if (source.startsWith('```', at)) {
      literal('```', 'PreCode');
      continue;
    }
    if (character === '`') {
      literal('`', 'Code');
      continue;
    }
    if (character === '[') {
      open.push({ mark: '[', type: 'text_link', at, offset: text.length });
      at += 1;
      continue;
    }
    if (character === ']' && last?.mark === '[') {
      open.pop();
      closeLink(last);
      continue;
    }
    if (character === '>' && (at === 0 || source[at - 1] === '\n')) {
      at += 1;
      continue;
    }
    const mark = MARKS.find(([each]) => source.startsWith(each, at));
    if (mark !== undefined) {
      if (last?.mark === mark[0]) {
        open.pop();
        entities.push({ type: mark[1], offset: last.offset, length: text.length - last.offset });
      } else open.push({ mark: mark[0], type: mark[1], at, offset: text.length });
      at += mark[0].length;
      continue;
    }
    if (RESERVED.includes(character)) {
      throw new MarkupFault(`Character '${character}' is reserved and must be escaped with the preceding '\\'`);
    }
    text += character;
    at += 1;
  }
  const left = open.at(-1);
  if (left !== undefined) {
    const name = left.type === 'text_link' ? 'TextUrl' : `${left.type[0]?.toUpperCase()}${left.type.slice(1)}`;
    throw new MarkupFault(`Can't find end of ${name} entity at byte offset ${Buffer.byteLength(source.slice(0, left.at))}`);
  }
  return { text, entities };
}

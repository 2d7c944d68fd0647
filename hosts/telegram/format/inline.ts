import type { Token, Tokens } from 'marked';
import type { ChatEntityType } from '../../../ports/chat-message.ts';
import type { TextBuilder } from './builder.ts';

/** Nesting beyond this is shown as source. */
const MAX_DEPTH = 16;
const MAX_URL = 2048;
/** What the service makes a link of; anything else it would refuse or drop. */
const LINK = /^(https?:\/\/[^\s/?#]|tg:\/\/|mailto:\S)/i;

interface Way {
  readonly depth: number;
  /** A link bears no code. */
  readonly inLink: boolean;
}

function addLink(builder: TextBuilder, { href, title, tokens, raw }: Tokens.Link, way: Way): void {
  if (way.inLink) {
    builder.add(raw);
    return;
  }
  const inner: Way = { depth: way.depth + 1, inLink: true };
  const start = builder.length;
  addInline(builder, tokens, inner);
  const text = builder.cut(start);
  // The service finds an address by itself.
  if (text === '' || text === href || `mailto:${text}` === href) builder.add(text === '' ? href : text);
  else if (LINK.test(href) && href.length <= MAX_URL) builder.within('text_link', () => addInline(builder, tokens, inner), { url: href });
  else {
    addInline(builder, tokens, way);
    if (href !== '') builder.add(` (${href})`);
  }
  if (title) builder.add(` (${title})`);
}

function addImage(builder: TextBuilder, { href, title, text, raw }: Tokens.Image, { inLink }: Way): void {
  const shown = `🖼 ${text === '' ? href : text}`;
  if (inLink) builder.add(shown);
  else if (LINK.test(href) && href.length <= MAX_URL) builder.within('text_link', () => builder.add(shown), { url: href });
  else builder.add(text === '' ? raw : `${shown} (${href})`);
  if (title) builder.add(` (${title})`);
}

type Writer = (builder: TextBuilder, token: Token, way: Way) => void;

const styled =
  (type: ChatEntityType): Writer =>
  (builder, token, way) =>
    builder.within(type, () => addNested(builder, token, way));

/** What has no writer, HTML above all, is shown as it was written. */
const WRITERS: Readonly<Record<string, Writer>> = {
  strong: styled('bold'),
  em: styled('italic'),
  del: styled('strikethrough'),
  codespan(builder, { text }: Token & { text?: string }, { inLink }) {
    if (inLink) builder.add(text ?? '');
    else builder.within('code', () => builder.add(text ?? ''));
  },
  br: (builder) => builder.add('\n'),
  escape: (builder, token: Token & { text?: string }) => builder.add(token.text ?? ''),
  link: (builder, token, way) => addLink(builder, token as Tokens.Link, way),
  image: (builder, token, way) => addImage(builder, token as Tokens.Image, way),
  checkbox: (builder, token) => builder.add((token as Tokens.Checkbox).checked ? '☑ ' : '☐ '),
  text(builder, token, way) {
    if ('tokens' in token && token.tokens !== undefined) addNested(builder, token, way);
    else builder.add(token.raw);
  },
};

function addNested(builder: TextBuilder, token: Token, way: Way): void {
  addInline(builder, ('tokens' in token ? token.tokens : undefined) ?? [], { ...way, depth: way.depth + 1 });
}

export function addInline(builder: TextBuilder, tokens: readonly Token[], way: Way = { depth: 0, inLink: false }): void {
  for (const token of tokens) {
    const write = way.depth > MAX_DEPTH ? undefined : WRITERS[token.type];
    if (write === undefined) builder.add(token.raw);
    else write(builder, token, way);
  }
}

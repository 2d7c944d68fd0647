/** Markdown → text and entities. Nothing in the result is markup, so there is nothing that the service could fail to parse. */
import { lexer, type Token, type Tokens } from 'marked';
import type { ChatText } from '../../../ports/chat-message.ts';
import { cellWidth } from '../../cli/render/cells.ts';
import { createBuilder, type TextBuilder } from './builder.ts';
import { addInline } from './inline.ts';

/** Nested lists and quotes beyond this are shown as source. */
const MAX_DEPTH = 10;
/** A longer text is shown as it is: it goes out as a file, and parsing may take long. */
const MAX_PARSED = 200_000;
const LANGUAGE = /^[\w+#.-]{1,40}(?=\s|$)/;
const BULLETS = ['•', '◦', '▪'] as const;
const RULE = '---';

interface Way {
  readonly depth: number;
  readonly inQuote: boolean;
}

/** What stands behind the language, such as the name of a file, comes above the code. */
function addPre(builder: TextBuilder, text: string, info = ''): void {
  const language = LANGUAGE.exec(info)?.[0];
  const rest = info.slice(language?.length ?? 0).trim();
  if (rest !== '') builder.add(`${rest}\n`);
  builder.within('pre', () => builder.add(text), language === undefined ? {} : { language });
}

const inlineText = (tokens: readonly Token[]): string => {
  const builder = createBuilder();
  addInline(builder, tokens);
  return builder.done().text.replaceAll('\n', ' ');
};

const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Columns line up where letters are equally wide, which they are in code. */
function tableText({ header, rows, align }: Tokens.Table): string {
  const table = [header, ...rows].map((row) => row.map(({ tokens }) => inlineText(tokens)));
  const widths = header.map((_, column) => Math.max(3, ...table.map((row) => cellWidth(row[column] ?? ''))));
  const line = (row: readonly string[]): string =>
    `| ${widths
      .map((width, column) => {
        const text = row[column] ?? '';
        const pad = ' '.repeat(Math.max(0, width - cellWidth(text)));
        return align[column] === 'right' ? pad + text : text + pad;
      })
      .join(' | ')} |`;
  const [first = [], ...rest] = table;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(first), rule, ...rest.map(line)].join('\n');
}

/** Where cells hold more than their text, addresses or cells without a heading, the source is shown. */
function addTable(builder: TextBuilder, token: Tokens.Table): void {
  const text = tableText(token);
  addPre(builder, lettersOf(text) === lettersOf(token.raw) ? text : token.raw.trimEnd());
}

function addItem(builder: TextBuilder, item: Tokens.ListItem, marker: string, way: Way): void {
  builder.add(marker);
  const indent = '  '.repeat(way.depth);
  const isInline = (token: Token): boolean => token.type === 'text' || token.type === 'checkbox' || token.type === 'paragraph';
  let previous: Token | undefined;
  for (const token of item.tokens) {
    if (token.type === 'space') continue;
    const goesOn = previous === undefined ? isInline(token) : previous.type === 'checkbox';
    if (!goesOn) builder.add(token.type === 'paragraph' || token.type === 'text' ? `\n${indent}  ` : '\n');
    addBlock(builder, token, { ...way, depth: way.depth + 1 });
    previous = token;
  }
}

function addList(builder: TextBuilder, token: Tokens.List, way: Way): void {
  const start = typeof token.start === 'number' ? token.start : 1;
  const bullet = BULLETS[Math.min(way.depth, BULLETS.length - 1)] ?? BULLETS[0];
  const indent = '  '.repeat(way.depth);
  for (const [index, item] of token.items.entries()) {
    if (index > 0) builder.add('\n');
    addItem(builder, item, `${indent}${token.ordered ? `${start + index}.` : bullet} `, way);
  }
}

type Writer = (builder: TextBuilder, token: Token, way: Way) => void;

const asInline: Writer = (builder, token) => addInline(builder, [token]);

/** What has no writer, HTML and definitions of links, is shown as it was written. */
const WRITERS: Readonly<Record<string, Writer>> = {
  heading: (builder, token) => builder.within('bold', () => addInline(builder, (token as Tokens.Heading).tokens)),
  paragraph: (builder, token) => addInline(builder, (token as Tokens.Paragraph).tokens),
  text: asInline,
  checkbox: asInline,
  code(builder, token) {
    const { text, lang, raw } = token as Tokens.Code;
    if (text.trim() === '') builder.add(raw.trimEnd());
    else addPre(builder, text, lang);
  },
  hr: (builder) => builder.add(RULE),
  table: (builder, token) => addTable(builder, token as Tokens.Table),
  list: (builder, token, way) => addList(builder, token as Tokens.List, way),
  blockquote(builder, token, way) {
    const write = (): void => addBlocks(builder, (token as Tokens.Blockquote).tokens, { depth: way.depth + 1, inQuote: true });
    if (way.inQuote) write();
    else builder.within('blockquote', write);
  },
};

function addBlock(builder: TextBuilder, token: Token, way: Way): void {
  const write = way.depth > MAX_DEPTH ? undefined : WRITERS[token.type];
  if (write === undefined) builder.add(token.raw.replace(/\n+$/, ''));
  else write(builder, token, way);
}

function addBlocks(builder: TextBuilder, tokens: readonly Token[], way: Way): void {
  let isFirst = true;
  for (const token of tokens) {
    if (token.type === 'space') continue;
    if (!isFirst) builder.add('\n\n');
    isFirst = false;
    addBlock(builder, token, way);
  }
}

/** Never throws: what cannot be parsed comes as it is. */
export function toChatText(markdown: string): ChatText {
  const source = markdown.toWellFormed().replaceAll('\r\n', '\n').trimEnd();
  if (source.length > MAX_PARSED) return { text: source, entities: [] };
  try {
    const builder = createBuilder();
    addBlocks(builder, lexer(source), { depth: 0, inQuote: false });
    return builder.done();
  } catch {
    // Nesting that is deeper than the stack.
    return { text: source, entities: [] };
  }
}

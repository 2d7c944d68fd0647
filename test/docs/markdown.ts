/** Just enough of Markdown to find the names in a page. */

export interface CodeSpan {
  /** 1-based line where it starts. */
  readonly line: number;
  readonly text: string;
  /** Of a fenced block, `text` where the page gives none; absent for inline code. */
  readonly language?: string;
  /** The word after the language: the file that the block is. */
  readonly title?: string;
}

export interface MarkdownPage {
  /** Relative to the repository. */
  readonly file: string;
  readonly code: readonly CodeSpan[];
  readonly links: readonly { readonly line: number; readonly target: string }[];
}

interface Block {
  readonly fence: string;
  readonly language: string;
  readonly title?: string;
  readonly line: number;
  readonly body: string[];
}

/** Finds fenced blocks, inline code and links. */
export function readPage(file: string, text: string): MarkdownPage {
  const code: CodeSpan[] = [];
  const links: { line: number; target: string }[] = [];
  let block: Block | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (block !== undefined) {
      if (line.trim() === block.fence) {
        const { line: start, language, title } = block;
        code.push({ line: start, text: block.body.join('\n'), language, ...(title !== undefined && { title }) });
        block = undefined;
      } else block.body.push(line);
      continue;
    }
    const opening = /^\s*(`{3,}|~{3,})\s*(\S*)\s*(\S*)/.exec(line);
    if (opening !== null) {
      block = {
        fence: opening[1] ?? '',
        language: opening[2] || 'text',
        ...(opening[3] ? { title: opening[3] } : {}),
        line: index + 1,
        body: [],
      };
      continue;
    }
    for (const match of line.matchAll(/(`+)(.+?)\1(?!`)/g)) code.push({ line: index + 1, text: match[2] ?? '' });
    for (const match of line.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) links.push({ line: index + 1, target: match[1] ?? '' });
  }
  if (block !== undefined) throw new Error(`${file}:${block.line} a fenced block has no end`);
  return { file, code, links };
}

/** Anchors of a page's headings, in the form that code hosts give them. */
export function headingSlugs(text: string): string[] {
  return [...text.matchAll(/^#{1,6} +(.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replace(/ /g, '-'),
  );
}

import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { byteLength, decodeText, isBinary, readWhole } from './content.ts';
import { diffLines, type Hunk, type LineDiff } from './diff-lines.ts';
import { failure, MAX_INPUT_BYTES, MAX_LISTED_CHARS, MAX_RESULT_CHARS, success } from './result.ts';

interface DiffInput {
  readonly path_a?: string;
  readonly path_b?: string;
  readonly path?: string;
  readonly content?: string;
}

const USAGE = 'give path_a and path_b, or path and content';

/** `diff`: two files, or a file and a text. */
export function diffTool(fs: FileSystem): ToolSpec {
  return defineTool<DiffInput>({
    name: 'diff',
    description:
      'Compare two text files (path_a, path_b), or a file with a text (path, content), line by line: {identical,added,removed,hunks}. 10 MiB and 10,000 lines a side at most.',
    parameters: {
      type: 'object',
      properties: {
        path_a: { type: 'string' },
        path_b: { type: 'string' },
        path: { type: 'string' },
        content: { type: 'string', description: 'The new text for path' },
      },
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path_a: a, path_b: b, path }) => ({ reads: [a, b, path].filter((each) => each !== undefined) }),
    async execute({ path_a: a, path_b: b, path, content }, { signal }) {
      const isPair = a !== undefined && b !== undefined && path === undefined && content === undefined;
      const isText = path !== undefined && content !== undefined && a === undefined && b === undefined;
      if (!isPair && !isText) return failure(USAGE);
      const source = isPair ? `diff:${a}..${b}` : `diff:${path}`;
      const before = await textOf(fs, a ?? path ?? '', signal);
      const after = isPair ? await textOf(fs, b, signal) : inline(content ?? '');
      for (const side of [before, after]) if ('fault' in side) return failure(side.fault, source);
      return 'text' in before && 'text' in after ? compared(before.text, after.text, source) : failure(USAGE, source);
    },
  });
}

type Side = { readonly text: string } | { readonly fault: string };

async function textOf(fs: FileSystem, path: string, signal: AbortSignal): Promise<Side> {
  const read = await readWhole(fs, path, signal);
  if ('fault' in read) return read;
  return isBinary(read.bytes)
    ? { fault: `${path} is a binary file; checksum tells whether two are equal` }
    : { text: decodeText(read.bytes) };
}

function inline(text: string): Side {
  const size = byteLength(text);
  return size > MAX_INPUT_BYTES ? { fault: `content has ${size} bytes; at most ${MAX_INPUT_BYTES} (10 MiB) are taken` } : { text };
}

function compared(before: string, after: string, source: string): ToolResult {
  const difference = diffLines(splitLines(before), splitLines(after));
  if (typeof difference === 'string') return failure(difference, source);
  const { hunks, notes } = fitted(difference);
  if (difference.hunks.length === 0 && before !== after) notes.push('they differ only in the line end at the very end');
  const { added, removed } = difference;
  const note = notes.length > 0 && { note: notes.join('; ') };
  return success({ identical: before === after, added, removed, hunks, ...note }, source);
}

/** Lines with what a Windows line end leaves, which is a difference like any other. */
function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** As many hunks as a result holds. */
function fitted({ hunks }: LineDiff): { readonly hunks: readonly Hunk[]; readonly notes: string[] } {
  let room = MAX_LISTED_CHARS;
  const fitting = hunks.findIndex((hunk) => {
    room -= JSON.stringify(hunk).length;
    return room < 0;
  });
  if (fitting < 0) return { hunks, notes: [] };
  return { hunks: hunks.slice(0, fitting), notes: [`${hunks.length - fitting} more hunks do not fit into ${MAX_LISTED_CHARS} characters`] };
}

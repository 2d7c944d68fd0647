import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { replacementDiff } from './diff.ts';
import { failure, MAX_RESULT_CHARS, MIB, success } from './result.ts';
import { byteLength, decodeExactly, isBinary } from './text.ts';

interface PatchInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string?: string;
  readonly replace_all?: boolean;
}

const MAX_FILE_BYTES = 10 * MIB;

/** `patch`: replaces a piece of text in a file and shows the difference. */
export function patchTool(fs: FileSystem): ToolSpec {
  return defineTool<PatchInput>({
    name: 'patch',
    description:
      'Replace text in a file; returns the diff. old_string must match exactly, whitespace included: copy it from read_file without the "N|" prefix, with enough lines around it to be unique. The first occurrence is replaced unless replace_all.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        old_string: { type: 'string', minLength: 1 },
        new_string: { type: 'string', description: 'Default: empty, which deletes old_string' },
        replace_all: { type: 'boolean' },
      },
      required: ['path', 'old_string'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path, old_string: old, new_string: replacement = '', replace_all: all = false }) => ({
      reads: [path],
      writes: [path],
      changes: [{ path, old, replacement, all }],
    }),
    async execute(input, { signal }) {
      const { path } = input;
      const { bytes, size } = await fs.read(path, { maxBytes: MAX_FILE_BYTES, signal });
      if (size > MAX_FILE_BYTES) return failure(`${path} is ${size} bytes, the limit is ${MAX_FILE_BYTES}`);
      const text = isBinary(bytes) ? undefined : decodeExactly(bytes);
      if (text === undefined) return failure(`${path} is not UTF-8 text and cannot be patched`);
      const edit = editOf(text, input);
      if (typeof edit === 'string') return failure(edit, `patch:${path}`);
      return apply(fs, text, edit, path, signal);
    },
  });
}

/** What is replaced: `old` at each of `positions`. */
interface Edit {
  readonly old: string;
  readonly new: string;
  readonly positions: readonly number[];
  /** Occurrences that stay. */
  readonly left: number;
}

async function apply(fs: FileSystem, text: string, edit: Edit, path: string, signal: AbortSignal): Promise<ToolResult> {
  const { result, diff } = replacementDiff(text, edit.old, edit.new, edit.positions);
  const size = byteLength(result);
  if (size > MAX_FILE_BYTES) return failure(`${path} would be ${size} bytes, the limit is ${MAX_FILE_BYTES}`, `patch:${path}`);
  await fs.write(path, result, signal);
  const note = edit.left > 0 ? { note: `${edit.left} more occurrence(s) of old_string were left; replace_all replaces them too` } : {};
  return success({ success: true, diff, ...note }, `patch:${path}`);
}

function editOf(text: string, { path, old_string: asked, new_string: replacement = '', replace_all: all }: PatchInput): Edit | string {
  if (asked === replacement) return 'old_string and new_string are the same: nothing would change';
  // A model sees lines without "\r"; in a file with Windows line ends it means them all the same.
  const windows = !text.includes(asked) && text.includes('\r\n');
  const old = windows ? withWindowsEnds(asked) : asked;
  const positions = positionsOf(text, old);
  if (positions.length === 0) return notFound(text, path, asked);
  const used = all ? positions : positions.slice(0, 1);
  return { old, new: windows ? withWindowsEnds(replacement) : replacement, positions: used, left: positions.length - used.length };
}

function withWindowsEnds(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function positionsOf(text: string, piece: string): readonly number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) positions.push(at);
  return positions;
}

function notFound(text: string, path: string, old: string): string {
  const first = old
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  const line = first === undefined ? -1 : text.split('\n').findIndex((each) => each.includes(first));
  const hint = line >= 0 ? `; its first line resembles line ${line + 1}, so compare whitespace and the lines after it` : '';
  return `old_string was not found in ${path}${hint}. Read the file again and copy the text exactly, without the "N|" prefix`;
}

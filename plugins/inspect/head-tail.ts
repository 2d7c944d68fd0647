import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { decodeText, isBinary, linesOf } from './content.ts';
import { bounded, failure, MAX_INPUT_BYTES, MAX_LISTED_CHARS, MAX_RESULT_CHARS, success } from './result.ts';

interface HeadTailInput {
  readonly path: string;
  readonly lines?: number;
  readonly mode?: 'head' | 'tail';
}

const DEFAULT_LINES = 10;
const MAX_LINES = 100;

/** `head_tail`: the first or the last lines of a text file. */
export function headTailTool(fs: FileSystem): ToolSpec {
  return defineTool<HeadTailInput>({
    name: 'head_tail',
    description: 'First or last lines of a text file: {results:[{lines,count,total}]}.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        lines: { type: 'integer', minimum: 1, description: `Default ${DEFAULT_LINES}, max ${MAX_LINES}` },
        mode: { enum: ['head', 'tail'], description: 'Default "head"' },
      },
      required: ['path'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path] }),
    async execute({ path, lines, mode = 'head' }, { signal }) {
      const source = `head_tail:${path}`;
      const { bytes, size } = await fs.read(path, { maxBytes: MAX_INPUT_BYTES, signal });
      if (isBinary(bytes)) return failure(`${path} is a binary file of ${size} bytes; head_tail reads text only`, source);
      const unread = size - bytes.length;
      if (unread > 0 && mode === 'tail') {
        return failure(`${path} has ${size} bytes, and the end is looked for in at most ${MAX_INPUT_BYTES} (10 MiB)`, source);
      }
      const all = linesOf(decodeText(bytes));
      const wanted = bounded(lines, DEFAULT_LINES, 1, MAX_LINES);
      const { shown, notes } = fitted(mode === 'head' ? all.slice(0, wanted) : all.slice(-wanted));
      if (unread > 0) notes.push(`the last ${unread} bytes were not looked at; total counts the rest`);
      const result = { path, lines: shown, count: shown.length, total: all.length, ...(notes.length > 0 && { note: notes.join('; ') }) };
      return success({ results: [result] }, source);
    },
  });
}

/** Each line gets its share of the result, so that one endless line does not cost the others. */
function fitted(lines: readonly string[]): { readonly shown: readonly string[]; readonly notes: string[] } {
  const all = lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
  if (all <= MAX_LISTED_CHARS) return { shown: lines, notes: [] };
  // One character takes up to six in JSON.
  const share = Math.floor(MAX_LISTED_CHARS / lines.length / 6);
  return { shown: lines.map((line) => line.slice(0, share)), notes: [`lines are cut after ${share} characters`] };
}

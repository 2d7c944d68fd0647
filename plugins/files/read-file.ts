import { resolve } from 'node:path';
import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { bounded, failure, MAX_LISTED_CHARS, MAX_RESULT_CHARS, MIB, success } from './result.ts';
import { decodeText, isBinary, linesOf } from './text.ts';

interface ReadFileInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

const DEFAULT_LINES = 500;
const MAX_LINES = 2000;
/** Bytes looked at, so that an offset far into a large file works. */
const MAX_SCANNED_BYTES = 10 * MIB;

/** `read_file`: numbered lines of a text file. */
export function readFileTool(fs: FileSystem): ToolSpec {
  return defineTool<ReadFileInput>({
    name: 'read_file',
    description:
      'Read a text file as lines "N|text", with total_lines. Use offset and limit to page through a long file. Prefer this over shell commands such as cat.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the working directory, or absolute' },
        offset: { type: 'integer', minimum: 1, description: 'First line, from 1' },
        limit: { type: 'integer', minimum: 1, description: `Lines to return (default ${DEFAULT_LINES}, max ${MAX_LINES})` },
      },
      required: ['path'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path] }),
    async execute({ path, offset, limit }, { signal, workspace }) {
      const { bytes, size } = await fs.read(path, { maxBytes: MAX_SCANNED_BYTES, signal });
      const absolute = resolve(workspace, path);
      if (isBinary(bytes)) return failure(`${path} is a binary file of ${size} bytes; read_file reads text only`, absolute);
      const page = { offset: bounded(offset, 1, 1, Number.MAX_SAFE_INTEGER), limit: bounded(limit, DEFAULT_LINES, 1, MAX_LINES) };
      return pageOf(linesOf(decodeText(bytes)), page, { path, absolute, unread: size - bytes.length });
    },
  });
}

function pageOf(
  lines: readonly string[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  file: { readonly path: string; readonly absolute: string; readonly unread: number },
): ToolResult {
  if (offset > Math.max(1, lines.length))
    return failure(`offset ${offset} is past the end: ${file.path} has ${lines.length} lines`, file.absolute);
  const shown: string[] = [];
  const notes: string[] = [];
  let room = MAX_LISTED_CHARS;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const numbered = `${offset + index}|${line}`;
    const cost = JSON.stringify(numbered).length;
    if (cost > room) {
      // One character takes up to six in JSON.
      if (shown.length === 0) shown.push(numbered.slice(0, Math.floor(room / 6)));
      notes.push(`cut at line ${offset + index}: a result holds ${MAX_LISTED_CHARS} characters`);
      break;
    }
    room -= cost;
    shown.push(numbered);
  }
  if (file.unread > 0) notes.push(`the last ${file.unread} bytes of the file were not looked at; total_lines counts the rest`);
  return success(
    { content: shown.join('\n'), total_lines: lines.length, ...(notes.length > 0 ? { note: notes.join('; ') } : {}) },
    file.absolute,
  );
}

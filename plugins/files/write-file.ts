import { resolve } from 'node:path';
import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { failure, MAX_RESULT_CHARS, MIB, success } from './result.ts';
import { byteLength } from './text.ts';

interface WriteFileInput {
  readonly path: string;
  readonly content: string;
}

const MAX_CONTENT_BYTES = MIB;

/** `write_file`: creates or replaces a whole file, atomically. */
export function writeFileTool(fs: FileSystem): ToolSpec {
  return defineTool<WriteFileInput>({
    name: 'write_file',
    description:
      'Create a file or replace all of it (max 1 MiB); missing folders are made. Only inside the working directory. To change a part of a file use patch.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        content: { type: 'string', description: 'The whole new content' },
      },
      required: ['path', 'content'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path, content }) => ({ writes: [path], changes: [{ path, content }] }),
    async execute({ path, content }, { signal, workspace }) {
      const size = byteLength(content);
      if (size > MAX_CONTENT_BYTES) {
        return failure(`content is ${size} bytes, the limit is ${MAX_CONTENT_BYTES}; write a part and extend it with patch`);
      }
      await fs.write(path, content, signal);
      return success({ success: true, path: resolve(workspace, path) });
    },
  });
}

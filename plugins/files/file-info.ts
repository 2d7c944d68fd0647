import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { MAX_RESULT_CHARS, success } from './result.ts';

interface FileInfoInput {
  readonly path: string;
}

/** `file_info`: what a path is, without following a link. */
export function fileInfoTool(fs: FileSystem): ToolSpec {
  return defineTool<FileInfoInput>({
    name: 'file_info',
    description: 'Kind, size in bytes, mode and modification time of a path, without reading it. A link is described, not followed.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path] }),
    async execute({ path }) {
      const stat = await fs.stat(path);
      const info = {
        path,
        kind: stat.kind,
        size: stat.size,
        mode: stat.mode.toString(8).padStart(4, '0'),
        modified: new Date(stat.modifiedAt).toISOString(),
        ...(stat.kind === 'link' ? { leads_to: (await fs.resolve(path)).real } : {}),
      };
      return success(info, `file_info:${path}`);
    },
  });
}

import { createHash } from 'node:crypto';
import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { readWhole } from './content.ts';
import { failure, MAX_RESULT_CHARS, success } from './result.ts';

interface ChecksumInput {
  readonly path: string;
  readonly algorithm?: 'sha256' | 'sha1' | 'md5';
}

/** `checksum`: the digest of one file. */
export function checksumTool(fs: FileSystem): ToolSpec {
  return defineTool<ChecksumInput>({
    name: 'checksum',
    description: 'Digest of a file of at most 10 MiB: {results:[{path,algorithm,checksum,size}]}.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        algorithm: { enum: ['sha256', 'sha1', 'md5'], description: 'Default "sha256"' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path] }),
    async execute({ path, algorithm = 'sha256' }, { signal }) {
      const source = `checksum:${path}`;
      const content = await readWhole(fs, path, signal);
      if ('fault' in content) return failure(content.fault, source);
      const checksum = createHash(algorithm).update(content.bytes).digest('hex');
      return success({ results: [{ path, algorithm, checksum, size: content.bytes.length }] }, source);
    },
  });
}

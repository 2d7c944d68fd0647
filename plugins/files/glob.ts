import { FileError, type FileKind, type FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { compileGlob, type GlobPattern } from './glob-pattern.ts';
import { bounded, failure, MAX_RESULT_CHARS, success } from './result.ts';
import { isSkippedFolder, joined, MAX_DEPTH, MAX_ENTRIES } from './walk.ts';

interface GlobInput {
  readonly pattern: string;
  readonly path?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** `glob`: paths that match a pattern. */
export function globTool(fs: FileSystem): ToolSpec {
  return defineTool<GlobInput>({
    name: 'glob',
    description:
      'Find files and folders by a pattern such as "src/**/*.ts" (*, ?, [a-z], {a,b}, **). Returns [{path,size,is_dir}] in path order; when limit entries come back there may be more. Hidden and build folders are skipped unless the pattern names them.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'Relative to path' },
        path: { type: 'string', description: 'Folder to start in (default ".")' },
        limit: { type: 'integer', minimum: 1, description: `Default ${DEFAULT_LIMIT}, max ${MAX_LIMIT}` },
      },
      required: ['pattern'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path ?? '.'] }),
    async execute({ pattern, path = '.', limit }, { signal }) {
      if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
        return failure('pattern must be relative and without ".."; give the folder to start in as path');
      }
      const compiled = compile(pattern);
      if (typeof compiled === 'string') return failure(compiled);
      return success(await find(fs, compiled, path, bounded(limit, DEFAULT_LIMIT, 1, MAX_LIMIT), signal), `glob:${path}`);
    },
  });
}

interface Found {
  readonly path: string;
  readonly size: number;
  readonly is_dir: boolean;
}

async function find(fs: FileSystem, pattern: GlobPattern, path: string, limit: number, signal: AbortSignal): Promise<readonly Found[]> {
  const found: Found[] = [];
  const skip = (name: string, kind: FileKind) => kind === 'directory' && isSkippedFolder(name) && !pattern.names(name);
  let seen = 0;
  for await (const entry of fs.list(path, { depth: Math.min(pattern.depth, MAX_DEPTH), skip }, signal)) {
    seen += 1;
    if (seen > MAX_ENTRIES)
      throw new FileError('file_error', `${path} holds more than ${MAX_ENTRIES} entries; start in a smaller folder`, {
        limit: MAX_ENTRIES,
      });
    if (!pattern.matches(entry.path)) continue;
    found.push({ path: joined(path, entry.path), size: entry.size, is_dir: entry.kind === 'directory' });
    if (found.length >= limit) break;
  }
  return found;
}

function compile(pattern: string): GlobPattern | string {
  try {
    return compileGlob(pattern, { dot: false });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

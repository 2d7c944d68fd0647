import type { DirectoryEntry, FileKind, FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { bounded, failure, MAX_LISTED_CHARS, MAX_RESULT_CHARS, success } from './result.ts';

interface TreeInput {
  readonly path?: string;
  readonly max_depth?: number;
  readonly include_hidden?: boolean;
}

const DEFAULT_DEPTH = 3;
const MAX_DEPTH = 10;
/** Levels that are counted, listed or not. */
const COUNTED_DEPTH = 32;
const MAX_ENTRIES_PER_FOLDER = 1000;
const MAX_COUNTED = 200_000;
const GENERATED = new Set(['node_modules', 'vendor', '__pycache__', 'target', 'dist', 'build']);

interface Node {
  readonly path: string;
  readonly is_dir: boolean;
  file_count: number;
  total_size: number;
  readonly depth: number;
  children?: Node[];
  /** Entries of the folder that are not among its children. */
  omitted?: number;
}

/** `tree`: a folder and what is below it, with counts and sizes. */
export function treeTool(fs: FileSystem): ToolSpec {
  return defineTool<TreeInput>({
    name: 'tree',
    description:
      'Folder structure as nested {path,is_dir,file_count,total_size,depth,children}; 1000 entries a folder. Hidden and generated folders are left out unless include_hidden; links are not followed.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Default "."' },
        max_depth: { type: 'integer', minimum: 1, description: `Levels listed (default ${DEFAULT_DEPTH}, max ${MAX_DEPTH})` },
        include_hidden: { type: 'boolean' },
      },
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path ?? '.'] }),
    async execute({ path = '.', max_depth: maxDepth, include_hidden: hidden = false }, { signal }) {
      const source = `tree:${path}`;
      const { kind } = await fs.stat(path);
      if (kind !== 'directory') return failure(`${path} is a ${kind}, not a folder; file_info describes it`, source);
      const depth = bounded(maxDepth, DEFAULT_DEPTH, 1, MAX_DEPTH);
      const growing = createGrowingTree(path, depth);
      const skip = (name: string, entry: FileKind) => !hidden && (name.startsWith('.') || (entry === 'directory' && GENERATED.has(name)));
      for await (const entry of fs.list(path, { depth: COUNTED_DEPTH, skip }, signal)) {
        if (!growing.add(entry)) break;
      }
      return success(growing.finish(), source);
    },
  });
}

/** Grows by the entries of a listing, where a folder comes before what is in it. */
function createGrowingTree(start: string, maxDepth: number) {
  const root: Node = { path: start, is_dir: true, file_count: 0, total_size: 0, depth: 0, children: [] };
  // The folders from the root down to the one that is being listed; those that are not shown are placeholders.
  const open: Node[] = [root];
  const notes = new Set<string>();
  let counted = 0;
  let room = MAX_LISTED_CHARS;

  const show = (parent: Node, node: Node): void => {
    if (parent.children === undefined || node.depth > maxDepth) return;
    const cost = JSON.stringify(node).length + 60;
    if (parent.children.length >= MAX_ENTRIES_PER_FOLDER || cost > room) {
      parent.omitted = (parent.omitted ?? 0) + 1;
      if (cost > room) notes.add(`a result holds ${MAX_LISTED_CHARS} characters; list a smaller folder or fewer levels`);
      return;
    }
    room -= cost;
    if (node.is_dir && node.depth < maxDepth) node.children = [];
    parent.children.push(node);
  };

  return {
    /** False once enough was looked at. */
    add({ path, kind, size }: DirectoryEntry): boolean {
      counted += 1;
      if (counted > MAX_COUNTED) {
        notes.add(`only the first ${MAX_COUNTED} entries were looked at and counted`);
        return false;
      }
      const depth = path.split('/').length;
      open.length = depth;
      const isFolder = kind === 'directory';
      const node: Node = {
        path: joined(start, path),
        is_dir: isFolder,
        file_count: isFolder ? 0 : 1,
        total_size: isFolder ? 0 : size,
        depth,
      };
      if (isFolder) open.push(node);
      else {
        for (const folder of open.slice(0, depth)) {
          folder.file_count += 1;
          folder.total_size += size;
        }
      }
      const parent = open[depth - 1];
      if (parent) show(parent, node);
      return true;
    },
    finish: () => (notes.size > 0 ? { ...root, note: [...notes].join('; ') } : root),
  };
}

/** An entry's path as the next call can use it. */
function joined(start: string, entry: string): string {
  const base = start.replace(/\/+$/, '');
  if (start.startsWith('/') && base === '') return `/${entry}`;
  const clean = base.replace(/^(?:\.\/+)+/, '');
  return clean === '' || clean === '.' ? entry : `${clean}/${entry}`;
}

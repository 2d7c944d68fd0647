import { FileError, type FileKind, type FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { compileGlob } from './glob-pattern.ts';
import { compileLinearRegex, type LineMatcher } from './linear-regex.ts';
import { PatternError } from './regex-syntax.ts';
import { bounded, failure, MAX_RESULT_CHARS, success } from './result.ts';
import { type Candidate, searchContents } from './search-contents.ts';
import { isSkippedFolder, joined, MAX_DEPTH, MAX_ENTRIES } from './walk.ts';

interface SearchInput {
  readonly pattern: string;
  readonly target?: 'content' | 'files';
  readonly path?: string;
  readonly file_glob?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const MAX_SKIPPED_TOLD = 50;

/** `search_files`: lines that match a regular expression, or files by name; newest files first. */
export function searchFilesTool(fs: FileSystem): ToolSpec {
  return defineTool<SearchInput>({
    name: 'search_files',
    description:
      'Search file contents by regular expression, line by line (no look-around or back-references; (?i) at the start ignores case), or with target "files" find files by name. Newest files first. Skips hidden and build folders, links, binary and credential files. Prefer this over grep and find.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'Regular expression; for target "files" a glob or a part of the name' },
        target: { enum: ['content', 'files'], description: 'Default "content"' },
        path: { type: 'string', description: 'Folder or file (default ".")' },
        file_glob: { type: 'string', description: 'Only files like this, for example "*.ts"' },
        limit: { type: 'integer', minimum: 1, description: `Default ${DEFAULT_LIMIT}, max ${MAX_LIMIT}` },
      },
      required: ['pattern'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path ?? '.'] }),
    async execute(input, { signal }) {
      const search = prepared(input);
      return typeof search === 'string' ? failure(search) : run(fs, search, signal);
    },
  });
}

interface Search {
  readonly path: string;
  readonly limit: number;
  readonly accepts: (path: string) => boolean;
  /** Absent: a search for names. */
  readonly matcher?: LineMatcher;
}

/** The search, or what is wrong with it. */
function prepared({ pattern, target = 'content', path = '.', file_glob: fileGlob, limit }: SearchInput): Search | string {
  const common = { path, limit: bounded(limit, DEFAULT_LIMIT, 1, MAX_LIMIT) };
  try {
    const inGlob = fileGlob === undefined ? () => true : nameTest(fileGlob);
    if (target === 'content') return { ...common, accepts: inGlob, matcher: compileLinearRegex(pattern) };
    const inPattern = /[*?[{]/.test(pattern) ? nameTest(pattern) : partTest(pattern);
    return { ...common, accepts: (candidate) => inGlob(candidate) && inPattern(candidate) };
  } catch (error) {
    if (!(error instanceof PatternError) && !(error instanceof RangeError)) throw error;
    return `pattern cannot be used: ${error.message}`;
  }
}

function nameTest(glob: string): (path: string) => boolean {
  const compiled = compileGlob(glob, { dot: true });
  return glob.includes('/') ? compiled.matches : (path) => compiled.matches(path.slice(path.lastIndexOf('/') + 1));
}

function partTest(part: string): (path: string) => boolean {
  const lower = part.toLowerCase();
  return (path) => path.toLowerCase().includes(lower);
}

async function run(fs: FileSystem, search: Search, signal: AbortSignal): Promise<ToolResult> {
  const { candidates, skipped, note } = await collect(fs, search, signal);
  candidates.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1));
  const notes = note === undefined ? [] : [note];
  const result = { matches: [] as readonly object[], skipped, notes };
  if (search.matcher) {
    const found = await searchContents(fs, { candidates, matcher: search.matcher, limit: search.limit }, signal);
    result.matches = found.matches;
    skipped.push(...found.skipped);
    notes.push(...found.notes);
  } else {
    result.matches = candidates.slice(0, search.limit).map(({ path }) => ({ path }));
    if (candidates.length > search.limit) notes.push(`${candidates.length - search.limit} more files match`);
  }
  return success(told(result), sourceOf(result.matches, search.path));
}

/** Where the text comes from: the first line found, as `<path>:<line>`; the place that was searched where no line was. */
function sourceOf(matches: readonly object[], path: string): string {
  const [first] = matches as readonly { readonly path?: string; readonly line?: number }[];
  if (first?.line === undefined) return `search_files:${path}`;
  const more = matches.length > 1 ? ` and ${matches.length - 1} more` : '';
  return `${first.path}:${first.line}${more}`;
}

function told({ matches, skipped, notes }: { matches: readonly object[]; skipped: string[]; notes: readonly string[] }) {
  const shown = skipped.slice(0, MAX_SKIPPED_TOLD);
  if (skipped.length > shown.length) shown.push(`and ${skipped.length - shown.length} more`);
  return { matches, skipped: shown, ...(notes.length > 0 ? { note: notes.join('; ') } : {}) };
}

interface Collected {
  readonly candidates: Candidate[];
  /** `<path>: <why>`. */
  readonly skipped: string[];
  readonly note?: string;
}

async function collect(fs: FileSystem, { path, accepts }: Search, signal: AbortSignal): Promise<Collected> {
  const start = await fs.stat(path);
  if (start.kind !== 'directory') {
    if (start.kind !== 'file')
      throw new FileError('not_regular_file', `${path} is a ${start.kind}; search in a folder or a regular file`, { value: path });
    return { candidates: [{ path, size: start.size, modifiedAt: start.modifiedAt }], skipped: [] };
  }
  const candidates: Candidate[] = [];
  const skipped: string[] = [];
  const skip = (name: string, kind: FileKind) => kind === 'link' || (kind === 'directory' && isSkippedFolder(name));
  let seen = 0;
  for await (const entry of fs.list(path, { depth: MAX_DEPTH, skip }, signal)) {
    seen += 1;
    if (seen > MAX_ENTRIES)
      return { candidates, skipped, note: `only the first ${MAX_ENTRIES} entries were looked at; search in a smaller folder` };
    if (entry.kind !== 'file' || !accepts(entry.path)) continue;
    const found = joined(path, entry.path);
    if (entry.credential) skipped.push(`${found}: credential file`);
    else candidates.push({ path: found, size: entry.size, modifiedAt: entry.modifiedAt });
  }
  return { candidates, skipped };
}

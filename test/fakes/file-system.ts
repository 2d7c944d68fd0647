import { posix } from 'node:path';
import { CancelledError } from '../../ports/errors.ts';
import {
  type DirectoryEntry,
  FileError,
  type FileErrorCode,
  type FileKind,
  type FileSystem,
  type ResolvedPath,
} from '../../ports/file-system.ts';

interface Node {
  readonly kind: FileKind;
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly modifiedAt: number;
  /** Of a link. */
  readonly target?: string;
}

export interface MemoryFileSystem extends FileSystem {
  readonly root: string;
  readonly stateDir: string;
  /** Puts a file or anything else at an absolute path, or one relative to the root. Missing folders are made. */
  put(
    path: string,
    content: string | Uint8Array,
    options?: { readonly mode?: number; readonly kind?: FileKind; readonly modifiedAt?: number },
  ): void;
  link(path: string, target: string): void;
  /** What lies at a path, links followed. */
  content(path: string): string | undefined;
  mode(path: string): number | undefined;
}

export interface MemoryFileSystemOptions {
  readonly root?: string;
  readonly stateDir?: string;
}

const NOTHING = new Uint8Array();
const MAX_LINKS = 40;
const CREDENTIAL = /^(?:\.env|\.env\.(?!example|sample|template|dist).*|.*\.pem|.*\.key|id_.*|\.netrc|\.npmrc|secrets\.env)$/i;

/** Files in memory, with links, devices and a state folder. */
export function createMemoryFileSystem({ root = '/project', stateDir = '/home/state' }: MemoryFileSystemOptions = {}): MemoryFileSystem {
  const nodes = new Map<string, Node>();
  let ticks = 1_700_000_000_000;

  const folder = (path: string): void => {
    if (path !== '/') folder(posix.dirname(path));
    if (!nodes.has(path)) nodes.set(path, { kind: 'directory', bytes: NOTHING, mode: 0o755, modifiedAt: ticks });
  };
  folder(root);

  const fail = (code: FileErrorCode, path: string): FileError => new FileError(code, `${path}: ${code}`, { value: path });
  const absoluteOf = (path: string): string => posix.resolve(root, path);
  const within = (parent: string, path: string): boolean => path === parent || path.startsWith(parent === '/' ? '/' : `${parent}/`);

  const realOf = (path: string, linksLeft = MAX_LINKS): string => {
    if (path === '/') return path;
    const here = posix.join(realOf(posix.dirname(path), linksLeft), posix.basename(path));
    const target = nodes.get(here)?.target;
    if (target === undefined) return here;
    if (linksLeft === 0) throw fail('final_link', path);
    return realOf(posix.resolve(posix.dirname(here), target), linksLeft - 1);
  };

  const locate = (path: string): ResolvedPath => {
    if (path === '' || path.includes('\0')) throw fail('invalid_path', path);
    const absolute = absoluteOf(path);
    const real = realOf(absolute);
    const self = nodes.get(posix.join(realOf(posix.dirname(absolute)), posix.basename(absolute)));
    const node = nodes.get(real);
    const state = posix.relative(stateDir, real).split('/')[0] ?? '';
    return {
      requested: path,
      absolute,
      real,
      exists: node !== undefined,
      ...(node === undefined ? {} : { kind: node.kind }),
      finalLink: self?.kind === 'link',
      inRoot: within(root, real),
      inState: within(stateDir, real) && state !== 'media' && state !== 'artifacts',
      credential: CREDENTIAL.test(posix.basename(real)) || CREDENTIAL.test(posix.basename(absolute)),
    };
  };

  const fileAt = (path: string): Node => {
    const found = locate(path);
    if (found.finalLink) throw fail('final_link', path);
    const node = nodes.get(found.real);
    if (!node) throw fail('not_found', path);
    if (node.kind === 'directory') throw fail('is_directory', path);
    if (node.kind !== 'file') throw fail('not_regular_file', path);
    return node;
  };

  function* entries(
    parent: string,
    prefix: string,
    depth: number,
    skip?: (name: string, kind: FileKind) => boolean,
  ): Iterable<DirectoryEntry> {
    const names = [...nodes.keys()].filter((path) => path !== '/' && posix.dirname(path) === parent).map((path) => posix.basename(path));
    for (const name of names.sort()) {
      const path = posix.join(parent, name);
      const node = nodes.get(path);
      if (!node || skip?.(name, node.kind)) continue;
      const { kind, modifiedAt } = node;
      yield { path: `${prefix}${name}`, kind, size: node.bytes.length, modifiedAt, credential: CREDENTIAL.test(name) };
      if (kind === 'directory' && depth > 1) yield* entries(path, `${prefix}${name}/`, depth - 1, skip);
    }
  }

  return {
    root,
    stateDir,
    put(path, content, { mode = 0o644, kind = 'file', modifiedAt } = {}) {
      const absolute = absoluteOf(path);
      ticks += 1;
      if (kind === 'directory') return folder(absolute);
      folder(posix.dirname(absolute));
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
      nodes.set(absolute, { kind, bytes, mode, modifiedAt: modifiedAt ?? ticks });
    },
    link(path, target) {
      const absolute = absoluteOf(path);
      folder(posix.dirname(absolute));
      nodes.set(absolute, { kind: 'link', bytes: NOTHING, mode: 0o777, modifiedAt: ticks, target });
    },
    content(path) {
      const node = nodes.get(realOf(absoluteOf(path)));
      return node?.kind === 'file' ? new TextDecoder().decode(node.bytes) : undefined;
    },
    mode: (path) => nodes.get(realOf(absoluteOf(path)))?.mode,
    resolve: async (path) => locate(path),
    async stat(path) {
      const { absolute } = locate(path);
      const node = nodes.get(posix.join(realOf(posix.dirname(absolute)), posix.basename(absolute)));
      if (!node) throw fail('not_found', path);
      return { path, kind: node.kind, size: node.bytes.length, mode: node.mode, modifiedAt: node.modifiedAt };
    },
    async read(path, { maxBytes, signal }) {
      if (signal?.aborted) throw new CancelledError();
      const { bytes } = fileAt(path);
      return { bytes: bytes.slice(0, maxBytes), size: bytes.length };
    },
    async write(path, data, signal) {
      if (signal?.aborted) throw new CancelledError();
      const found = locate(path);
      if (found.inState) throw fail('trust_anchor', path);
      if (!found.inRoot) throw fail('outside_root', path);
      if (found.exists || found.finalLink) fileAt(path);
      for (let parent = posix.dirname(found.real); parent !== root; parent = posix.dirname(parent)) {
        if (nodes.has(parent) && nodes.get(parent)?.kind !== 'directory') throw fail('not_directory', path);
      }
      const mode = nodes.get(found.real)?.mode ?? 0o644;
      this.put(found.real, data, { mode });
    },
    async *list(path, { depth, skip }, signal) {
      const found = locate(path);
      if (found.finalLink) throw fail('final_link', path);
      if (!found.exists) throw fail('not_found', path);
      if (found.kind !== 'directory') throw fail('not_directory', path);
      for (const entry of entries(found.real, '', depth, skip)) {
        if (signal?.aborted) throw new CancelledError();
        yield entry;
      }
    },
  };
}

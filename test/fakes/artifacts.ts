import { createHash } from 'node:crypto';
import {
  type ArtifactEntry,
  ArtifactError,
  type ArtifactFiles,
  type ArtifactLedger,
  type ArtifactLookup,
  MAX_SESSION_ARTIFACTS,
} from '../../ports/artifact.ts';
import { CancelledError } from '../../ports/errors.ts';

type Node =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' | 'pipe' };

export interface MemoryArtifactFiles extends ArtifactFiles {
  put(path: string, content: string | Uint8Array): void;
  link(path: string, target: string): void;
  folder(path: string): void;
  pipe(path: string): void;
  remove(path: string): void;
}

/** Files in a map; every folder on the way to one is there. */
export function createMemoryArtifactFiles(): MemoryArtifactFiles {
  const nodes = new Map<string, Node>();

  const resolve = (path: string, hops = 0): string => {
    if (hops > 20) throw new ArtifactError('artifact_missing', 'there is no such file');
    const parts = path.split('/').filter((part) => part !== '');
    let at = '';
    for (const [index, part] of parts.entries()) {
      at += `/${part}`;
      const node = nodes.get(at);
      if (node?.kind === 'link') return resolve([node.target, ...parts.slice(index + 1)].join('/'), hops + 1);
    }
    return at;
  };
  const isThere = (path: string): boolean => nodes.has(path) || [...nodes.keys()].some((each) => each.startsWith(`${path}/`));
  const isIn = (path: string, roots: readonly string[]): boolean => roots.some((root) => path.startsWith(`${root}/`));

  const open = ({ path, roots, maxBytes, signal }: ArtifactLookup) => {
    if (signal.aborted) throw new CancelledError();
    const held = roots.filter((root) => root.startsWith('/') && isThere(resolve(root)));
    if (
      !isIn(path, [...held, ...held.map((root) => resolve(root))]) ||
      !isIn(
        resolve(path),
        held.map((root) => resolve(root)),
      )
    ) {
      throw new ArtifactError('artifact_outside_roots', 'the file lies outside the artifact roots');
    }
    const real = resolve(path);
    const node = nodes.get(real);
    if (!isThere(real)) throw new ArtifactError('artifact_missing', 'there is no such file');
    if (node?.kind !== 'file') throw new ArtifactError('artifact_not_regular', 'it is no regular file');
    const value = node.bytes.length;
    if (value > maxBytes)
      throw new ArtifactError('artifact_too_large', `the file has ${value} bytes, the limit is ${maxBytes}`, { value, limit: maxBytes });
    return { path: real, bytes: node.bytes, sha256: createHash('sha256').update(node.bytes).digest('hex') };
  };

  return {
    async measure(lookup) {
      const { path, bytes, sha256 } = open(lookup);
      return { path, sizeBytes: bytes.length, sha256 };
    },
    async page(lookup) {
      const { bytes, sha256 } = open(lookup);
      if (sha256 !== lookup.sha256)
        throw new ArtifactError('artifact_changed', 'the file is not the one that was handed over: its content has changed');
      return bytes.slice(lookup.offset, lookup.offset + lookup.length);
    },
    put: (path, content) => void nodes.set(path, { kind: 'file', bytes: Buffer.from(content) }),
    link: (path, target) => void nodes.set(path, { kind: 'link', target }),
    folder: (path) => void nodes.set(path, { kind: 'folder' }),
    pipe: (path) => void nodes.set(path, { kind: 'pipe' }),
    remove: (path) => void nodes.delete(path),
  };
}

export interface MemoryArtifactLedger extends ArtifactLedger {
  forget(session: string): void;
}

/** Entries in a map a session. */
export function createMemoryArtifactLedger(): MemoryArtifactLedger {
  const sessions = new Map<string, Map<string, ArtifactEntry>>();
  const isSame = (a: ArtifactEntry, b: ArtifactEntry): boolean => a.path === b.path && a.sha256 === b.sha256 && a.source === b.source;
  return {
    async add(session, entries) {
      const held = sessions.get(session) ?? new Map<string, ArtifactEntry>();
      sessions.set(session, held);
      const ids = entries.map((entry) => {
        let id = entry.id;
        for (let turn = 2; ; turn += 1) {
          const known = held.get(id);
          if (known === undefined) held.set(id, { ...entry, id });
          if (known === undefined || isSame(known, entry)) return id;
          id = `${entry.id}.${turn}`;
        }
      });
      for (const id of held.keys()) {
        if (held.size <= MAX_SESSION_ARTIFACTS) break;
        held.delete(id);
      }
      return ids;
    },
    find: async (session, id) => sessions.get(session)?.get(id),
    forget: (session) => void sessions.delete(session),
  };
}

import { posix } from 'node:path';
import { FileError, type FileSystem, type ResolvedPath } from '../../ports/file-system.ts';
import { createMemoryFileSystem, type MemoryFileSystem } from '../fakes/file-system.ts';
import type { FileSystemHarness, FileSystemPlace } from './file-system.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const OUTSIDE = '/outside';

type Fault = (memory: MemoryFileSystem) => Partial<FileSystem>;

/** The memory file system as a place of the suite, with or without a fault. */
export function memoryPlace(fault: Fault = () => ({})): FileSystemPlace {
  const memory = createMemoryFileSystem();
  memory.put(OUTSIDE, '', { kind: 'directory' });
  return {
    fs: { ...memory, ...fault(memory) },
    root: memory.root,
    outside: OUTSIDE,
    stateDir: memory.stateDir,
    async special() {
      memory.put('special', '', { kind: 'fifo' });
      return `${memory.root}/special`;
    },
    put: async (path, content, mode) => memory.put(path, content, mode === undefined ? {} : { mode }),
    link: async (path, target) => memory.link(path, target),
    content: async (path) => memory.content(path),
    mode: async (path) => memory.mode(path),
    close: async () => {},
  };
}

/** Judges a path by its text alone. */
function lexical({ root, stateDir }: MemoryFileSystem, path: string): ResolvedPath {
  const absolute = posix.resolve(root, path);
  return {
    requested: path,
    absolute,
    real: absolute,
    exists: true,
    finalLink: false,
    inRoot: absolute.startsWith(root),
    inState: absolute.startsWith(stateDir),
    credential: false,
  };
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

function refusing(path: string): never {
  throw new FileError('not_found', path, { value: path });
}

const FAULTS: readonly (readonly [name: string, caughtBy: string, fault: Fault])[] = [
  [
    'throws when it resolves a missing path',
    'resolve-missing',
    (memory) => ({
      async resolve(path) {
        const found = await memory.resolve(path);
        return found.exists ? found : refusing(path);
      },
    }),
  ],
  ['judges paths by their text', 'resolve-links', (memory) => ({ resolve: async (path) => lexical(memory, path) })],
  [
    'knows no credential files',
    'resolve-credential',
    (memory) => ({ resolve: async (path) => ({ ...(await memory.resolve(path)), credential: false }) }),
  ],
  ['follows a link for its metadata', 'stat-link', (memory) => ({ stat: async (path) => memory.stat((await memory.resolve(path)).real) })],
  [
    'reads through a final link',
    'read-final-link',
    (memory) => ({ read: async (path, options) => memory.read((await memory.resolve(path)).real, options) }),
  ],
  [
    'reads a fifo as an empty file',
    'read-regular',
    (memory) => ({
      async read(path, options) {
        const { kind } = await memory.resolve(path);
        return kind === 'fifo' ? { bytes: new Uint8Array(), size: 0 } : memory.read(path, options);
      },
    }),
  ],
  [
    'reads whole files whatever the bound',
    'read-bound',
    (memory) => ({ read: (path, options) => memory.read(path, { ...options, maxBytes: Number.POSITIVE_INFINITY }) }),
  ],
  [
    'writes in two halves',
    'write-atomic',
    (memory) => ({
      async write(path, data, signal) {
        await memory.write(path, data.slice(0, data.length / 2), signal);
        await pause();
        await pause();
        await memory.write(path, data, signal);
      },
    }),
  ],
  [
    'leaves its temporary file behind',
    'write-atomic',
    (memory) => ({
      async write(path, data, signal) {
        await memory.write(`${path}.tmp`, data, signal);
        await memory.write(path, data, signal);
      },
    }),
  ],
  [
    'wants parent directories to exist',
    'write-parents',
    (memory) => ({
      async write(path, data, signal) {
        const { exists } = await memory.resolve(posix.dirname(path));
        return exists ? memory.write(path, data, signal) : refusing(path);
      },
    }),
  ],
  [
    'gives every file the same mode',
    'write-mode',
    (memory) => ({ write: async (path, data) => memory.put((await memory.resolve(path)).real, data, { mode: 0o644 }) }),
  ],
  [
    'writes outside the root through a link',
    'write-outside',
    (memory) => ({
      async write(path, data, signal) {
        const { real, inRoot, finalLink } = await memory.resolve(path);
        if (inRoot || finalLink || path.startsWith('/')) return memory.write(path, data, signal);
        memory.put(real, data);
      },
    }),
  ],
  [
    'writes through a final link',
    'write-link',
    (memory) => ({ write: async (path, data, signal) => memory.write((await memory.resolve(path)).real, data, signal) }),
  ],
  ['writes into a fifo', 'write-device', (memory) => ({ write: async (path, data) => memory.put(path, data) })],
  [
    'lists in the order of creation',
    'list-order',
    (memory) => ({
      async *list(path, options, signal) {
        const entries = [];
        for await (const entry of memory.list(path, options, signal)) entries.push(entry);
        yield* entries.sort((a, b) => a.modifiedAt - b.modifiedAt);
      },
    }),
  ],
  ['enters what should be skipped', 'list-skip', (memory) => ({ list: (path, { depth }, signal) => memory.list(path, { depth }, signal) })],
  [
    'enters links',
    'list-links',
    (memory) => ({
      async *list(path, options, signal) {
        for await (const entry of memory.list(path, options, signal)) {
          yield entry;
          if (entry.kind !== 'link') continue;
          const { real } = await memory.resolve(entry.path);
          for await (const below of memory.list(real, options, signal)) yield { ...below, path: `${entry.path}/${below.path}` };
        }
      },
    }),
  ],
  ['lists on after its signal fired', 'list-signal', (memory) => ({ list: (path, options) => memory.list(path, options) })],
  [
    'fails with an error of the system',
    'errors',
    (memory) => ({
      read: (path, options) =>
        memory.read(path, options).catch(() => {
          throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
        }),
    }),
  ],
];

/** File systems that each break one sentence. */
export const brokenFileSystems: readonly BrokenAdapter<FileSystemHarness>[] = FAULTS.map(([name, caughtBy, fault]) => ({
  name,
  caughtBy: `file-system/${caughtBy}`,
  harness: { place: async () => memoryPlace(fault) },
}));

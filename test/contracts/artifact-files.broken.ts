import { createHash } from 'node:crypto';
import { ArtifactError, type ArtifactFiles } from '../../ports/artifact.ts';
import { hasCode } from '../../ports/errors.ts';
import { createMemoryArtifactFiles, type MemoryArtifactFiles } from '../fakes/artifacts.ts';
import type { ArtifactFilesHarness } from './artifact-files.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: MemoryArtifactFiles) => Partial<ArtifactFiles>;

/** Files in memory, with or without a fault. */
export function memoryFilesHarness(fault: Fault = () => ({})): ArtifactFilesHarness {
  return {
    async make() {
      const plain = createMemoryArtifactFiles();
      for (const folder of ['/root', '/outside']) plain.folder(folder);
      return {
        files: { measure: plain.measure, page: plain.page, ...fault(plain) },
        root: '/root',
        outside: '/outside',
        put: async (path, content) => plain.put(path, content),
        link: async (path, target) => plain.link(path, target),
        folder: async (path) => plain.folder(path),
        pipe: async (path) => plain.pipe(path),
        close: async () => {},
      };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<ArtifactFilesHarness> => ({
  name,
  caughtBy: `artifact-files/${caughtBy}`,
  harness: memoryFilesHarness(fault),
});

/** What happens when an error of this code is told as another one, or not at all. */
function told(code: string, instead: (error: unknown) => Promise<never> | { path: string; sizeBytes: number; sha256: string }): Fault {
  return (plain) => ({
    async measure(lookup) {
      try {
        return await plain.measure(lookup);
      } catch (error) {
        if (!hasCode(error, code)) throw error;
        return instead(error);
      }
    },
  });
}

const NOTHING = { path: '/root/x', sizeBytes: 0, sha256: createHash('sha256').digest('hex') };
const other = (code: 'artifact_unreadable' | 'artifact_missing') => async (): Promise<never> => {
  throw new ArtifactError(code, 'something is wrong');
};

/** Adapters that each break one sentence. */
export const brokenArtifactFiles: readonly BrokenAdapter<ArtifactFilesHarness>[] = [
  broken('counts one byte too many', 'measure', (plain) => ({
    measure: async (lookup) => ({ ...(await plain.measure(lookup)), sizeBytes: (await plain.measure(lookup)).sizeBytes + 1 }),
  })),
  broken('writes digests in capitals', 'measure', (plain) => ({
    measure: async (lookup) => ({ ...(await plain.measure(lookup)), sha256: (await plain.measure(lookup)).sha256.toUpperCase() }),
  })),
  broken('looks at the path and not at where it ends', 'links', (plain) => ({
    measure: (lookup) => plain.measure(lookup.path.startsWith('/root/') ? { ...lookup, roots: [...lookup.roots, '/outside'] } : lookup),
  })),
  broken('takes a folder beside the root for one in it', 'links', (plain) => ({
    measure: (lookup) =>
      lookup.path.startsWith('/root') && !lookup.path.startsWith('/root/') ? Promise.resolve(NOTHING) : plain.measure(lookup),
  })),
  broken('does not follow a root', 'linked-root', (plain) => ({
    measure: (lookup) => plain.measure({ ...lookup, roots: lookup.roots.filter((root) => !root.endsWith('alias')) }),
  })),
  broken('takes no root for every root', 'no-root', (plain) => ({
    measure: (lookup) => plain.measure(lookup.roots.every((root) => root.trim() === '') ? { ...lookup, roots: ['/root'] } : lookup),
  })),
  broken(
    'says nothing of a missing file',
    'missing',
    told('artifact_missing', () => NOTHING),
  ),
  broken(
    'takes a folder for an empty file',
    'regular',
    told('artifact_not_regular', () => NOTHING),
  ),
  broken('knows no limit', 'size', (plain) => ({ measure: (lookup) => plain.measure({ ...lookup, maxBytes: Number.MAX_SAFE_INTEGER }) })),
  broken('does not say how large a file is', 'size', told('artifact_too_large', other('artifact_unreadable'))),
  broken('gives a page too long', 'page', (plain) => ({ page: (lookup) => plain.page({ ...lookup, length: lookup.length + 1 }) })),
  broken('counts pages from one', 'page', (plain) => ({
    page: (lookup) => plain.page({ ...lookup, offset: Math.max(0, lookup.offset - 1) }),
  })),
  broken('gives what is there now', 'changed', (plain) => ({
    page: async (lookup) => plain.page({ ...lookup, sha256: (await plain.measure(lookup)).sha256 }),
  })),
  broken('does not hear the signal', 'signal', (plain) => ({
    measure: (lookup) => plain.measure({ ...lookup, signal: new AbortController().signal }),
  })),
  broken('names the path', 'discreet', (plain) => ({
    async measure(lookup) {
      try {
        return await plain.measure(lookup);
      } catch (error) {
        throw new ArtifactError((error as ArtifactError).code as 'artifact_missing', `${lookup.path}: ${(error as Error).message}`);
      }
    },
  })),
];

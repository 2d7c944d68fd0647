import { createArtifactDesk } from '../../core/artifacts/desk.ts';
import { ArtifactError, type ArtifactReader } from '../../ports/artifact.ts';
import { hasCode } from '../../ports/errors.ts';
import { createMemoryArtifactFiles, createMemoryArtifactLedger } from '../fakes/artifacts.ts';
import type { ArtifactReaderHarness } from './artifact-reader.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: ArtifactReader, ids: ReadonlyMap<string, string>) => Partial<ArtifactReader>;

/** The desk over files in memory, with or without a fault. */
export function memoryReaderHarness(fault: Fault = () => ({})): ArtifactReaderHarness {
  return {
    async make() {
      const files = createMemoryArtifactFiles();
      const desk = createArtifactDesk({ files, ledger: createMemoryArtifactLedger() });
      const paths = new Map<string, string>();
      files.folder('/art');
      return {
        reader: { read: desk.read, ...fault(desk, paths) },
        session: 's-1',
        async add(id, content) {
          const path = `/art/file-of-${id}`;
          files.put(path, content);
          paths.set(id, path);
          const origin = { session: 's-1', source: 'mcp:a:b', roots: ['/art'], signal: new AbortController().signal };
          await desk.accept([{ id, path, mediaType: 'text/plain' }], origin);
          return path;
        },
        overwrite: async (path, content) => files.put(path, content),
        remove: async (path) => files.remove(path),
        async moveOut(path) {
          files.put('/elsewhere/file', 'abc');
          files.link(path, '/elsewhere/file');
        },
        close: async () => {},
      };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<ArtifactReaderHarness> => ({
  name,
  caughtBy: `artifact-reader/${caughtBy}`,
  harness: memoryReaderHarness(fault),
});

const answersTo =
  (code: string): Fault =>
  (plain) => ({
    async read(request) {
      try {
        return await plain.read(request);
      } catch (error) {
        if (!hasCode(error, code)) throw error;
        return { id: request.id, mediaType: 'text/plain', sizeBytes: 0, offset: 0, text: '' };
      }
    },
  });

/** Readers that each break one sentence. */
export const brokenArtifactReaders: readonly BrokenAdapter<ArtifactReaderHarness>[] = [
  broken('cuts a character', 'page', (plain) => ({
    async read(request) {
      const page = await plain.read(request);
      return page.nextOffset === undefined ? page : { ...page, text: `${page.text}\uFFFD`, nextOffset: page.nextOffset + 1 };
    },
  })),
  broken('does not say that more follows', 'whole', (plain) => ({
    async read(request) {
      const { nextOffset, ...page } = await plain.read(request);
      return page;
    },
  })),
  broken('drops a mark at the beginning', 'whole', (plain) => ({
    async read(request) {
      const page = await plain.read(request);
      return { ...page, text: page.text.replace(/^\uFEFF/, '') };
    },
  })),
  broken('looks into every session', 'unknown', (plain) => ({ read: (request) => plain.read({ ...request, session: 's-1' }) })),
  broken('takes an unknown id for an empty file', 'unknown', answersTo('artifact_unknown')),
  broken('gives a changed file as an empty one', 'checked', answersTo('artifact_changed')),
  broken('gives a file outside of the roots as an empty one', 'checked', answersTo('artifact_outside_roots')),
  broken('takes everything for text', 'text', answersTo('artifact_not_text')),
  broken('names the path in errors', 'discreet', (plain, paths) => ({
    async read(request) {
      try {
        return await plain.read(request);
      } catch (error) {
        throw new ArtifactError((error as ArtifactError).code as 'artifact_missing', `${paths.get(request.id)} is not what it was`);
      }
    },
  })),
];

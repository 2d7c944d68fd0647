import assert from 'node:assert/strict';
import type { ArtifactFiles } from '../../ports/artifact.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** Two folders, both there and empty, and ways to fill them. Paths are absolute. */
export interface ArtifactFilesPlace {
  readonly files: ArtifactFiles;
  readonly root: string;
  readonly outside: string;
  put(path: string, content: string | Uint8Array): Promise<void>;
  link(path: string, target: string): Promise<void>;
  folder(path: string): Promise<void>;
  /** A named pipe that nobody writes to. */
  pipe(path: string): Promise<void>;
  close(): Promise<void>;
}

export interface ArtifactFilesHarness {
  make(): Promise<ArtifactFilesPlace>;
}

const MAX = 1024 * 1024;
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

interface Asked {
  readonly roots?: readonly string[];
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

function lookup(place: ArtifactFilesPlace, path: string, { roots = [place.root], maxBytes = MAX, signal }: Asked = {}) {
  return { path, roots, maxBytes, signal: signal ?? new AbortController().signal };
}

const refused =
  (code: string, ...hidden: readonly string[]) =>
  (error: unknown): boolean => {
    assert.equal((error as { code?: unknown }).code, code);
    for (const text of hidden) assert.ok(!String((error as Error).message).includes(text), `the message names ${text}`);
    return true;
  };

function over(id: string, sentence: string, test: (place: ArtifactFilesPlace) => Promise<void>): ContractCase<ArtifactFilesHarness> {
  return {
    id: `artifact-files/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link ArtifactFiles}. */
export const artifactFilesSuite: ContractSuite<ArtifactFilesHarness> = {
  port: 'ArtifactFiles',
  cases: [
    over('measure', '`measure` gives size and SHA-256 of a regular file that lies inside a root', async (place) => {
      await place.put(`${place.root}/in/a.txt`, 'abc');
      const found = await place.files.measure(lookup(place, `${place.root}/in/a.txt`));
      assert.deepEqual({ sizeBytes: found.sizeBytes, sha256: found.sha256 }, { sizeBytes: 3, sha256: ABC });
    }),
    over('links', 'a file lies where its path ends once every link is resolved', async (place) => {
      await place.put(`${place.outside}/secret`, 'abc');
      await place.put(`${place.root}/a.txt`, 'abc');
      await place.link(`${place.root}/way`, place.outside);
      await place.link(`${place.root}/file`, `${place.outside}/secret`);
      await place.link(`${place.root}/good`, `${place.root}/a.txt`);
      for (const path of [`${place.outside}/secret`, `${place.root}/way/secret`, `${place.root}/file`, `${place.root}-side/a`]) {
        await assert.rejects(place.files.measure(lookup(place, path)), refused('artifact_outside_roots'));
        await assert.rejects(
          place.files.page({ ...lookup(place, path), sha256: ABC, offset: 0, length: 3 }),
          refused('artifact_outside_roots'),
        );
      }
      assert.equal((await place.files.measure(lookup(place, `${place.root}/good`))).sha256, ABC);
    }),
    over('linked-root', 'a root that is itself a link holds what is in its target', async (place) => {
      await place.put(`${place.root}/a.txt`, 'abc');
      await place.link(`${place.outside}/alias`, place.root);
      const roots = [`${place.outside}/alias`];
      for (const path of [`${place.root}/a.txt`, `${place.outside}/alias/a.txt`]) {
        assert.equal((await place.files.measure(lookup(place, path, { roots }))).sha256, ABC);
      }
    }),
    over('no-root', 'without a root that holds anything, every file is `artifact_outside_roots`', async (place) => {
      await place.put(`${place.root}/a.txt`, 'abc');
      for (const roots of [[], [''], ['  '], ['.'], [`${place.root}/not-there`], [`${place.root}/a.txt`]]) {
        await assert.rejects(place.files.measure(lookup(place, `${place.root}/a.txt`, { roots })), refused('artifact_outside_roots'));
      }
    }),
    over('missing', 'a path with nothing there is `artifact_missing`', async (place) => {
      await assert.rejects(place.files.measure(lookup(place, `${place.root}/none`)), refused('artifact_missing'));
    }),
    over('regular', 'anything but a regular file is `artifact_not_regular`; a pipe does not make it wait', async (place) => {
      await place.folder(`${place.root}/folder`);
      await place.pipe(`${place.root}/pipe`);
      for (const name of ['folder', 'pipe']) {
        await assert.rejects(place.files.measure(lookup(place, `${place.root}/${name}`)), refused('artifact_not_regular'));
      }
    }),
    over('size', 'a file of more than `maxBytes` is `artifact_too_large`, with the size and the limit', async (place) => {
      await place.put(`${place.root}/a`, 'x'.repeat(11));
      await assert.rejects(place.files.measure(lookup(place, `${place.root}/a`, { maxBytes: 10 })), (error: unknown) => {
        refused('artifact_too_large')(error);
        assert.deepEqual([(error as { value: unknown }).value, (error as { limit: unknown }).limit], [11, 10]);
        return true;
      });
      assert.equal((await place.files.measure(lookup(place, `${place.root}/a`, { maxBytes: 11 }))).sizeBytes, 11);
    }),
    over('page', '`page` gives the bytes from `offset` on, at most `length`, and none behind the end', async (place) => {
      const content = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
      await place.put(`${place.root}/a`, content);
      const { sha256 } = await place.files.measure(lookup(place, `${place.root}/a`));
      for (const [offset, length] of [
        [0, 10],
        [65_530, 12],
        [131_000, 65_536],
        [199_990, 100],
        [200_000, 10],
        [999_999, 10],
      ] as const) {
        const page = await place.files.page({ ...lookup(place, `${place.root}/a`), sha256, offset, length });
        assert.deepEqual([...page], [...content.slice(offset, offset + length)], `${length} from ${offset}`);
      }
    }),
    over('changed', '`page` gives nothing of a file whose bytes have another SHA-256', async (place) => {
      await place.put(`${place.root}/a`, 'abc');
      const { sha256 } = await place.files.measure(lookup(place, `${place.root}/a`));
      await place.put(`${place.root}/a`, 'abd');
      const asked = { ...lookup(place, `${place.root}/a`), sha256, offset: 0, length: 1 };
      await assert.rejects(place.files.page(asked), refused('artifact_changed'));
    }),
    over('signal', 'when `signal` fires, it rejects with `CancelledError`', async (place) => {
      await place.put(`${place.root}/a`, 'abc');
      const fired = lookup(place, `${place.root}/a`, { signal: AbortSignal.abort() });
      await assert.rejects(place.files.measure(fired), refused('cancelled'));
      await assert.rejects(place.files.page({ ...fired, sha256: ABC, offset: 0, length: 3 }), refused('cancelled'));
    }),
    over('discreet', 'no error names the path', async (place) => {
      await place.put(`${place.outside}/secret-name`, 'abc');
      await place.put(`${place.root}/large-name`, 'abc');
      await place.folder(`${place.root}/folder-name`);
      const lookups = [
        lookup(place, `${place.outside}/secret-name`),
        lookup(place, `${place.root}/missing-name`),
        lookup(place, `${place.root}/folder-name`),
        lookup(place, `${place.root}/large-name`, { maxBytes: 1 }),
      ];
      for (const asked of lookups) {
        await assert.rejects(place.files.measure(asked), (error: unknown) => {
          assert.doesNotMatch((error as Error).message, /-name/);
          assert.ok(!(error as Error).message.includes(place.root));
          return true;
        });
      }
    }),
  ],
};

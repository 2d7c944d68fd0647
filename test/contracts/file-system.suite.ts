import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import { type DirectoryEntry, FileError, type FileSystem } from '../../ports/file-system.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A root with an empty folder of its own, and a way to look at it from outside. Paths are absolute. */
export interface FileSystemPlace {
  readonly fs: FileSystem;
  readonly root: string;
  /** A folder that exists and lies outside the root. */
  readonly outside: string;
  readonly stateDir: string;
  /** Makes something inside the root that is neither a file nor a folder nor a link. */
  special(): Promise<string>;
  put(path: string, content: string, mode?: number): Promise<void>;
  link(path: string, target: string): Promise<void>;
  content(path: string): Promise<string | undefined>;
  mode(path: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export interface FileSystemHarness {
  place(): Promise<FileSystemPlace>;
}

const LARGE = 400_000;

async function refused(work: Promise<unknown>, path: string, codes: readonly string[]): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FileError, `${path}: expected a FileError, got ${String(error)}`);
  assert.ok(codes.includes(error.code), `${path}: expected ${codes.join(' or ')}, got ${error.code}`);
  assert.equal(error.value, path, 'the error names the path as it was asked for');
}

async function listed(fs: FileSystem, path: string, depth: number): Promise<readonly DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const entry of fs.list(path, { depth })) entries.push(entry);
  return entries;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function inPlace(id: string, sentence: string, run: (place: FileSystemPlace) => Promise<void>): ContractCase<FileSystemHarness> {
  return {
    id: `file-system/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.place();
      try {
        await run(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link FileSystem}. */
export const fileSystemSuite: ContractSuite<FileSystemHarness> = {
  port: 'FileSystem',
  cases: [
    inPlace('resolve-missing', '`resolve` never throws for a path that does not exist', async ({ fs, root }) => {
      const found = await fs.resolve('no/such/file');
      assert.deepEqual([found.exists, found.kind, found.inRoot], [false, undefined, true]);
      assert.equal(found.real, `${root}/no/such/file`);
    }),
    inPlace(
      'resolve-links',
      '`resolve` follows every link before it says where a path lies',
      async ({ fs, root, outside, stateDir, put, link }) => {
        await put(`${outside}/secret`, 'secret');
        await put(`${root}/deep/file`, 'inside');
        await link(`${root}/out`, outside);
        await link(`${root}/chain`, `${root}/out`);
        await link(`${root}/dangling`, `${outside}/not-yet`);
        await link(`${root}/back`, `${root}/deep`);
        const places = await Promise.all(
          ['out/secret', 'chain/secret', 'dangling', 'back/file', 'deep/../../x'].map((path) => fs.resolve(path)),
        );
        assert.deepEqual(
          places.map(({ inRoot }) => inRoot),
          [false, false, false, true, false],
        );
        assert.deepEqual(
          [places[0]?.real, places[2]?.real, places[3]?.real],
          [`${outside}/secret`, `${outside}/not-yet`, `${root}/deep/file`],
        );
        assert.deepEqual([places[0]?.finalLink, places[2]?.finalLink], [false, true]);
        assert.equal((await fs.resolve(`${stateDir}/config.json`)).inState, true);
        assert.equal((await fs.resolve(`${stateDir}/media/picture`)).inState, false);
      },
    ),
    inPlace('resolve-credential', '`resolve` tells credential files by their name', async ({ fs }) => {
      const names = ['.env', 'a/server.pem', 'tls.key', 'id_rsa', '.netrc', '.npmrc', 'readme.md', 'environment'];
      const found = await Promise.all(names.map((name) => fs.resolve(name)));
      assert.deepEqual(
        found.map(({ credential }) => credential),
        [true, true, true, true, true, true, false, false],
      );
    }),
    inPlace('stat-link', '`stat` is of the path itself: a final link is reported as `link`', async ({ fs, root, put, link }) => {
      await put(`${root}/file`, '12345', 0o640);
      await link(`${root}/to-file`, `${root}/file`);
      const [file, other] = [await fs.stat('file'), await fs.stat('to-file')];
      assert.deepEqual([file.kind, file.size, file.mode & 0o777, other.kind], ['file', 5, 0o640, 'link']);
    }),
    inPlace('read-final-link', '`read` opens without following a final link', async ({ fs, root, put, link }) => {
      await put(`${root}/file`, 'text');
      await link(`${root}/to-file`, `${root}/file`);
      await refused(fs.read('to-file', { maxBytes: 10 }), 'to-file', ['final_link']);
      await link(`${root}/folder-link`, root);
      assert.equal(textOf((await fs.read('folder-link/file', { maxBytes: 10 })).bytes), 'text');
    }),
    inPlace('read-regular', '`read` refuses anything but a regular file', async ({ fs, root, special, put }) => {
      await put(`${root}/folder/file`, '');
      await refused(fs.read('folder', { maxBytes: 10 }), 'folder', ['is_directory', 'not_regular_file']);
      const path = await special();
      await refused(fs.read(path, { maxBytes: 10 }), path, ['not_regular_file']);
    }),
    inPlace('read-bound', '`read` returns at most `maxBytes`, and the whole size', async ({ fs, root, put }) => {
      await put(`${root}/file`, 'x'.repeat(LARGE));
      const part = await fs.read('file', { maxBytes: 1000 });
      const whole = await fs.read('file', { maxBytes: LARGE * 2 });
      assert.deepEqual([part.bytes.length, part.size, whole.bytes.length, whole.size], [1000, LARGE, LARGE, LARGE]);
    }),
    inPlace('write-atomic', '`write` is atomic: readers see the old or the new content, nothing between', async ({ fs, root }) => {
      const versions = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(LARGE));
      await fs.write('file', versions[0] ?? '');
      let writing = true;
      let mixed = 0;
      const reading = (async () => {
        do {
          const { bytes } = await fs.read('file', { maxBytes: LARGE * 2 });
          if (!versions.includes(textOf(bytes))) mixed += 1;
          await new Promise((resolve) => setImmediate(resolve));
        } while (writing);
      })();
      for (const version of versions.slice(1)) await fs.write('file', version);
      writing = false;
      await reading;
      assert.equal(mixed, 0, 'a reader saw a mixture or a part');
      await assert.rejects(fs.write('file', 'cancelled', AbortSignal.abort()), (error) => hasCode(error, 'cancelled'));
      assert.deepEqual(
        (await listed(fs, root, 1)).map(({ path }) => path),
        ['file'],
        'nothing else is left in the folder',
      );
    }),
    inPlace('write-parents', '`write` makes missing parent directories', async ({ fs, root, content }) => {
      await fs.write('a/b/c.txt', 'text');
      await fs.write('plain.txt', new Uint8Array([104, 105]));
      assert.deepEqual([await content(`${root}/a/b/c.txt`), await content(`${root}/plain.txt`)], ['text', 'hi']);
    }),
    inPlace('write-mode', '`write` keeps the mode of a file it replaces', async ({ fs, root, put, mode }) => {
      await put(`${root}/script.sh`, 'old', 0o750);
      await fs.write('script.sh', 'new');
      assert.equal((await mode(`${root}/script.sh`)) ?? 0, 0o750);
    }),
    inPlace('write-outside', '`write` refuses a target outside the root', async ({ fs, root, outside, link, put, content }) => {
      await put(`${outside}/file`, 'untouched');
      await link(`${root}/out`, outside);
      await link(`${root}/dangling`, `${outside}/created`);
      for (const path of [`${outside}/file`, 'out/file', 'out/new/file', `../${outside.slice(outside.lastIndexOf('/') + 1)}/file`]) {
        await refused(fs.write(path, 'changed'), path, ['outside_root']);
      }
      await refused(fs.write('dangling', 'changed'), 'dangling', ['outside_root', 'final_link']);
      assert.deepEqual([await content(`${outside}/file`), await content(`${outside}/created`)], ['untouched', undefined]);
    }),
    inPlace('write-link', '`write` refuses a final link', async ({ fs, root, put, link, content }) => {
      await put(`${root}/file`, 'untouched');
      await link(`${root}/to-file`, `${root}/file`);
      await refused(fs.write('to-file', 'changed'), 'to-file', ['final_link']);
      assert.equal(await content(`${root}/file`), 'untouched');
    }),
    inPlace('write-device', '`write` refuses a device', async ({ fs, special }) => {
      const path = await special();
      await refused(fs.write(path, 'text'), path, ['not_regular_file']);
    }),
    inPlace('list-order', '`list` yields entries of a directory in name order', async ({ fs, root, put }) => {
      for (const name of ['b', 'a/y', 'a/x', 'c/deep/er', 'Z']) await put(`${root}/${name}`, 'text');
      assert.deepEqual(
        (await listed(fs, '.', 2)).map(({ path, kind }) => `${path} ${kind}`),
        ['Z file', 'a directory', 'a/x file', 'a/y file', 'b file', 'c directory', 'c/deep directory'],
      );
    }),
    inPlace('list-skip', '`list` neither lists nor enters what `skip` names', async ({ fs, root, put }) => {
      for (const name of ['keep/file', 'drop/file']) await put(`${root}/${name}`, 'text');
      const entries: string[] = [];
      for await (const entry of fs.list('.', { depth: 5, skip: (name) => name === 'drop' })) entries.push(entry.path);
      assert.deepEqual(entries, ['keep', 'keep/file']);
    }),
    inPlace('list-links', '`list` does not enter links', async ({ fs, root, outside, put, link }) => {
      await put(`${outside}/secret`, 'text');
      await link(`${root}/out`, outside);
      assert.deepEqual(
        (await listed(fs, '.', 5)).map(({ path, kind }) => `${path} ${kind}`),
        ['out link'],
      );
    }),
    inPlace('list-signal', '`list` honours `signal`', async ({ fs, root, put }) => {
      for (let index = 0; index < 20; index += 1) await put(`${root}/file-${index}`, 'text');
      const controller = new AbortController();
      let seen = 0;
      const walk = async () => {
        for await (const _ of fs.list('.', { depth: 3 }, controller.signal)) {
          seen += 1;
          if (seen === 2) controller.abort();
        }
      };
      await assert.rejects(walk(), (error) => hasCode(error, 'cancelled'));
      assert.ok(seen <= 3, `${seen} entries came although the signal fired after two`);
    }),
    inPlace('errors', 'failures reject with `FileError`; they name the path as it was asked for', async ({ fs, root, put }) => {
      await put(`${root}/file`, 'text');
      await refused(fs.read('./missing', { maxBytes: 1 }), './missing', ['not_found']);
      await refused(fs.stat('./missing'), './missing', ['not_found']);
      await refused(listed(fs, 'file', 1), 'file', ['not_directory']);
      await refused(fs.write('file/below', 'text'), 'file/below', ['not_directory', 'not_regular_file']);
      await refused(fs.read('nul\0byte', { maxBytes: 1 }), 'nul\0byte', ['invalid_path']);
    }),
  ],
};

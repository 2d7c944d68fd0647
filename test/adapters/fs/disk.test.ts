import { rename, rm, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { FileSystemPlace } from '../../contracts/file-system.suite.ts';
import { diskPlace } from './fixture.ts';

let place: FileSystemPlace;
/** What happens between the check of a path and its use. */
let swap: (() => Promise<void>) | undefined;

beforeEach(async () => {
  swap = undefined;
  place = await diskPlace({ checked: () => swap?.() });
  await place.put(join(place.outside, 'file'), 'secret');
  await place.put(join(place.root, 'folder/file'), 'mine');
});

afterEach(() => place.close());

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: { code?: string }) => error.code,
  );

async function folderBecomesLink(): Promise<void> {
  swap = undefined;
  await rename(join(place.root, 'folder'), join(place.root, 'moved'));
  await symlink(place.outside, join(place.root, 'folder'));
}

async function fileBecomesLink(): Promise<void> {
  swap = undefined;
  await rm(join(place.root, 'folder/file'));
  await symlink(join(place.outside, 'file'), join(place.root, 'folder/file'));
}

describe('a link that is swapped in between check and use', () => {
  it('in place of the folder gives a reader nothing from outside', async () => {
    swap = folderBecomesLink;
    expect(await codeOf(place.fs.read('folder/file', { maxBytes: 100 }))).toBe('outside_root');
  });

  it('in place of the file gives a reader nothing from outside', async () => {
    swap = fileBecomesLink;
    expect(await codeOf(place.fs.read('folder/file', { maxBytes: 100 }))).toBe('final_link');
  });

  it('in place of the folder leads no write outside', async () => {
    swap = folderBecomesLink;
    expect(['not_directory', 'final_link']).toContain(await codeOf(place.fs.write('folder/file', 'changed')));
    swap = undefined;
    expect(await codeOf(place.fs.write('folder/new', 'changed'))).toBe('outside_root');
    expect(await place.content(join(place.outside, 'file'))).toBe('secret');
    expect(await place.content(join(place.outside, 'new'))).toBeUndefined();
  });

  it('in place of the file leads no write outside', async () => {
    swap = fileBecomesLink;
    expect(await codeOf(place.fs.write('folder/file', 'changed'))).toBe('final_link');
    expect(await place.content(join(place.outside, 'file'))).toBe('secret');
  });

  it('in place of the folder lists nothing from outside', async () => {
    swap = folderBecomesLink;
    const list = async () => {
      for await (const _ of place.fs.list('folder', { depth: 1 }));
    };
    expect(['not_directory', 'final_link', 'outside_root']).toContain(await codeOf(list()));
  });

  it('after the judgement and before the read gives nothing from outside', async () => {
    expect((await place.fs.resolve('folder/file')).inRoot).toBe(true);
    await folderBecomesLink();
    expect(await codeOf(place.fs.read('folder/file', { maxBytes: 100 }))).toBe('outside_root');
  });

  it('and back, again and again, never gives a reader anything from outside', async () => {
    let swapping = true;
    const swapper = (async () => {
      while (swapping) {
        await rename(join(place.root, 'folder'), join(place.root, 'moved'));
        await symlink(place.outside, join(place.root, 'folder'));
        await rm(join(place.root, 'folder'));
        await rename(join(place.root, 'moved'), join(place.root, 'folder'));
        await sleep(1);
      }
    })();
    const reads: string[] = [];
    for (let round = 0; round < 1000; round += 1) {
      // Lets the swapper take a step.
      await new Promise(setImmediate);
      const judged = await place.fs.resolve('folder/file');
      const read = await place.fs.read('folder/file', { maxBytes: 100 }).catch(() => undefined);
      if (read && judged.inRoot) reads.push(new TextDecoder().decode(read.bytes));
    }
    swapping = false;
    await swapper;
    expect(new Set(reads)).toEqual(new Set(['mine']));
  });
});

describe('files on disk', () => {
  it('outside the root are read only where the last check of that path said so', async () => {
    const path = join(place.outside, 'file');
    expect(await codeOf(place.fs.read(path, { maxBytes: 100 }))).toBe('outside_root');
    await place.fs.resolve(path);
    expect((await place.fs.read(path, { maxBytes: 100 })).size).toBe(6);
  });

  it('below a checked folder outside the root are listed and read', async () => {
    await place.fs.resolve(place.outside);
    const seen: string[] = [];
    for await (const entry of place.fs.list(place.outside, { depth: 1 })) seen.push(entry.path);
    expect(seen).toEqual(['file']);
    expect((await place.fs.read(join(place.outside, 'file'), { maxBytes: 3 })).bytes.length).toBe(3);
  });

  it("of odek's own state are neither read nor written, whatever their case", async () => {
    await place.put(join(place.stateDir, 'config.json'), '{}');
    await place.put(join(place.stateDir, 'media/picture'), 'pixels');
    expect(await codeOf(place.fs.read(join(place.stateDir, 'config.json'), { maxBytes: 10 }))).toBe('trust_anchor');
    expect(await codeOf(place.fs.write(join(place.stateDir, 'config.json'), 'x'))).toBe('trust_anchor');
    expect((await place.fs.resolve(join(place.stateDir.toUpperCase(), 'Config.JSON'))).inState).toBe(true);
    expect((await place.fs.resolve(join(place.stateDir, 'media/picture'))).inState).toBe(false);
  });

  it('of a state folder inside the root are refused too', async () => {
    const fs = createDiskFileSystem({ root: place.root, stateDir: join(place.root, '.odek') });
    expect(await codeOf(fs.write('.odek/config.json', '{}'))).toBe('trust_anchor');
  });

  it('may grow while they are read: the bound holds', async () => {
    const path = join(place.root, 'growing');
    await place.put(path, 'x');
    swap = () => truncate(path, 5_000_000);
    const { bytes, size } = await place.fs.read('growing', { maxBytes: 1_000_000 });
    expect([bytes.length, size]).toEqual([1_000_000, 5_000_000]);
  });

  it('that are read-only are not replaced', async () => {
    if (process.getuid?.() === 0) return void expect(process.getuid()).toBe(0);
    await place.put(join(place.root, 'fixed'), 'old', 0o444);
    expect(await codeOf(place.fs.write('fixed', 'new'))).toBe('permission_denied');
  });

  it('keep links that lead to places inside the root usable', async () => {
    await place.link(join(place.root, 'alias'), join(place.root, 'folder'));
    await place.fs.write('alias/new', 'text');
    expect(await place.content(join(place.root, 'folder/new'))).toBe('text');
  });

  it('in a folder of device files say what they are without being opened', async () => {
    const found = await place.fs.resolve('/dev/null');
    expect([found.kind, found.inRoot]).toEqual(['device', false]);
    expect(await codeOf(place.fs.read('/dev/null', { maxBytes: 1 }))).toBe('not_regular_file');
  });

  it('with a loop of links on the way fail with a typed error', async () => {
    await place.link(join(place.root, 'one'), join(place.root, 'two'));
    await place.link(join(place.root, 'two'), join(place.root, 'one'));
    expect(await codeOf(place.fs.resolve('one/file'))).toBe('final_link');
  });

  it('stop being read when the signal fires', async () => {
    const work = place.fs.read('folder/file', { maxBytes: 100, signal: AbortSignal.abort() });
    await expect(work).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
  });

  it('with a name as long as a name can be are written', async () => {
    const name = 'n'.repeat(255);
    await place.fs.write(name, 'text');
    expect(await place.content(join(place.root, name))).toBe('text');
    expect(await codeOf(place.fs.write('n'.repeat(256), 'text'))).toBe('invalid_path');
  });
});

describe('a root', () => {
  it('that does not exist is a typed error', () => {
    expect(() => createDiskFileSystem({ root: join(place.root, 'missing'), stateDir: place.stateDir })).toThrow(/does not exist/);
  });
});

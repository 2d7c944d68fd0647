import { execFile } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installCopy, openSnapshot, pruneSnapshots, stageBundle } from '../../../adapters/bundles/snapshot.ts';
import { createBundleState } from '../../../adapters/bundles/state.ts';
import { type WalkedFile, walkBundle } from '../../../adapters/bundles/walk.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { walkOptions } from '../../../hosts/bundles/inspect.ts';

const hash = createSha256();
const options = walkOptions(hash);
let root: string;
let bundle: string;

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(join(bundle, path, '..'), { recursive: true });
  await writeFile(join(bundle, path), text);
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'odek-bundles-'));
  bundle = join(root, 'bundle');
  await mkdir(bundle);
  await put('plugin.json', '{}');
  await put('a.mts', 'const a: number = 1;\n');
  await put('lib/b.txt', 'b');
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('reading a bundle', () => {
  it('gives each file with exactly the bytes that were hashed, and nothing of a checkout', async () => {
    await put('.git/config', 'x');
    await chmod(join(bundle, 'lib/b.txt'), 0o755);
    const seen: string[] = [];
    const files = await walkBundle(bundle, {
      ...options,
      onFile: (file, bytes) => {
        expect(hash.sha256(bytes)).toBe(file.sha256);
        seen.push(file.path);
      },
    });
    expect(files.map(({ path, size, executable }) => [path, size, executable])).toEqual([
      ['a.mts', 21, false],
      ['lib/b.txt', 1, true],
      ['plugin.json', 2, false],
    ]);
    expect(seen.sort()).toEqual(files.map(({ path }) => path));
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['a link to a file', () => symlink('plugin.json', join(bundle, 'x')), 'x is a link'],
    ['a link to a folder', () => symlink('lib', join(bundle, 'x')), 'x is a link'],
    ['a link that leads out', () => symlink('/etc/passwd', join(bundle, 'x')), 'x is a link'],
    ['a link to nothing', () => symlink('nothing', join(bundle, 'x')), 'x is a link'],
    ['a file with a second name', () => link(join(bundle, 'a.mts'), join(root, 'other')), 'a.mts has a second name'],
    ['a pipe', () => promisify(execFile)('mkfifo', [join(bundle, 'x')]), 'x is no regular file'],
    ['a name with a line in it', () => writeFile(join(bundle, 'a\nb'), ''), 'cannot be part of a plugin'],
    ['a name that turns text around', () => writeFile(join(bundle, 'a\u202eb'), ''), 'cannot be part of a plugin'],
    ['a name with a backslash', () => writeFile(join(bundle, 'a\\b'), ''), 'cannot be part of a plugin'],
  ])('refuses %s and names it', async (_, make, told) => {
    await make();
    await expect(walkBundle(bundle, options)).rejects.toMatchObject({ code: 'plugin_refused', message: expect.stringContaining(told) });
  });

  it('refuses a folder that is a link, a file, or not there', async () => {
    await symlink(bundle, join(root, 'link'));
    await expect(walkBundle(join(root, 'link'), options)).rejects.toMatchObject({ code: 'plugin_refused' });
    await expect(walkBundle(join(bundle, 'a.mts'), options)).rejects.toMatchObject({ code: 'plugin_refused' });
    await expect(walkBundle(join(root, 'none'), options)).rejects.toMatchObject({ code: 'plugin_not_found' });
  });

  it('holds its bounds on files and on bytes, with both told', async () => {
    const tight = (limits: { files: number; hashedBytes: number }) => walkBundle(bundle, { ...options, limits });
    expect(await tight({ files: 4, hashedBytes: 24 })).toHaveLength(3);
    await expect(tight({ files: 3, hashedBytes: 24 })).rejects.toMatchObject({ code: 'plugin_too_large' });
    await expect(tight({ files: 4, hashedBytes: 23 })).rejects.toMatchObject({ code: 'plugin_too_large' });
  });

  it('stops when it is told to', async () => {
    await expect(walkBundle(bundle, { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('never gives the bytes of a file outside, however a folder is swapped for a link while it reads', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'b.txt'), 'SECRET');
    let swapping = true;
    const swap = (async () => {
      while (swapping) {
        await rename(join(bundle, 'lib'), join(root, 'kept'));
        await symlink(outside, join(bundle, 'lib'));
        await unlink(join(bundle, 'lib'));
        await rename(join(root, 'kept'), join(bundle, 'lib'));
      }
    })();
    const outcomes = new Set<string>();
    for (let attempt = 0; attempt < 200; attempt++) {
      const onFile = (_: WalkedFile, bytes: Uint8Array): void => expect(new TextDecoder().decode(bytes)).not.toBe('SECRET');
      outcomes.add(
        await walkBundle(bundle, { ...options, onFile }).then(
          () => 'read',
          (error) => (error as { name: string }).name,
        ),
      );
    }
    swapping = false;
    await swap;
    expect(outcomes).not.toContain('AssertionError');
  });
});

describe('a snapshot', () => {
  const into = (): string => join(root, 'snapshots', 'x');
  const stage = async (reviewed?: readonly WalkedFile[]): Promise<void> =>
    stageBundle({ ...options, folder: bundle, into: into(), reviewed: reviewed ?? (await walkBundle(bundle, options)) });

  it('holds what was reviewed, and the same without types', async () => {
    await stage();
    const snapshot = await openSnapshot(into(), options);
    expect(await readFile(join(into(), 'src/a.mts'), 'utf8')).toBe('const a: number = 1;\n');
    expect(await readFile(join(into(), 'run/a.mts'), 'utf8')).toBe('const a         = 1;\n');
    expect(snapshot?.table).toEqual({ 'a.mts': hash.sha256('const a         = 1;\n'), 'plugin.json': hash.sha256('{}') });
    expect(snapshot?.files.map(({ path }) => path)).toEqual(['a.mts', 'lib/b.txt', 'plugin.json']);
    expect((await stat(join(into(), 'run/a.mts'))).mode & 0o222).toBe(0);
  });

  it.each<[string, () => Promise<void>, string]>([
    ['changed', () => put('lib/b.txt', 'c'), 'lib/b.txt'],
    ['came', () => put('c.txt', ''), 'c.txt'],
    ['went', () => rm(join(bundle, 'lib/b.txt')), 'lib/b.txt'],
  ])('is not made where a file %s after the review', async (_, change, path) => {
    const reviewed = await walkBundle(bundle, options);
    await change();
    await expect(stage(reviewed)).rejects.toMatchObject({ code: 'plugin_changed', value: path });
    expect(await readdir(join(root, 'snapshots'))).toEqual([]);
  });

  it('never holds other bytes than were reviewed, however a file is swapped while it is copied', async () => {
    const reviewed = await walkBundle(bundle, options);
    let swapping = true;
    const swap = (async () => {
      for (let turn = 0; swapping; turn++) {
        await writeFile(join(root, 'next'), turn % 2 === 0 ? 'evil' : 'const a: number = 1;\n');
        await rename(join(root, 'next'), join(bundle, 'a.mts'));
      }
    })();
    for (let attempt = 0; attempt < 40; attempt++) {
      const staged = await stage(reviewed).then(
        () => true,
        () => false,
      );
      if (staged) expect(await readFile(join(into(), 'src/a.mts'), 'utf8')).toBe('const a: number = 1;\n');
    }
    swapping = false;
    await swap;
  });

  it.each(['run/a.mts', 'run/lib/b.txt', 'run/plugin.json'])('is refused, by path, after a change of %s', async (path) => {
    await stage();
    await chmod(join(into(), path), 0o600);
    await writeFile(join(into(), path), 'x');
    await expect(openSnapshot(into(), options)).rejects.toMatchObject({ code: 'plugin_changed', value: path.slice('run/'.length) });
  });

  it('is refused with a file more or less', async () => {
    await stage();
    await writeFile(join(into(), 'run/more.mjs'), '');
    await expect(openSnapshot(into(), options)).rejects.toMatchObject({ code: 'plugin_changed', value: 'more.mjs' });
    await rm(join(into(), 'run/more.mjs'));
    await rm(join(into(), 'run/lib/b.txt'));
    await expect(openSnapshot(into(), options)).rejects.toMatchObject({ code: 'plugin_changed', value: 'lib/b.txt' });
  });

  it('counts as absent when another version took the types away, and is made anew over what is there', async () => {
    expect(await openSnapshot(into(), options)).toBeUndefined();
    await stage();
    const receipt = join(into(), 'receipt.json');
    const held = JSON.parse(await readFile(receipt, 'utf8'));
    await chmod(receipt, 0o600);
    await writeFile(receipt, JSON.stringify({ ...held, transformer: 'strip-types 0' }));
    expect(await openSnapshot(into(), options)).toBeUndefined();
    await stage();
    expect(await openSnapshot(into(), options)).toBeDefined();
    expect(await readdir(join(root, 'snapshots'))).toEqual(['x']);
  });

  it('is made once by several that make it at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => stage()));
    expect(await openSnapshot(into(), options)).toBeDefined();
    expect(await readdir(join(root, 'snapshots'))).toEqual(['x']);
  });

  it('leaves a module out that no node could run', async () => {
    await put('bad.mts', 'enum A { B }');
    await stage();
    expect((await openSnapshot(into(), options))?.table).not.toHaveProperty('bad.mts');
  });

  it('goes when nobody names it and it is old', async () => {
    await stage();
    await pruneSnapshots(join(root, 'snapshots'), new Set(['x']), -1);
    await pruneSnapshots(join(root, 'snapshots'), new Set(), 60_000);
    expect(await readdir(join(root, 'snapshots'))).toEqual(['x']);
    await pruneSnapshots(join(root, 'snapshots'), new Set(), -1);
    expect(await readdir(join(root, 'snapshots'))).toEqual([]);
  });
});

describe('an installation', () => {
  const install = (replace = false) =>
    installCopy(bundle, { ...options, into: join(root, 'plugins'), replace, nameOf: async () => 'hello' });

  it('is a copy, and replaces another one only when it is told to', async () => {
    await install();
    await put('a.mts', 'const b = 2;\n');
    await expect(install()).rejects.toMatchObject({ code: 'plugin_exists' });
    expect(await readFile(join(root, 'plugins/hello/a.mts'), 'utf8')).toContain('const a');
    await install(true);
    expect(await readFile(join(root, 'plugins/hello/a.mts'), 'utf8')).toContain('const b');
    expect(await readdir(join(root, 'plugins'))).toEqual(['hello']);
  });

  it('leaves nothing behind where it is refused', async () => {
    await symlink('/etc', join(bundle, 'x'));
    await expect(install()).rejects.toMatchObject({ code: 'plugin_refused' });
    expect(await readdir(join(root, 'plugins'))).toEqual([]);
  });
});

describe('the record of decisions', () => {
  const file = (): string => join(root, 'state', 'state.json');
  const told: string[] = [];
  const open = (waitMs?: number) =>
    createBundleState({ file: file(), warn: (text) => void told.push(text), ...(waitMs !== undefined && { waitMs }) });
  const add = (id: string) => open().change((held) => ({ records: { ...held, [id]: { id } }, result: undefined }));
  beforeEach(() => void told.splice(0));

  it('is readable by its owner alone, and another one after each change', async () => {
    const { stamp } = open();
    const stamps = [stamp()];
    for (const id of ['a', 'b', 'c']) {
      await add(id);
      stamps.push(stamp());
    }
    expect(new Set(stamps).size).toBe(4);
    expect(Object.keys(await open().read())).toEqual(['a', 'b', 'c']);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readdir(join(root, 'state'))).toEqual(['state.json']);
  });

  it('trusts nothing where others may write it, and changes nothing there', async () => {
    await add('a');
    await chmod(file(), 0o622);
    expect(await open().read()).toEqual({});
    expect(told.join()).toContain('may be written by others');
    await expect(add('b')).rejects.toMatchObject({ code: 'plugin_state_unwritable' });
  });

  it.each(['', '{', '[]', '{"version":2,"bundles":{}}', '{"version":1,"bundles":[]}'])(
    'trusts nothing where it is %j, and keeps that aside',
    async (text) => {
      await add('a');
      await writeFile(file(), text);
      expect(await open().read()).toEqual({});
      await add('b');
      expect(Object.keys(await open().read())).toEqual(['b']);
      const [kept = ''] = (await readdir(join(root, 'state'))).filter((name) => name.includes('corrupt'));
      expect(await readFile(join(root, 'state', kept), 'utf8')).toBe(text);
    },
  );

  it('is no link to something else', async () => {
    await add('a');
    await rename(file(), join(root, 'elsewhere'));
    await symlink(join(root, 'elsewhere'), file());
    expect(await open().read()).toEqual({});
  });

  it('waits for another process, with an end, and goes on where that one died', async () => {
    await add('a');
    await writeFile(`${file()}.lock`, '');
    await expect(open(50).change((held) => ({ records: held, result: 1 }))).rejects.toMatchObject({ code: 'plugin_state_busy', limit: 50 });
    const old = new Date(Date.now() - 60_000);
    await utimes(`${file()}.lock`, old, old);
    await add('b');
    expect(Object.keys(await open().read())).toEqual(['a', 'b']);
  });

  it('loses nothing of several processes that write at once', async () => {
    const source = fileURLToPath(new URL('../../../adapters/bundles/state.ts', import.meta.url));
    const script = `
      const { createBundleState } = await import(${JSON.stringify(source)});
      const state = createBundleState({ file: process.argv[1], warn: console.error, waitMs: 60000 });
      for (let at = 0; at < 20; at++) await state.change((held) => ({ records: { ...held, [process.argv[2] + at]: {} }, result: undefined }));`;
    const run = (name: string) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, file(), name]);
    await Promise.all(['a', 'b', 'c'].map(run));
    expect(Object.keys(await open().read())).toHaveLength(60);
  });
});

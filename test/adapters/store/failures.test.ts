import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeAdvice } from '../../../adapters/store/index.ts';
import { toSessionError } from '../../../adapters/store/sqlite-errors.ts';
import { newSession, said } from '../../contracts/session-store.suite.ts';
import { open, tempPlace } from './fixture.ts';

const never = new AbortController().signal;
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const NOBODY = 65_534;
/** Gives a command mounts of its own. */
const NAMESPACE = 'unshare';

let place: ReturnType<typeof tempPlace>;

beforeEach(() => {
  place = tempPlace();
});

afterEach(() => place.remove());

/** A closed database with a session `s1` of `count` messages. */
async function seed(count: number): Promise<void> {
  const store = await open(place.path);
  const writer = await store.sessions.create(newSession('s1'));
  await writer.append(Array.from({ length: count }, (_, index) => said('user', `message ${index} ${'text '.repeat(50)}`)));
  await writer.close();
  await store.close();
}

async function failure(): Promise<unknown> {
  try {
    await (await open(place.path)).close();
    return undefined;
  } catch (error) {
    return error;
  }
}

function overwrite(offset: number, bytes: Buffer): void {
  const file = openSync(place.path, 'r+');
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

describe('the database file', () => {
  it('is private, as are its log and its folder', async () => {
    const store = await open(place.path);
    await store.sessions.create(newSession('s1'));
    expect(statSync(dirname(place.path)).mode & 0o777).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(place.path + suffix).mode & 0o777).toBe(0o600);
    await store.close();
  });

  it('becomes private again when somebody opened it up', async () => {
    await seed(1);
    chmodSync(place.path, 0o644);
    await (await open(place.path)).close();
    expect(statSync(place.path).mode & 0o777).toBe(0o600);
  });

  it('loses no byte to a power cut when durability is "power"', async () => {
    const store = await open(place.path, { durability: 'power' });
    const writer = await store.sessions.create(newSession('s1'));
    expect(await writer.append([said('user', 'one')])).toBe(1);
    await store.close();
  });
});

describe('a full disk', () => {
  it('stores nothing of the step, keeps what was there, and goes on when there is room', async () => {
    await seed(100);
    const pages = Math.ceil(statSync(place.path).size / 4096) + 8;
    const store = await open(place.path, { maxPages: pages });
    const writer = await store.sessions.open('s1', { waitMs: 0 }, never);
    const big = Array.from({ length: 50 }, () => said('assistant', 'many words '.repeat(1_000)));
    await expect(writer.append(big)).rejects.toMatchObject({ code: 'disk_full', message: expect.stringContaining('odek doctor') });
    expect((await store.sessions.read('s1')).header.messages).toBe(100);
    expect(await writer.append([said('user', 'small')])).toBe(101);
    await store.close();
    const roomy = await open(place.path);
    const again = await roomy.sessions.open('s1', { waitMs: 0 }, never);
    expect(await again.append(big)).toBe(151);
    expect((await roomy.check()).problems).toEqual([]);
    await roomy.close();
  });

  it('is survived by another process, on a real file system where one can be mounted', () => {
    const mount = [['-m'], ['-rm']].find(
      (flags) => spawnSync(NAMESPACE, [...flags, 'mount', '-t', 'tmpfs', 'odek', place.folder]).status === 0,
    );
    const node = `${JSON.stringify(process.execPath)} ${JSON.stringify(CHILD)} "$1/state/odek.db"`;
    const room = mount === undefined ? 'true' : 'mount -t tmpfs -o size=3m odek "$1"';
    const freeze = mount === undefined ? 'chmod 0444 "$1/state/odek.db"' : 'mount -o remount,ro "$1"';
    const script = `set -e; ${room}; head -c 300000 /dev/zero > "$1/ballast"; ${node} new s1; ${node} fill s1 ${mount === undefined ? 500 : ''}
      rm "$1/ballast"; ${node} read s1; ${node} try s1 0; ${freeze}; ${node} try s1 0`;
    const command = ['sh', '-c', script, 'sh', place.folder];
    const [program = '', ...args] = mount === undefined ? command : [NAMESPACE, ...mount, ...command];
    const lines = execFileSync(program, args, { encoding: 'utf8' }).trim().split('\n');
    const filled = JSON.parse(lines[1] ?? '');
    expect(filled.code).toBe('disk_full');
    expect(filled.last).toBeGreaterThan(0);
    expect(JSON.parse(lines[2] ?? '')).toEqual({ records: filled.last });
    expect(lines[3]).toBe('opened');
    if (mount !== undefined) expect(JSON.parse(lines[4] ?? '')).toMatchObject({ code: 'read_only_filesystem' });
  });
});

describe('a place that may not be written', () => {
  /** Runs `work` as a user who is not root; root may write everywhere. */
  async function unprivileged(work: () => Promise<void>): Promise<void> {
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(NOBODY);
    try {
      await work();
    } finally {
      if (root) process.seteuid?.(0);
    }
  }

  it('is refused by name, and what is there stays', async () => {
    await seed(3);
    const folder = dirname(place.path);
    if (process.geteuid?.() === 0) for (const path of [place.folder, folder, place.path]) chownSync(path, NOBODY, NOBODY);
    const before = readFileSync(place.path);
    chmodSync(folder, 0o555);
    await unprivileged(async () => {
      expect(await failure()).toMatchObject({ code: 'permission_denied', value: place.path });
    });
    chmodSync(folder, 0o700);
    expect(readFileSync(place.path).equals(before)).toBe(true);
  });

  it('is refused when the folder cannot be made', async () => {
    if (process.geteuid?.() === 0) chownSync(place.folder, NOBODY, NOBODY);
    chmodSync(place.folder, 0o555);
    await unprivileged(async () => {
      expect(await failure()).toMatchObject({ code: 'permission_denied' });
    });
    chmodSync(place.folder, 0o700);
    expect(existsSync(dirname(place.path))).toBe(false);
  });

  it('is called read-only when the system says so', () => {
    const cause = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
    expect(toSessionError(cause, place.path, 10)).toMatchObject({ code: 'read_only_filesystem', cause });
  });

  it('is not a folder of that name', async () => {
    mkdirSync(place.path, { recursive: true });
    expect(await failure()).toMatchObject({ code: 'store_error', message: expect.stringContaining('is not a regular file') });
  });
});

describe('a damaged database', () => {
  it('with a broken header is refused and not touched', async () => {
    await seed(20);
    overwrite(0, Buffer.from('this is no database any more'));
    const before = readFileSync(place.path);
    expect(await failure()).toMatchObject({ code: 'database_corrupt', message: expect.stringContaining('odek doctor') });
    expect(readFileSync(place.path).equals(before)).toBe(true);
  });

  it('with broken pages is reported by check and by reading', async () => {
    await seed(2_000);
    const { size } = statSync(place.path);
    overwrite(Math.floor(size / 8192) * 4096, Buffer.alloc(Math.floor(size / 8192) * 4096 - 8192, 0xa5));
    const before = readFileSync(place.path);
    const store = await open(place.path);
    await expect(store.sessions.read('s1')).rejects.toMatchObject({ code: 'database_corrupt' });
    expect((await store.check()).problems.length).toBeGreaterThan(0);
    await store.close();
    expect(readFileSync(place.path).equals(before)).toBe(true);
  });

  it('with a journal that is no JSON is reported, and the other sessions stay readable', async () => {
    await seed(3);
    const raw = new DatabaseSync(place.path);
    raw.exec('UPDATE records SET json = \'{"kind":\' WHERE seq = 2');
    raw.close();
    const store = await open(place.path);
    await (await store.sessions.create(newSession('s2'))).close();
    await expect(store.sessions.read('s1')).rejects.toMatchObject({ code: 'database_corrupt' });
    await expect(store.sessions.open('s1', { waitMs: 0 }, never)).rejects.toMatchObject({ code: 'database_corrupt' });
    expect((await store.sessions.read('s2')).records).toEqual([]);
    expect(await store.sessions.remove(['s1'])).toBe(1);
    await store.close();
  });

  it('comes with an advice for every code', () => {
    for (const code of ['disk_full', 'read_only_filesystem', 'permission_denied', 'database_corrupt', 'database_newer'] as const) {
      expect(storeAdvice(code).length).toBeGreaterThan(20);
    }
  });
});

describe('a database that is not ours to open', () => {
  it('is refused when a newer odek wrote it', async () => {
    await seed(1);
    const raw = new DatabaseSync(place.path);
    raw.exec('PRAGMA user_version = 999');
    raw.close();
    expect(await failure()).toMatchObject({ code: 'database_newer', value: 999 });
  });

  it('is refused when another program made it', async () => {
    mkdirSync(dirname(place.path));
    const raw = new DatabaseSync(place.path);
    raw.exec('CREATE TABLE theirs (x)');
    raw.close();
    const before = readFileSync(place.path);
    expect(await failure()).toMatchObject({ code: 'store_error', message: expect.stringContaining('not one of odek') });
    expect(readFileSync(place.path).equals(before)).toBe(true);
  });

  it('is made where an empty file lies', async () => {
    mkdirSync(dirname(place.path));
    writeFileSync(join(dirname(place.path), 'odek.db'), '');
    expect(await failure()).toBeUndefined();
  });
});

describe('a database that another process keeps locked', () => {
  it('is waited for with a bound', async () => {
    await seed(1);
    const store = await open(place.path, { busyMs: 50 });
    const raw = new DatabaseSync(place.path);
    raw.exec('BEGIN IMMEDIATE');
    const opening = store.sessions.open('s1', { waitMs: 0 }, never);
    await expect(opening).rejects.toMatchObject({ code: 'store_error', message: expect.stringContaining('more than 50 ms') });
    expect((await store.sessions.read('s1')).records.length).toBe(1);
    raw.exec('ROLLBACK');
    raw.close();
    expect((await store.sessions.open('s1', { waitMs: 0 }, never)).records.length).toBe(1);
    await store.close();
  });
});

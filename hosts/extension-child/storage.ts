import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Context, Service } from '@deepseek-ai/cordis';
import { isFields, jsonOf, textOf } from './fields.ts';
import { entryAt } from './owners.ts';

const MAX_KEY = 128;
const MAX_VALUE = 128 * 1024;
const MAX_KEYS = 1_024;
const MAX_TOTAL = 4 * 1024 * 1024;
/** What stands around a value in its file. */
const MAX_RECORD = MAX_VALUE + 1_024;
const RECORD = /^[0-9a-f]{64}\.json$/;

/** The service `storage`: JSON of the plugin's own, one file for each key. */
export class Storage extends Service {
  constructor(ctx: Context) {
    super(ctx, 'storage');
  }

  /** Undefined when there is nothing. */
  async get(key: unknown): Promise<unknown> {
    const place = placeOf(this.ctx, key);
    return inTurn(place.folder, async () => (await read(place))?.value);
  }

  async set(key: unknown, value: unknown): Promise<void> {
    const place = placeOf(this.ctx, key);
    const text = JSON.stringify({ version: 1, key: place.key, value: jsonOf(value, `the value of "${place.key}"`, MAX_VALUE) });
    await inTurn(place.folder, () => write(place, text));
  }

  async delete(key: unknown): Promise<void> {
    const place = placeOf(this.ctx, key);
    await inTurn(place.folder, async () => {
      if ((await read(place)) !== undefined) await rm(place.file);
    });
  }
}

interface Place {
  readonly key: string;
  readonly folder: string;
  readonly file: string;
}

function placeOf(ctx: Context, value: unknown): Place {
  const { owner } = entryAt(ctx);
  const key = textOf(value, 'a key', { max: MAX_KEY, min: 1 });
  const folder = join(owner.dataDir, 'storage');
  return { key, folder, file: join(folder, `${createHash('sha256').update(key).digest('hex')}.json`) };
}

const turns = new Map<string, Promise<unknown>>();

/** One after the other for each folder. */
function inTurn<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const turn = (turns.get(folder) ?? Promise.resolve()).then(work, work);
  turns.set(
    folder,
    turn.catch(() => {}),
  );
  return turn;
}

async function read({ key, folder, file }: Place): Promise<{ readonly value: unknown } | undefined> {
  await checkFolder(folder);
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`the record of "${key}" cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.nlink !== 1 || stat.size > MAX_RECORD) throw damaged(key);
    const record: unknown = parsed(await handle.readFile('utf8'));
    if (!isFields(record) || record.version !== 1 || record.key !== key || !('value' in record)) throw damaged(key);
    return { value: record.value };
  } finally {
    await handle.close();
  }
}

function damaged(key: string): Error {
  return new Error(`the record of "${key}" is damaged; it is left as it is`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function write(place: Place, text: string): Promise<void> {
  const { folder, file, key } = place;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A damaged record is never written over.
  await read(place);
  const others = (await readdir(folder)).filter((name) => RECORD.test(name) && join(folder, name) !== file);
  if (others.length >= MAX_KEYS) throw new Error(`there are ${MAX_KEYS} keys already; "${key}" cannot be added`);
  const sizes = await Promise.all(others.map(async (name) => (await lstat(join(folder, name))).size));
  const total = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(text));
  if (total > MAX_TOTAL) throw new Error(`with "${key}" the storage would have ${total} bytes, over the limit of ${MAX_TOTAL}`);
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

async function checkFolder(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat !== undefined && !stat.isDirectory()) throw new Error('the storage is not a folder');
}

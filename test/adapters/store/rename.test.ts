import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-rename-'));
  store = await openStore({
    path: join(folder, 'odek.db'),
    surface: 'test',
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const make = async (id: string) =>
  store.sessions.create({ id, title: id, provider: 'p', model: 'm', workspace: '/', listed: true, externalRefs: [] });

describe('a session that gets another id', () => {
  it('is found under the new one alone, with its journal and its figures', async () => {
    const writer = await make('tg-1');
    await writer.append([
      { kind: 'message', run: 'r', iteration: 0, message: { role: 'user', content: 'hello' } },
      { kind: 'usage', run: 'r', provider: 'p', model: 'm', purpose: 'main', usage: { input: 5, output: 2, estimated: false } },
    ]);
    await writer.close();
    await store.renameSession('tg-1', 'tg-1-20260101-000000');
    await expect(store.sessions.read('tg-1')).rejects.toMatchObject({ code: 'session_not_found' });
    const { header, records } = await store.sessions.read('tg-1-20260101-000000');
    expect([header.turns, header.input, records.length]).toEqual([1, 5, 2]);
    expect((await store.usage.totals({ by: [] })).map(({ calls }) => calls)).toEqual([1]);
    await (await make('tg-1')).close();
  });

  it('keeps its own while somebody writes it, and never takes the place of another', async () => {
    const held = await make('a');
    await expect(store.renameSession('a', 'b')).rejects.toMatchObject({ code: 'session_busy' });
    await held.close();
    await (await make('b')).close();
    await expect(store.renameSession('a', 'b')).rejects.toMatchObject({ code: 'session_exists' });
    await expect(store.renameSession('c', 'd')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(store.renameSession('a', '../d')).rejects.toMatchObject({ code: 'invalid_session_id' });
  });
});

import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../adapters/store/index.ts';
import { newSession, said } from '../../contracts/session-store.suite.ts';
import { type MovableClock, movableClock, open, type StoreChild, startChild, tempPlace } from './fixture.ts';

const never = new AbortController().signal;

let place: ReturnType<typeof tempPlace>;
let clock: MovableClock;
let store: Store;
let children: StoreChild[];

function child(command: string, ...args: string[]): StoreChild {
  const started = startChild(place.path, command, ...args);
  children.push(started);
  return started;
}

beforeEach(async () => {
  place = tempPlace();
  clock = movableClock();
  children = [];
  store = await open(place.path, { clock });
});

afterEach(async () => {
  for (const { process: running } of children) running.kill('SIGKILL');
  await Promise.all(children.map(({ exited }) => exited));
  await store.close();
  place.remove();
});

async function makeSession(id: string): Promise<void> {
  await (await store.sessions.create(newSession(id))).close();
}

/** The journal must consist of whole groups of three, numbered without a gap. */
async function countGroups(id: string): Promise<number> {
  const { records, header } = await store.sessions.read(id);
  expect(records.length % 3).toBe(0);
  expect(header.turns).toBe(records.length);
  const texts = records.map(({ record }) => (record.kind === 'message' ? record.message.content : record.kind));
  expect(texts).toEqual(texts.map((_, index) => `group ${Math.floor(index / 3)} part ${index % 3}`));
  return records.length / 3;
}

/** The last number that a dead writer had printed. */
async function lastTold(writer: StoreChild): Promise<number> {
  for (let last = 0; ; ) {
    const line = await writer.line().catch(() => undefined);
    if (line === undefined) return last;
    last = Number(line);
  }
}

describe('two processes on one session', () => {
  it('tell the second who holds it, and let it in when the first is done', async () => {
    await makeSession('s1');
    const holder = child('hold', 's1');
    expect(await holder.line()).toBe('held');
    const refused = JSON.parse(await child('try', 's1', '0').line());
    expect(refused).toMatchObject({ code: 'session_busy', holder: { pid: holder.process.pid, surface: 'continue' } });
    expect(refused.message).toContain(`process ${holder.process.pid} (odek continue, since `);
    const waiting = store.sessions.open('s1', { waitMs: 15_000 }, never);
    holder.process.stdin?.end();
    const writer = await waiting;
    expect(await writer.append([said('user', 'mine')])).toBe(1);
  });

  it('give up waiting after the bound', async () => {
    await makeSession('s1');
    const holder = child('hold', 's1');
    await holder.line();
    await expect(store.sessions.open('s1', { waitMs: 150 }, never)).rejects.toMatchObject({
      code: 'session_busy',
      limit: 150,
      message: expect.stringContaining('after waiting 150 ms'),
    });
  });

  it('never hold up a reader', async () => {
    await makeSession('s1');
    const writer = child('flood', 's1');
    await writer.line();
    for (let round = 0; round < 20; round++) expect(await countGroups('s1')).toBeGreaterThan(0);
  });
});

describe('a writer that is killed', () => {
  it('loses nothing it was told is stored, at 40 random instants', async () => {
    await makeSession('s1');
    for (let round = 0; round < 40; round++) {
      const writer = child('flood', 's1');
      let told = Number(await writer.line());
      const killAt = performance.now() + Math.random() * 15;
      while (performance.now() < killAt) told = Number(await writer.line());
      writer.process.kill('SIGKILL');
      const heir = await store.sessions.open('s1', { waitMs: 5_000 }, never);
      told = Math.max(told, await lastTold(writer));
      expect(heir.records.length).toBeGreaterThanOrEqual(told);
      await heir.close();
      await writer.exited;
    }
    expect(await countGroups('s1')).toBeGreaterThanOrEqual(40);
    expect((await store.check()).problems).toEqual([]);
  }, 60_000);

  it('is known by its start time when its pid was reused', async () => {
    await makeSession('s1');
    const holder = child('hold', 's1');
    await holder.line();
    const raw = new DatabaseSync(place.path);
    // The same live pid, as a process that started at another time would have left it.
    raw.exec("UPDATE sessions SET holder_start = substr(holder_start, 1, instr(holder_start, '/')) || '1' WHERE id = 's1'");
    raw.close();
    const writer = await store.sessions.open('s1', { waitMs: 0 }, never);
    expect(await writer.append([said('user', 'taken over')])).toBe(1);
  });
});

describe('a writer that is suspended past its lease', () => {
  it('gets lease_lost when it wakes up, and nothing interleaves', async () => {
    await makeSession('s1');
    // It rests between appends: stopped within one, it would hold the lock of the whole file.
    const sleeper = child('flood', 's1', '500');
    let last = await sleeper.line();
    sleeper.process.kill('SIGSTOP');
    clock.move(120_000);
    const heir = await store.sessions.open('s1', { waitMs: 0 }, never);
    const taken = heir.records.length;
    await heir.append([0, 1, 2].map((part) => said('user', `group ${taken / 3} part ${part}`)));
    sleeper.process.kill('SIGCONT');
    while (!last.startsWith('{')) last = await sleeper.line();
    expect(JSON.parse(last)).toMatchObject({ code: 'lease_lost' });
    await sleeper.exited;
    expect(await countGroups('s1')).toBe(taken / 3 + 1);
  });

  it('keeps its lease while its heartbeat goes on', async () => {
    const writer = await store.sessions.create(newSession('s1'));
    const second = await open(place.path, { clock });
    for (let round = 0; round < 5; round++) {
      clock.move(50_000);
      clock.fire();
    }
    await expect(second.sessions.open('s1', { waitMs: 0 }, never)).rejects.toMatchObject({ code: 'session_busy' });
    clock.move(120_000);
    const heir = await second.sessions.open('s1', { waitMs: 0 }, never);
    clock.fire();
    await expect(writer.append([])).rejects.toMatchObject({ code: 'lease_lost' });
    await heir.append([said('user', 'one')]);
    await second.close();
  });
});

describe('processes that start together', () => {
  it('make one database between them', async () => {
    await store.close();
    place.remove();
    place = tempPlace();
    const made = Array.from({ length: 6 }, (_, index) => child('new', `s${index}`));
    expect(await Promise.all(made.map((one) => one.line()))).toEqual(made.map(() => 'made'));
    store = await open(place.path);
    expect((await store.sessions.find({ limit: 10 })).length).toBe(6);
  });
});

describe('closing the store', () => {
  it('gives up the sessions that are still open', async () => {
    const first = await open(place.path);
    const writer = await first.sessions.create(newSession('s1'));
    await first.close();
    await first.close();
    await writer.close();
    expect((await store.sessions.open('s1', { waitMs: 0 }, never)).header.id).toBe('s1');
    await expect(writer.append([said('user', 'late')])).rejects.toMatchObject({ code: 'lease_lost' });
  });
});

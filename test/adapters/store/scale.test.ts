import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newSession, said } from '../../contracts/session-store.suite.ts';
import { open, tempPlace } from './fixture.ts';

const never = new AbortController().signal;
const MESSAGES = 10_000;

let place: ReturnType<typeof tempPlace>;

beforeEach(() => {
  place = tempPlace();
});

afterEach(() => place.remove());

async function seedLong(): Promise<void> {
  const store = await open(place.path);
  const writer = await store.sessions.create(newSession('long'));
  const text = 'a message of ordinary length, with some words in it. '.repeat(10);
  for (let start = 0; start < MESSAGES; start += 1_000) {
    await writer.append(Array.from({ length: 1_000 }, (_, index) => said('user', `${start + index} ${text}`)));
  }
  await store.close();
}

describe('a session of 10,000 messages', () => {
  it('opens within a second, is searched, and grows by what is appended', async () => {
    await seedLong();
    const size = statSync(place.path).size;
    const store = await open(place.path);
    const started = performance.now();
    const writer = await store.sessions.open('long', { waitMs: 0 }, never);
    const took = performance.now() - started;
    expect(writer.records.length).toBe(MESSAGES);
    expect(took).toBeLessThan(1_000);
    for (let round = 0; round < 20; round++) await writer.append([said('assistant', `short answer ${round}`)]);
    // 20 small commits of a few 4 KiB pages each; rewriting the journal once would be 6 MB.
    expect(statSync(`${place.path}-wal`).size).toBeLessThan(1_500_000);
    expect((await store.sessions.find({ limit: 5, text: '9999 ordinary' })).map(({ id }) => id)).toEqual(['long']);
    await store.close();
    expect(statSync(place.path).size - size).toBeLessThan(1_000_000);
  });

  it('leaves nothing behind when it is removed', async () => {
    await seedLong();
    const size = statSync(place.path).size;
    const store = await open(place.path);
    expect(await store.sessions.remove(['long'])).toBe(1);
    expect(await store.sessions.find({ limit: 5, text: 'ordinary', unlisted: true })).toEqual([]);
    await store.close();
    await seedLong();
    expect(statSync(place.path).size).toBeLessThan(size * 1.2);
  });
});

/** A long session on the disk: opening it, and the price of one more message. */
import { open, tempPlace } from '../adapters/store/fixture.ts';
import { newSession, said } from '../contracts/session-store.suite.ts';
import { median } from './processes.ts';
import type { Row } from './table.ts';

const MESSAGES = 10_000;
const BATCH = 1_000;
const APPENDS = 50;
const AIM_OPEN_MS = 200;
const TEXT = 'a message of ordinary length, with some words in it. '.repeat(10);

interface Timed {
  readonly openMs: number;
  readonly appendMs: number;
}

async function seed(path: string): Promise<void> {
  const store = await open(path);
  const writer = await store.sessions.create(newSession('long'));
  for (let start = 0; start < MESSAGES; start += BATCH)
    await writer.append(Array.from({ length: BATCH }, (_, at) => said('user', `${start + at} ${TEXT}`)));
  await store.close();
}

/** Opens the database anew, so that nothing is left in memory but the file system's own cache. */
async function openAndAppend(path: string): Promise<Timed> {
  const store = await open(path);
  const start = performance.now();
  const writer = await store.sessions.open('long', { waitMs: 0 }, new AbortController().signal);
  const openMs = performance.now() - start;
  if (writer.records.length < MESSAGES) throw new Error(`only ${writer.records.length} of ${MESSAGES} messages were read`);
  const appends: number[] = [];
  for (let at = 0; at < APPENDS; at += 1) {
    const begin = performance.now();
    await writer.append([said('assistant', 'short answer')]);
    appends.push(performance.now() - begin);
  }
  await store.close();
  return { openMs, appendMs: median(appends) };
}

export async function measureSessions(rounds: number): Promise<Row[]> {
  const place = tempPlace();
  try {
    await seed(place.path);
    const timed: Timed[] = [];
    for (let round = 0; round < rounds; round += 1) timed.push(await openAndAppend(place.path));
    const openMs = median(timed.map((each) => each.openMs));
    return [
      {
        what: 'a session of 10,000 messages is opened',
        odek: `${openMs.toFixed(1)} ms`,
        bare: '–',
        bound: { value: openMs, text: `≤ ${AIM_OPEN_MS} ms`, kept: openMs <= AIM_OPEN_MS },
      },
      { what: 'one message more in it, stored', odek: `${median(timed.map((each) => each.appendMs)).toFixed(2)} ms`, bare: '–' },
    ];
  } finally {
    place.remove();
  }
}

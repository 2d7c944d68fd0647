/**
 * A process of its own that works on a database.
 * `node child.ts <path> crash <session> <records>`: creates the session, appends, kills itself.
 * `node child.ts <path> hold <id>`: opens the session, prints "held", closes it and ends when its input ends.
 * `node child.ts <path> try <id> <waitMs>`: opens the session, prints "opened" or the error's code, holder and message.
 * `node child.ts <path> flood <id> [ms]`: appends groups of three records, prints the last number of each and rests, until it is killed.
 * `node child.ts <path> fill <id> [pages]`: appends until it fails, prints the error's code and the last number.
 * `node child.ts <path> read <id>`: prints how many records there are, or the error's code.
 * `node child.ts <path> new <id>`: creates the session, closes it, prints "made".
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalRecord } from '../../../ports/session.ts';
import { SessionError } from '../../../ports/session.ts';
import { newSession, said } from '../../contracts/session-store.suite.ts';
import { movableClock, open } from './fixture.ts';

const [path = '', command, id = '', extra = ''] = process.argv.slice(2);
const never = new AbortController().signal;
const pages = command === 'fill' && extra !== '' ? { maxPages: Number(extra) } : {};
const store = await open(path, { surface: 'continue', clock: movableClock(), ...pages }).catch(tell);

function tell(error: unknown): never {
  if (!(error instanceof SessionError)) throw error;
  console.log(JSON.stringify({ code: error.code, holder: error.holder, message: error.message }));
  process.exit(0);
}

async function untilInputEnds(): Promise<void> {
  for await (const _ of process.stdin);
}

async function flood(): Promise<never> {
  const writer = await store.sessions.open(id, { waitMs: 5_000 }, never);
  for (let group = writer.records.length / 3; ; group++) {
    const seq = await writer.append([0, 1, 2].map((part) => said('user', `group ${group} part ${part}`))).catch(tell);
    writeSync(1, `${seq}\n`);
    await sleep(Number(extra));
  }
}

async function fill(): Promise<void> {
  const writer = await store.sessions.open(id, { waitMs: 0 }, never);
  const filler = 'filling words '.repeat(2_000);
  let last = 0;
  try {
    for (;;) last = await writer.append([said('user', filler), said('assistant', filler)]);
  } catch (error) {
    console.log(JSON.stringify({ code: (error as SessionError).code, last, message: String(error) }));
  }
}

const commands: Readonly<Record<string, () => Promise<void>>> = {
  async crash() {
    const writer = await store.sessions.create(JSON.parse(id));
    await writer.append(JSON.parse(extra) as JournalRecord[]);
    process.kill(process.pid, 'SIGKILL');
  },
  async hold() {
    const writer = await store.sessions.open(id, { waitMs: 0 }, never);
    console.log('held');
    await untilInputEnds();
    await writer.close();
  },
  async try() {
    await store.sessions.open(id, { waitMs: Number(extra) }, never).catch(tell);
    console.log('opened');
  },
  async read() {
    const { records } = await store.sessions.read(id).catch(tell);
    console.log(JSON.stringify({ records: records.length }));
  },
  flood,
  fill,
  async new() {
    await (await store.sessions.create(newSession(id))).close();
    console.log('made');
  },
};

await commands[command ?? '']?.();
await store.close();
process.exit(0);

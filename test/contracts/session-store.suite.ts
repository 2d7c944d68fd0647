import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import type { JournalRecord, NewSession, SessionStore, StoredRecord } from '../../ports/session.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** One place where sessions are kept, empty at first, and several processes' views of it. */
export interface SessionPlace {
  /** Another opening of the same place. `pid` is what it names as holder. */
  open(): Promise<{ readonly store: SessionStore; readonly pid: number; readonly surface: string }>;
  /** A process of its own creates the session, appends the records and is killed without closing anything. */
  crashedWriter(session: NewSession, records: readonly JournalRecord[]): Promise<void>;
  /** Every lease of now looks abandoned, as if its process had been suspended for long. */
  abandonLeases(): Promise<void>;
  /** Rows that stores of this place wrote so far. */
  rowsTouched(): number;
  /** Moves the time that headers and records carry. */
  advance(ms: number): void;
  close(): Promise<void>;
}

export interface SessionStoreHarness {
  place(): Promise<SessionPlace>;
}

type Run = (place: SessionPlace, store: SessionStore) => Promise<void>;

const never = new AbortController().signal;

export function newSession(id: string, changes: Partial<NewSession> = {}): NewSession {
  return { id, title: 'a task', provider: 'openai', model: 'm-1', workspace: '/project', listed: true, externalRefs: [], ...changes };
}

export function said(role: 'user' | 'assistant', content: string): JournalRecord {
  return { kind: 'message', run: 'r1', iteration: 1, message: { role, content } };
}

function everyKind(): JournalRecord[] {
  const key = 'r1/1/0';
  return [
    said('user', 'text with "quotes", \u{1f600}, \u0000 and half a pair \ud83d'),
    { kind: 'tool_started', key, callId: 'c1', name: 'shell', arguments: '{"command":"ls"}' },
    { kind: 'approval_asked', key, approvalId: 'a1', class: 'code_execution', resource: 'ls' },
    { kind: 'approval_answered', key, approvalId: 'a1', decision: 'approve', by: 'terminal' },
    {
      kind: 'tool_finished',
      key,
      durationMs: 5,
      message: { role: 'tool', callId: 'c1', name: 'shell', content: 'ok', outcome: 'completed' },
    },
    { kind: 'slot', name: 'plan', content: null },
    { kind: 'view', dropped: [[1, 2]], shortened: [{ seq: 5, content: 'o' }] },
    {
      kind: 'usage',
      run: 'r1',
      provider: 'openai',
      model: 'm-1',
      purpose: 'main',
      usage: { input: 7, output: 3, cache_read: 0, estimated: false },
      costMicroUsd: 12,
    },
  ];
}

function contents(records: readonly StoredRecord[]): JournalRecord[] {
  return records.map(({ record }) => record);
}

async function rejectsWith(work: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(hasCode(error, code), `expected an odek error of code ${code}, got ${String(error)}`);
    return true;
  });
}

async function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  await promise;
}

async function readBackInOrder(place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await store.create(newSession('s1'));
  const first = everyKind();
  assert.equal(await writer.append(first), first.length);
  assert.equal(await writer.append([said('assistant', 'done')]), first.length + 1);
  assert.equal(await writer.append([]), first.length + 1);
  for (const reader of [store, (await place.open()).store]) {
    const { records } = await reader.read('s1');
    assert.deepEqual(contents(records), JSON.parse(JSON.stringify([...first, said('assistant', 'done')])));
    assert.deepEqual(
      records.map(({ seq }) => seq),
      Array.from({ length: first.length + 1 }, (_, index) => index + 1),
    );
  }
  await writer.close();
  const again = await store.open('s1', { waitMs: 0 }, never);
  assert.equal(again.records.length, first.length + 1);
  assert.equal(await again.append([said('user', 'more')]), first.length + 2);
}

async function countersFollow(_place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await store.create(newSession('s1'));
  await writer.append(everyKind());
  await writer.append([said('assistant', 'done'), said('user', 'again')]);
  const { header } = await store.read('s1');
  assert.deepEqual([header.turns, header.messages, header.input, header.output], [2, 4, 7, 3]);
  await writer.update({ title: 'renamed', model: 'm-2', listed: false, lastRun: { id: 'r1', state: 'answer' } });
  const changed = (await store.read('s1')).header;
  assert.deepEqual(
    [changed.title, changed.model, changed.listed, changed.lastRun],
    ['renamed', 'm-2', false, { id: 'r1', state: 'answer' }],
  );
  assert.deepEqual([changed.turns, changed.provider, writer.header.title], [2, 'openai', 'a task']);
}

async function killedLosesNothing(place: SessionPlace, store: SessionStore): Promise<void> {
  const records = everyKind();
  await place.crashedWriter(newSession('s1'), records);
  assert.deepEqual(contents((await store.read('s1')).records), JSON.parse(JSON.stringify(records)));
}

async function secondIsBusy(place: SessionPlace, store: SessionStore): Promise<void> {
  const holder = await place.open();
  const writer = await holder.store.create(newSession('s1'));
  for (const other of [store, holder.store]) {
    await assert.rejects(other.open('s1', { waitMs: 0 }, never), (error: unknown) => {
      assert.ok(hasCode(error, 'session_busy'), String(error));
      const named = (error as { holder?: { pid: number; surface: string } }).holder;
      assert.deepEqual([named?.pid, named?.surface], [holder.pid, holder.surface]);
      return true;
    });
  }
  const started = performance.now();
  await rejectsWith(store.open('s1', { waitMs: 60 }, never), 'session_busy');
  assert.ok(performance.now() - started >= 50, 'it rejected before waitMs had passed');
  const waiting = store.open('s1', { waitMs: 10_000 }, never);
  await pause(20);
  await writer.append([said('user', 'before')]);
  await writer.close();
  assert.equal((await waiting).records.length, 1);
}

async function waitHonoursSignal(place: SessionPlace, store: SessionStore): Promise<void> {
  await (await place.open()).store.create(newSession('s1'));
  const controller = new AbortController();
  const waiting = store.open('s1', { waitMs: 10_000 }, controller.signal);
  await pause(10);
  controller.abort();
  await rejectsWith(waiting, 'cancelled');
  await rejectsWith(store.open('s1', { waitMs: 0 }, controller.signal), 'cancelled');
}

async function takenOverIsLost(place: SessionPlace, store: SessionStore): Promise<void> {
  const old = await (await place.open()).store.create(newSession('s1'));
  await old.append([said('user', 'one')]);
  await place.abandonLeases();
  const heir = await store.open('s1', { waitMs: 0 }, never);
  await heir.append([said('assistant', 'two')]);
  await rejectsWith(old.append([said('assistant', 'stale')]), 'lease_lost');
  await rejectsWith(old.append([]), 'lease_lost');
  await rejectsWith(old.update({ title: 'stale' }), 'lease_lost');
  await old.close();
  await heir.append([said('user', 'three')]);
  await heir.close();
  await rejectsWith(old.append([said('assistant', 'stale')]), 'lease_lost');
  await rejectsWith(heir.append([said('assistant', 'closed')]), 'lease_lost');
  const { header, records } = await store.read('s1');
  assert.deepEqual(contents(records), [said('user', 'one'), said('assistant', 'two'), said('user', 'three')]);
  assert.equal(header.title, 'a task');
}

async function deadIsTakenOver(place: SessionPlace, store: SessionStore): Promise<void> {
  await place.crashedWriter(newSession('s1'), [said('user', 'one')]);
  const writer = await store.open('s1', { waitMs: 0 }, never);
  assert.equal(await writer.append([said('user', 'two')]), 2);
}

async function readersDoNotWait(place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await (await place.open()).store.create(newSession('s1'));
  const appends = Array.from({ length: 20 }, (_, index) => writer.append([said('user', `n${index}`)]));
  const early = await store.read('s1');
  assert.ok(early.records.length <= 20);
  await Promise.all(appends);
  assert.equal((await store.read('s1')).records.length, 20);
  assert.equal((await store.find({ limit: 5 })).length, 1);
}

async function appendIsProportional(place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await store.create(newSession('s1'));
  const cost = async (): Promise<number> => {
    const costs: number[] = [];
    for (let round = 0; round < 5; round++) {
      const before = place.rowsTouched();
      await writer.append([said('user', 'a few words more')]);
      costs.push(place.rowsTouched() - before);
    }
    return Math.min(...costs);
  };
  const early = await cost();
  await writer.append(Array.from({ length: 3_000 }, (_, index) => said('user', `message ${index}`)));
  const late = await cost();
  assert.ok(early > 0 && late <= 2 * early, `an append wrote ${early} rows at first and ${late} behind 3,000 records`);
}

async function failuresChangeNothing(_place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await store.create(newSession('s1'));
  await writer.append([said('user', 'one')]);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  await rejectsWith(writer.append([said('assistant', 'two'), circular as unknown as JournalRecord]), 'store_error');
  await rejectsWith(store.create(newSession('s1', { title: 'other' })), 'session_exists');
  await rejectsWith(store.open('absent', { waitMs: 0 }, never), 'session_not_found');
  await rejectsWith(store.read('absent'), 'session_not_found');
  for (const id of ['', '.', '..', '../s1', 'a/b', 'a\\b', 'a\0b', '.hidden', 'x'.repeat(129), 's 1', 's1\n']) {
    await rejectsWith(store.create(newSession(id)), 'invalid_session_id');
    await rejectsWith(store.read(id), 'invalid_session_id');
    await rejectsWith(store.open(id, { waitMs: 0 }, never), 'invalid_session_id');
  }
  const { header, records } = await store.read('s1');
  assert.deepEqual(contents(records), [said('user', 'one')]);
  assert.deepEqual([header.title, header.messages], ['a task', 1]);
  assert.equal(await writer.append([said('user', 'two')]), 2);
}

async function findsNewestFirst(place: SessionPlace, store: SessionStore): Promise<void> {
  for (const [id, listed] of [
    ['s1', true],
    ['s2', false],
    ['s3', true],
    ['s4', true],
  ] as const) {
    await (await store.create(newSession(id, { listed }))).close();
    place.advance(1_000);
  }
  const ids = async (query: Parameters<SessionStore['find']>[0]): Promise<string[]> => (await store.find(query)).map(({ id }) => id);
  assert.deepEqual(await ids({ limit: 10 }), ['s4', 's3', 's1']);
  assert.deepEqual(await ids({ limit: 2 }), ['s4', 's3']);
  assert.deepEqual(await ids({ limit: 10, unlisted: true }), ['s4', 's3', 's2', 's1']);
  const [third] = await store.find({ limit: 1, updatedBefore: Number.MAX_SAFE_INTEGER, text: 'task' });
  assert.equal(third?.id, 's4');
  const before = (await store.read('s3')).header.updatedAt;
  assert.deepEqual(await ids({ limit: 10, updatedBefore: before }), ['s1']);
  const writer = await store.open('s1', { waitMs: 0 }, never);
  await writer.append([said('user', 'again')]);
  assert.deepEqual(await ids({ limit: 1 }), ['s1']);
}

/** What a user may type and a full-text engine may take for syntax. */
const HOSTILE_QUERIES: readonly string[] = [
  '',
  ' ',
  '"',
  '""',
  "'",
  '*',
  '***',
  'a*',
  '^a',
  '-a',
  '+a',
  '(',
  ')',
  '()',
  'NEAR(a b)',
  'a AND',
  'OR',
  'NOT',
  'NOT a',
  'text:',
  'text:a',
  '{text}:a',
  'a:b:c',
  ';',
  "'; DROP TABLE sessions; --",
  '\0',
  'a\0b',
  '\ud83d',
  '\u{1f600}',
  '%',
  '_',
  '\\',
  'a"b"c',
  '"unbalanced',
  `${'word '.repeat(5_000)}`,
  'x'.repeat(100_000),
  '\n\t',
  '日本語',
  'ünï',
  '@@@',
  '|',
  '&&',
  '[',
  ']',
  '$1',
  '?',
  ':name',
];

async function findsText(_place: SessionPlace, store: SessionStore): Promise<void> {
  const plain = await store.create(newSession('s1', { title: 'Repair the invoice export' }));
  await plain.append([
    said('user', 'the "frobnicator" fails'),
    said('assistant', 'Größe geändert'),
    {
      kind: 'tool_finished',
      key: 'r1/1/0',
      durationMs: 1,
      message: { role: 'tool', callId: 'c', name: 'n', content: 'zebra', outcome: 'completed' },
    },
  ]);
  const other = await store.create(newSession('s2', { title: 'write docs' }));
  await other.append([said('user', 'invoice layout')]);
  const ids = async (text: string): Promise<string[]> => (await store.find({ limit: 10, text })).map(({ id }) => id).sort();
  assert.deepEqual(await ids('invoice'), ['s1', 's2']);
  assert.deepEqual(await ids('INVOICE frobnicator'), ['s1']);
  assert.deepEqual(await ids('frobni'), ['s1']);
  assert.deepEqual(await ids('größe'), ['s1']);
  assert.deepEqual(await ids('zebra'), []);
  assert.deepEqual(await ids('invoice absent'), []);
  await plain.update({ title: 'Repair the ledger' });
  assert.deepEqual(await ids('ledger'), ['s1']);
  assert.deepEqual(await ids('export'), []);
  for (const query of HOSTILE_QUERIES) assert.ok(Array.isArray(await store.find({ limit: 10, text: query })), query.slice(0, 40));
}

async function removesUnheld(place: SessionPlace, store: SessionStore): Promise<void> {
  await (await store.create(newSession('s1', { title: 'findable' }))).close();
  const held = await (await place.open()).store.create(newSession('s2'));
  await place.crashedWriter(newSession('s3'), [said('user', 'one')]);
  assert.equal(await store.remove(['s1', 's1', 's2', 's3', 'absent', '../x']), 2);
  await rejectsWith(store.read('s1'), 'session_not_found');
  assert.deepEqual(await store.find({ limit: 10, text: 'findable' }), []);
  await held.append([said('user', 'still here')]);
}

async function discardRemoves(_place: SessionPlace, store: SessionStore): Promise<void> {
  const writer = await store.create(newSession('s1', { title: 'findable', listed: false }));
  await writer.append([said('user', 'hapax')]);
  await writer.close({ discard: true });
  await writer.close({ discard: true });
  await writer.close();
  await rejectsWith(store.read('s1'), 'session_not_found');
  assert.deepEqual(await store.find({ limit: 10, text: 'hapax', unlisted: true }), []);
  const again = await store.create(newSession('s1'));
  assert.deepEqual(again.records, []);
  await again.close();
  await again.close();
  assert.equal((await store.read('s1')).header.title, 'a task');
}

function contractCase(id: string, sentence: string, run: Run): ContractCase<SessionStoreHarness> {
  return {
    id: `session-store/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.place();
      try {
        await run(place, (await place.open()).store);
      } finally {
        await place.close();
      }
    },
  };
}

export const sessionStoreSuite: ContractSuite<SessionStoreHarness> = {
  port: 'session-store',
  cases: [
    contractCase(
      'read-back',
      'What `append` stored is read back in order, by this process and by any other, once the promise resolved.',
      readBackInOrder,
    ),
    contractCase('counters', 'Counters follow the journal by themselves, and a patch changes nothing else.', countersFollow),
    contractCase('killed-loses-nothing', 'A killed process loses nothing that was appended.', killedLosesNothing),
    contractCase('one-writer', 'A second `open` waits up to `waitMs`, then rejects with `session_busy` naming the holder.', secondIsBusy),
    contractCase('wait-cancelled', 'A waiting `open` ends with `cancelled` when its signal fires.', waitHonoursSignal),
    contractCase(
      'lease-lost',
      'A writer whose lease was taken over rejects every `append` with `lease_lost`; nothing interleaves.',
      takenOverIsLost,
    ),
    contractCase('dead-holder', 'A holder that died does not block: its lease is taken over at once.', deadIsTakenOver),
    contractCase('readers-free', 'Readers never wait for a writer.', readersDoNotWait),
    contractCase('append-cost', '`append` does work in proportion to what is appended, not to what is there.', appendIsProportional),
    contractCase('failures-harmless', 'Failures reject with SessionError and leave what was stored untouched.', failuresChangeNothing),
    contractCase('newest-first', '`find` returns listed sessions, newest first by `updatedAt`, at most `limit`.', findsNewestFirst),
    contractCase('full-text', '`find` searches titles, user and assistant messages, and takes any text.', findsText),
    contractCase('remove', '`remove` takes those that exist and nobody holds, and returns how many went.', removesUnheld),
    contractCase('discard', '`close` gives the session up; `discard` removes it; both are idempotent.', discardRemoves),
  ],
};

import assert from 'node:assert/strict';
import type { AuditEntry, AuditStore, AuditTurn } from '../../ports/audit.ts';
import type { Clock } from '../../ports/clock.ts';
import { hasCode } from '../../ports/errors.ts';
import type { SessionStore, SessionWriter } from '../../ports/session.ts';
import type { ContractSuite } from './suite.ts';

/** An audit and the sessions it belongs to, empty at first. */
export interface AuditPlace {
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  close(): Promise<void>;
}

export interface AuditStoreHarness {
  /** `now` is what the clock says, in milliseconds since the epoch. */
  place(given: { readonly now: Clock['now'] }): Promise<AuditPlace>;
}

interface Trial extends AuditPlace {
  begin(id: string): Promise<SessionWriter>;
}

function ingest(source: string, turn = 1): AuditEntry {
  return { kind: 'ingest', ingest: { turn, source, content_hash: '0123456789abcdef', at: 1_000 } };
}

function turnOf(turn: number, change: Partial<AuditTurn> = {}): AuditTurn {
  return {
    turn,
    user_message: `message ${turn}`,
    tool_calls: ['shell', 'shell'],
    novel_resources: ['https://a.example/x'],
    untrusted_resources: [],
    ingested_untrusted: true,
    suspicious_divergence: true,
    ...change,
  };
}

const asTurn = (turn: AuditTurn): AuditEntry => ({ kind: 'turn', turn });

async function say(writer: SessionWriter): Promise<void> {
  await writer.append([{ kind: 'message', run: 'a'.repeat(32), iteration: 1, message: { role: 'user', content: 'x' } }]);
}

async function inTrial(harness: AuditStoreHarness, work: (trial: Trial) => Promise<void>): Promise<void> {
  let now = 1_000_000;
  const place = await harness.place({ now: () => now });
  const begin = (id: string): Promise<SessionWriter> => {
    now += 1000;
    return place.sessions.create({ id, title: 't', provider: 'p', model: 'm', workspace: '/', listed: true, externalRefs: [] });
  };
  try {
    await work({ ...place, begin });
  } finally {
    await place.close();
  }
}

/** What every {@link AuditStore} keeps. */
export const auditStoreSuite: ContractSuite<AuditStoreHarness> = {
  port: 'audit-store',
  cases: [
    {
      id: 'audit-store/append',
      sentence: "What was noted is stored once the next append of the session's writer, or its close, resolved.",
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          const writer = await begin('a');
          audit.note('a', ingest('one'));
          await say(writer);
          assert.deepEqual(
            (await audit.read('a')).ingests.map(({ source }) => source),
            ['one'],
          );
          audit.note('a', asTurn(turnOf(1)));
          await writer.close();
          assert.deepEqual((await audit.read('a')).turns, [turnOf(1)]);
        }),
    },
    {
      id: 'audit-store/flush',
      sentence: 'It is stored without either once flush resolved.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          await begin('a');
          audit.note('a', ingest('one'));
          await audit.flush('a');
          const [entry] = (await audit.read('a')).ingests;
          assert.deepEqual(entry, { turn: 1, source: 'one', content_hash: '0123456789abcdef', at: 1_000 });
        }),
    },
    {
      id: 'audit-store/order',
      sentence: 'Ingests are read in the order they were noted, turns by their number.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          const writer = await begin('a');
          for (const source of ['z', 'a', 'm']) audit.note('a', ingest(source));
          await say(writer);
          audit.note('a', ingest('b'));
          for (const turn of [10, 2]) audit.note('a', asTurn(turnOf(turn)));
          await audit.flush('a');
          const { ingests, turns } = await audit.read('a');
          assert.equal(ingests.map(({ source }) => source).join(''), 'zamb');
          assert.deepEqual(
            turns.map(({ turn }) => turn),
            [2, 10],
          );
        }),
    },
    {
      id: 'audit-store/replace',
      sentence: 'A turn that is noted again replaces the one that was there.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          await begin('a');
          audit.note('a', asTurn(turnOf(1)));
          await audit.flush('a');
          const later = turnOf(1, { suspicious_divergence: false, tool_calls: [] });
          audit.note('a', asTurn(later));
          await audit.flush('a');
          assert.deepEqual((await audit.read('a')).turns, [later]);
          assert.equal((await audit.list(10))[0]?.suspicious, 0);
        }),
    },
    {
      id: 'audit-store/list',
      sentence: 'list gives the sessions that have an audit, the one written to last first, at most limit.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          for (const id of ['a', 'b', 'c']) await begin(id);
          audit.note('a', ingest('first'));
          audit.note('a', ingest('second'));
          audit.note('c', asTurn(turnOf(1)));
          audit.note('c', asTurn(turnOf(2, { suspicious_divergence: false })));
          await audit.flush('a');
          await audit.flush('c');
          assert.deepEqual(await audit.list(10), [
            { session_id: 'c', ingests: 0, turns: 2, suspicious: 1 },
            { session_id: 'a', ingests: 2, turns: 0, suspicious: 0, first_source: 'first' },
          ]);
          assert.equal((await audit.list(1)).length, 1);
        }),
    },
    {
      id: 'audit-store/missing',
      sentence: 'read of a session without an audit gives empty lists; of one that does not exist it rejects with session_not_found.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit }) => {
          await begin('a');
          assert.deepEqual(await audit.read('a'), { session_id: 'a', ingests: [], turns: [] });
          await assert.rejects(audit.read('none'), (error) => hasCode(error, 'session_not_found'));
          audit.note('none', ingest('lost'));
          await audit.flush('none');
          await begin('none');
          await audit.flush('none');
          assert.deepEqual((await audit.read('none')).ingests, []);
        }),
    },
    {
      id: 'audit-store/goes',
      sentence: 'The audit goes with its session.',
      run: (harness) =>
        inTrial(harness, async ({ begin, audit, sessions }) => {
          const kept = await begin('kept');
          audit.note('kept', ingest('k'));
          await kept.close();
          const removed = await begin('removed');
          audit.note('removed', ingest('r'));
          await removed.close();
          const discarded = await begin('discarded');
          audit.note('discarded', ingest('d'));
          await say(discarded);
          audit.note('discarded', asTurn(turnOf(1)));
          await discarded.close({ discard: true });
          assert.equal(await sessions.remove(['removed']), 1);
          assert.deepEqual(
            (await audit.list(10)).map(({ session_id }) => session_id),
            ['kept'],
          );
          for (const id of ['removed', 'discarded']) {
            await begin(id);
            assert.deepEqual(await audit.read(id), { session_id: id, ingests: [], turns: [] });
          }
        }),
    },
  ],
};

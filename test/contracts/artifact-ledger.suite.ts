import assert from 'node:assert/strict';
import { type ArtifactEntry, type ArtifactLedger, MAX_SESSION_ARTIFACTS } from '../../ports/artifact.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

export interface ArtifactLedgerPlace {
  readonly ledger: ArtifactLedger;
  /** Two stored sessions. */
  readonly sessions: readonly [string, string];
  /** The ledger as another process finds it later. */
  reopen(): Promise<ArtifactLedger>;
  /** Removes a stored session. */
  remove(session: string): Promise<void>;
  close(): Promise<void>;
}

export interface ArtifactLedgerHarness {
  make(): Promise<ArtifactLedgerPlace>;
}

function entry(id: string, facts: Partial<ArtifactEntry> = {}): ArtifactEntry {
  return {
    id,
    source: 'mcp:ci:report',
    path: `/art/${id}`,
    roots: ['/art', '/more art'],
    mediaType: 'text/plain',
    sizeBytes: 7,
    sha256: 'a'.repeat(64),
    ...facts,
  };
}

function over(id: string, sentence: string, test: (place: ArtifactLedgerPlace) => Promise<void>): ContractCase<ArtifactLedgerHarness> {
  return {
    id: `artifact-ledger/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link ArtifactLedger}. */
export const artifactLedgerSuite: ContractSuite<ArtifactLedgerHarness> = {
  port: 'ArtifactLedger',
  cases: [
    over('found', 'what was added is found under its session and id, also by another process later', async (place) => {
      const [session] = place.sessions;
      const added = [entry('report-1'), entry('größe', { sizeBytes: 9 })];
      await place.ledger.add(session, added);
      const later = await place.reopen();
      for (const each of added) {
        assert.deepEqual(await place.ledger.find(session, each.id), each);
        assert.deepEqual(await later.find(session, each.id), each);
      }
      assert.equal(await later.find(session, 'other'), undefined);
    }),
    over(
      'order',
      '`add` gives the ids in the order of the entries, and an id that another file has becomes `<id>.2`, `<id>.3`',
      async (place) => {
        const [session] = place.sessions;
        assert.deepEqual(await place.ledger.add(session, [entry('b'), entry('a')]), ['b', 'a']);
        const second = entry('a', { path: '/art/second' });
        const third = entry('a', { sha256: 'b'.repeat(64) });
        assert.deepEqual(await place.ledger.add(session, [second, third]), ['a.2', 'a.3']);
        assert.equal((await place.ledger.find(session, 'a'))?.path, '/art/a');
        assert.deepEqual(await place.ledger.find(session, 'a.2'), { ...second, id: 'a.2' });
      },
    ),
    over('same', 'the same file under the same id keeps it', async (place) => {
      const [session] = place.sessions;
      await place.ledger.add(session, [entry('a'), entry('a', { path: '/art/second' })]);
      assert.deepEqual(await place.ledger.add(session, [entry('a', { path: '/art/second' }), entry('a')]), ['a.2', 'a']);
      assert.deepEqual(await place.ledger.add(session, [entry('a', { source: 'mcp:other:report' })]), ['a.3']);
    }),
    over('apart', 'an id of one session is unknown in another', async (place) => {
      const [session, other] = place.sessions;
      await place.ledger.add(session, [entry('a')]);
      assert.equal(await place.ledger.find(other, 'a'), undefined);
    }),
    over('unstored', 'a session that no store knows has artifacts too, for as long as this process lives', async (place) => {
      assert.deepEqual(await place.ledger.add('not-stored', [entry('a')]), ['a']);
      assert.deepEqual(await place.ledger.find('not-stored', 'a'), entry('a'));
      assert.equal(await place.ledger.find('not-stored-either', 'a'), undefined);
    }),
    over('gone', 'a session’s artifacts are gone with the session', async (place) => {
      const [session, other] = place.sessions;
      await place.ledger.add(session, [entry('a')]);
      await place.ledger.add(other, [entry('a')]);
      await place.remove(session);
      assert.equal(await place.ledger.find(session, 'a'), undefined);
      assert.deepEqual(await place.ledger.find(other, 'a'), entry('a'));
    }),
    over('bound', 'a session keeps its newest 4,096', async (place) => {
      for (const session of [place.sessions[0], 'not-stored']) {
        const many = Array.from({ length: MAX_SESSION_ARTIFACTS + 3 }, (_, at) => entry(`id-${at}`));
        for (let at = 0; at < many.length; at += 512) await place.ledger.add(session, many.slice(at, at + 512));
        assert.equal(await place.ledger.find(session, 'id-2'), undefined);
        assert.deepEqual(await place.ledger.find(session, 'id-3'), many[3]);
        assert.deepEqual(await place.ledger.find(session, many.at(-1)?.id ?? ''), many.at(-1));
      }
    }),
  ],
};

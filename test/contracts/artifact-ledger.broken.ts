import type { ArtifactLedger } from '../../ports/artifact.ts';
import { createMemoryArtifactLedger, type MemoryArtifactLedger } from '../fakes/artifacts.ts';
import type { ArtifactLedgerHarness, ArtifactLedgerPlace } from './artifact-ledger.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: MemoryArtifactLedger) => Partial<ArtifactLedger> & Partial<Pick<ArtifactLedgerPlace, 'reopen' | 'remove'>>;

/** A ledger in memory, with or without a fault. */
export function memoryLedgerHarness(fault: Fault = () => ({})): ArtifactLedgerHarness {
  return {
    async make() {
      const plain = createMemoryArtifactLedger();
      const { reopen, remove, ...methods } = fault(plain);
      const ledger = { add: plain.add, find: plain.find, ...methods };
      return {
        ledger,
        sessions: ['s-1', 's-2'],
        reopen: reopen ?? (async () => ledger),
        remove: remove ?? (async (session) => plain.forget(session)),
        close: async () => {},
      };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<ArtifactLedgerHarness> => ({
  name,
  caughtBy: `artifact-ledger/${caughtBy}`,
  harness: memoryLedgerHarness(fault),
});

/** Ledgers that each break one sentence. */
export const brokenArtifactLedgers: readonly BrokenAdapter<ArtifactLedgerHarness>[] = [
  broken('forgets with its process', 'found', () => ({ reopen: async () => createMemoryArtifactLedger() })),
  broken('loses the roots', 'found', (plain) => ({
    find: async (session, id) => {
      const found = await plain.find(session, id);
      return found && { ...found, roots: [] };
    },
  })),
  broken('sorts the ids', 'order', (plain) => ({ add: async (session, entries) => [...(await plain.add(session, entries))].sort() })),
  broken('lets the last one have the id', 'order', (plain) => ({
    add: async (session, entries) => {
      const ids = entries.map(({ id }) => id);
      for (const entry of entries) await plain.add(`${session} ${entry.id} ${entry.path} ${entry.sha256}`, [entry]);
      return ids;
    },
  })),
  broken('numbers what it knows already', 'same', (plain) => {
    let turn = 0;
    return {
      add: async (session, entries) => {
        turn += 1;
        return plain.add(
          session,
          entries.map((entry) => ({ ...entry, source: `${entry.source}${turn}` })),
        );
      },
    };
  }),
  broken('has one shelf for all', 'apart', (plain) => ({
    add: (_session, entries) => plain.add('all', entries),
    find: (_session, id) => plain.find('all', id),
  })),
  broken('wants a stored session', 'unstored', (plain) => ({
    add: async (session, entries) => (session.startsWith('s-') ? plain.add(session, entries) : []),
  })),
  broken('outlives its session', 'gone', () => ({ remove: async () => {} })),
  broken('keeps everything', 'bound', (plain) => {
    const all = new Map<string, Awaited<ReturnType<ArtifactLedger['find']>>>();
    return {
      add: async (session, entries) => {
        for (const entry of entries) all.set(`${session} ${entry.id}`, entry);
        return plain.add(session, entries);
      },
      find: async (session, id) => all.get(`${session} ${id}`),
    };
  }),
];

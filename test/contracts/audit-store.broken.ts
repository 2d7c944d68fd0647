import type { AuditStore } from '../../ports/audit.ts';
import { createMemoryAudit } from '../fakes/audit.ts';
import { createManualClock } from '../fakes/clock.ts';
import type { AuditPlace, AuditStoreHarness } from './audit-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The memory audit, as a subject of the suite. */
export const memoryAudit: AuditStoreHarness = {
  place: async ({ now }) => ({ ...createMemoryAudit({ clock: { ...createManualClock(), now } }), close: async () => {} }),
};

function broken(name: string, caughtBy: string, change: (place: AuditPlace) => Partial<AuditStore>): BrokenAdapter<AuditStoreHarness> {
  return {
    name,
    caughtBy: `audit-store/${caughtBy}`,
    harness: {
      place: async (given) => {
        const place = await memoryAudit.place(given);
        return { ...place, audit: { ...place.audit, ...change(place) } };
      },
    },
  };
}

/** Audits that the suite must reject. */
export const brokenAuditStores: readonly BrokenAdapter<AuditStoreHarness>[] = [
  broken('forgets what was noted', 'append', () => ({ note: () => {} })),
  broken('waits for a commit that may never come', 'flush', () => ({ flush: async () => {} })),
  broken('gives the newest ingest first', 'order', ({ audit }) => ({
    read: async (id) => {
      const found = await audit.read(id);
      return { ...found, ingests: [...found.ingests].reverse() };
    },
  })),
  broken('keeps the first word about a turn', 'replace', ({ audit }) => {
    const first = new Set<string>();
    return {
      note: (id, entry) => {
        const key = entry.kind === 'turn' ? `${id}/${entry.turn.turn}` : undefined;
        if (key !== undefined && first.has(key)) return;
        if (key !== undefined) first.add(key);
        audit.note(id, entry);
      },
    };
  }),
  broken('lists without a bound', 'list', ({ audit }) => ({ list: () => audit.list(1000) })),
  broken('takes a session that is not there for an empty one', 'missing', ({ audit }) => ({
    read: (id) => audit.read(id).catch(() => ({ session_id: id, ingests: [], turns: [] })),
  })),
  broken('outlives its session', 'goes', ({ audit }) => {
    const all = new Map<string, Parameters<AuditStore['note']>[1][]>();
    return {
      note: (id, entry) => {
        all.set(id, [...(all.get(id) ?? []), entry]);
        audit.note(id, entry);
      },
      list: async () => [...all.keys()].map((session_id) => ({ session_id, ingests: 1, turns: 0, suspicious: 0 })),
    };
  }),
];

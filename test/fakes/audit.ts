import type { AuditEntry, AuditIngest, AuditStore, AuditTurn } from '../../ports/audit.ts';
import type { Clock } from '../../ports/clock.ts';
import { SessionError, type SessionStore, type SessionWriter } from '../../ports/session.ts';
import { createMemorySessionStore } from './session-store.ts';

interface Kept {
  readonly ingests: AuditIngest[];
  readonly turns: Map<number, AuditTurn>;
}

/** Sessions and their audit in memory. */
export function createMemoryAudit({ clock }: { readonly clock: Clock }): { readonly sessions: SessionStore; readonly audit: AuditStore } {
  const store = createMemorySessionStore({ clock });
  const kept = new Map<string, Kept>();
  const waiting = new Map<string, AuditEntry[]>();

  const isThere = async (id: string): Promise<boolean> =>
    (await store.find({ limit: 100_000, unlisted: true })).some((header) => header.id === id);
  const flush = async (id: string): Promise<void> => {
    const entries = waiting.get(id) ?? [];
    waiting.delete(id);
    if (!(await isThere(id))) return void kept.delete(id);
    const found: Kept = kept.get(id) ?? { ingests: [], turns: new Map() };
    const { ingests, turns } = found;
    for (const entry of entries) {
      if (entry.kind === 'ingest') ingests.push(entry.ingest);
      else turns.set(entry.turn.turn, entry.turn);
    }
    if (entries.length > 0) kept.set(id, found);
  };
  const watched = (writer: SessionWriter): SessionWriter => ({
    ...writer,
    async append(records) {
      const last = await writer.append(records);
      await flush(writer.header.id);
      return last;
    },
    async close(options) {
      await writer.close(options);
      await flush(writer.header.id);
    },
  });

  return {
    sessions: {
      ...store,
      create: async (session) => watched(await store.create(session)),
      open: async (...args) => watched(await store.open(...args)),
      async remove(ids) {
        const count = await store.remove(ids);
        for (const id of ids) await flush(id);
        return count;
      },
    },
    audit: {
      note(id, entry) {
        waiting.set(id, [...(waiting.get(id) ?? []), entry]);
      },
      flush,
      async read(id) {
        if (!(await isThere(id))) throw new SessionError('session_not_found', `there is no session ${id}`, { value: id });
        const { ingests, turns } = kept.get(id) ?? { ingests: [], turns: new Map<number, AuditTurn>() };
        return { session_id: id, ingests: [...ingests], turns: [...turns.values()].sort((a, b) => a.turn - b.turn) };
      },
      async list(limit) {
        const headers = await store.find({ limit: 100_000, unlisted: true });
        return headers
          .flatMap(({ id }) => {
            const found = kept.get(id);
            if (found === undefined) return [];
            const turns = [...found.turns.values()];
            const [first] = found.ingests;
            return [
              {
                session_id: id,
                ingests: found.ingests.length,
                turns: turns.length,
                suspicious: turns.filter((turn) => turn.suspicious_divergence).length,
                ...(first !== undefined && { first_source: first.source }),
              },
            ];
          })
          .slice(0, limit);
      },
    },
  };
}

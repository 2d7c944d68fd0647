import { createSessionSearch } from '../../adapters/session-search/store.ts';
import type { SessionStore } from '../../ports/session.ts';
import type { SessionSearch } from '../../ports/session-search.ts';
import { createMemorySessionStore } from '../fakes/session-store.ts';
import type { SearchedSession, SessionSearchHarness } from './session-search.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** Puts sessions into a store as runs would. */
export async function putSessions(store: SessionStore, sessions: readonly SearchedSession[], tick: () => void): Promise<void> {
  for (const { id, said, toolResult, listed, run = `run-${id}` } of sessions) {
    tick();
    const facts = { title: said[0]?.content ?? '', provider: 'p', model: 'm', workspace: '/w', externalRefs: [] };
    const writer = await store.create({ id, listed, ...facts });
    await writer.append(said.map((message) => ({ kind: 'message', run, iteration: 1, message })));
    if (toolResult !== undefined) {
      const message = { role: 'tool', callId: 'c', name: 't', content: toolResult, outcome: 'completed' } as const;
      await writer.append([{ kind: 'tool_finished', key: `${run}/1/0`, message, durationMs: 1 }]);
    }
    await writer.update({ lastRun: { id: run, state: 'running' } });
    await writer.close();
  }
}

/** The search over sessions in memory, with or without a fault. */
export function memorySearchHarness(fault: (plain: SessionSearch) => Partial<SessionSearch> = () => ({})): SessionSearchHarness {
  return {
    async make(sessions) {
      let now = 1_700_000_000_000;
      const clock = { now: () => now, monotonic: () => now, sleep: async () => {}, after: () => () => {} };
      const store = createMemorySessionStore({ clock });
      await putSessions(store, sessions, () => {
        now += 1000;
      });
      const plain = createSessionSearch(store);
      return { search: { ...plain, ...fault(plain) }, close: async () => {} };
    },
  };
}

const broken = (
  name: string,
  caughtBy: string,
  fault: (plain: SessionSearch) => Partial<SessionSearch>,
): BrokenAdapter<SessionSearchHarness> => ({
  name,
  caughtBy: `session-search/${caughtBy}`,
  harness: memorySearchHarness(fault),
});

/** Searches that each break one sentence. */
export const brokenSessionSearches: readonly BrokenAdapter<SessionSearchHarness>[] = [
  broken('lists the oldest first', 'list', (plain) => ({ list: async (limit) => (await plain.list(limit)).toReversed() })),
  broken('knows no limit', 'list', (plain) => ({ list: () => plain.list(1000) })),
  broken('looks at the case of a title', 'find', (plain) => ({
    find: async (text, limit) => (await plain.find(text, limit)).filter(({ title }) => title.includes(text)),
  })),
  broken('is content with one of many words', 'search', (plain) => ({
    search: async (text, limit, run) => {
      const words = text.split(/\s+/).filter((word) => word.length > 1);
      const hits = await Promise.all(words.map((word) => plain.search(word, limit, run)));
      return [...new Map(hits.flat().map((hit) => [hit.id, hit])).values()].slice(0, limit);
    },
  })),
  broken('searches for single letters', 'words', (plain) => ({
    search: async (text, limit, run) => (text === 'a' ? plain.search('apples', limit, run) : plain.search(text, limit, run)),
  })),
  broken('finds itself', 'not-own', (plain) => ({ search: (text, limit) => plain.search(text, limit) })),
  broken('gives the newest message first', 'messages', (plain) => ({
    messages: async (id) => {
      const found = await plain.messages(id);
      return found && { ...found, messages: found.messages.toReversed() };
    },
  })),
];

import { hasCode } from '../../ports/errors.ts';
import type { SessionHeader, SessionStore, StoredRecord } from '../../ports/session.ts';
import type { SessionHit, SessionMessage, SessionMessages, SessionSearch, SessionSummary } from '../../ports/session-search.ts';

/** Sessions whose titles are looked through, the newest. */
const MAX_TITLES = 1000;
/** Sessions that one word may find, the newest. */
const MAX_PER_WORD = 200;
const MAX_WORDS = 16;
const MIN_WORD_CHARS = 2;
const SNIPPET_CHARS = 100;
/** Characters of one message, and of all messages of a session. */
const MAX_MESSAGE_CHARS = 8_000;
const MAX_MESSAGES_CHARS = 64 * 1024;

/** {@link SessionSearch} over the full-text index of a session store. */
export function createSessionSearch(sessions: SessionStore): SessionSearch {
  const newest = async (query: { readonly text?: string; readonly limit: number }): Promise<readonly SessionHeader[]> =>
    (await sessions.find(query)).filter((header) => header.listed);

  return {
    list: async (limit) => (await newest({ limit })).map(summary),
    async find(text, limit) {
      const wanted = text.trim().toLowerCase();
      const found = (await newest({ limit: MAX_TITLES })).filter(({ title }) => title.toLowerCase().includes(wanted));
      return wanted === '' ? [] : found.slice(0, limit).map(summary);
    },
    async search(text, limit, run) {
      const words = wordsOf(text);
      const found = await countWords(words, newest);
      const enough = found.filter(({ header, matched }) => matched >= Math.min(2, words.length) && !isOwn(header, run));
      enough.sort((a, b) => b.matched - a.matched || b.header.updatedAt - a.header.updatedAt);
      const hits: SessionHit[] = [];
      for (const { header, matched } of enough.slice(0, limit)) {
        hits.push({ ...summary(header), matched, snippet: await snippetOf(sessions, header.id, words) });
      }
      return hits;
    },
    async messages(id) {
      const session = await read(sessions, id);
      return session?.header.listed ? fitted(session.header, saidIn(session.records)) : undefined;
    },
  };
}

type Newest = (query: { readonly text: string; readonly limit: number }) => Promise<readonly SessionHeader[]>;

async function countWords(words: readonly string[], newest: Newest) {
  const found = new Map<string, { readonly header: SessionHeader; matched: number }>();
  for (const text of words) {
    for (const header of await newest({ text, limit: MAX_PER_WORD })) {
      const known = found.get(header.id) ?? { header, matched: 0 };
      known.matched += 1;
      found.set(header.id, known);
    }
  }
  return [...found.values()];
}

function isOwn(header: SessionHeader, run: string | undefined): boolean {
  return run !== undefined && header.lastRun?.id === run;
}

function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}_]+/u);
  return [...new Set(words)].filter((word) => [...word].length >= MIN_WORD_CHARS).slice(0, MAX_WORDS);
}

function summary({ id, title, createdAt, updatedAt, turns, model }: SessionHeader): SessionSummary {
  return { id, title, createdAt, updatedAt, turns, model };
}

/** Undefined for a session that does not exist, or not any more. */
async function read(sessions: SessionStore, id: string) {
  try {
    return await sessions.read(id);
  } catch (error) {
    if (hasCode(error, 'session_not_found') || hasCode(error, 'invalid_session_id')) return undefined;
    throw error;
  }
}

function saidIn(records: readonly StoredRecord[]): readonly SessionMessage[] {
  return records.flatMap(({ record }) => {
    if (record.kind !== 'message') return [];
    const { role, content } = record.message;
    return role === 'system' || content === '' ? [] : [{ role, content }];
  });
}

function fitted(header: SessionHeader, said: readonly SessionMessage[]): SessionMessages {
  const messages: SessionMessage[] = [];
  let room = MAX_MESSAGES_CHARS;
  for (const { role, content } of said.toReversed()) {
    const kept = content.length <= MAX_MESSAGE_CHARS ? content : `${content.slice(0, MAX_MESSAGE_CHARS - 1).toWellFormed()}…`;
    room -= kept.length;
    if (room < 0) break;
    messages.unshift({ role, content: kept });
  }
  return { session: summary(header), messages, omitted: said.length - messages.length };
}

async function snippetOf(sessions: SessionStore, id: string, words: readonly string[]): Promise<string> {
  for (const { content } of saidIn((await read(sessions, id))?.records ?? [])) {
    const lower = content.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    if (places.length > 0) return around(content, Math.min(...places));
  }
  return '';
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - SNIPPET_CHARS / 4);
  return text
    .slice(from, from + SNIPPET_CHARS)
    .replace(/\s+/g, ' ')
    .toWellFormed()
    .trim();
}

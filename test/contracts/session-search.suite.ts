import assert from 'node:assert/strict';
import type { SessionSearch } from '../../ports/session-search.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A session that the subject is to find. The first user message is its title. */
export interface SearchedSession {
  readonly id: string;
  readonly said: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** What a tool returned in it. */
  readonly toolResult?: string;
  readonly listed: boolean;
  /** The run that is under way in it. */
  readonly run?: string;
}

export interface SessionSearchHarness {
  /** A search over these sessions, of which the last one changed last. */
  make(sessions: readonly SearchedSession[]): Promise<{ readonly search: SessionSearch; close(): Promise<void> }>;
}

const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

const SESSIONS: readonly SearchedSession[] = [
  { id: 's-apples', listed: true, said: [user('Count the Apples in the cellar'), assistant('There are seven apples and a ladder.')] },
  {
    id: 's-pears',
    listed: true,
    said: [user('Paint the pears'), assistant('The ladder and the cellar are painted; apples are not.')],
    toolResult: 'zebra',
  },
  { id: 's-hidden', listed: false, said: [user('Hide the apples, the ladder and the cellar')] },
  { id: 's-own', listed: true, run: 'r1', said: [user('Where did we see apples, a ladder, the cellar and a rope?')] },
];

type Test = (search: SessionSearch) => Promise<void>;

function over(sessions: readonly SearchedSession[], id: string, sentence: string, test: Test): ContractCase<SessionSearchHarness> {
  return {
    id: `session-search/${id}`,
    sentence,
    async run(harness) {
      const { search, close } = await harness.make(sessions);
      try {
        await test(search);
      } finally {
        await close();
      }
    },
  };
}

const idsOf = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);

/** The contract of {@link SessionSearch}. */
export const sessionSearchSuite: ContractSuite<SessionSearchHarness> = {
  port: 'SessionSearch',
  cases: [
    over(SESSIONS, 'list', '`list` gives listed sessions alone, those that changed last first, at most `limit`', async (search) => {
      assert.deepEqual(idsOf(await search.list(10)), ['s-own', 's-pears', 's-apples']);
      assert.deepEqual(idsOf(await search.list(2)), ['s-own', 's-pears']);
      const [own] = await search.list(1);
      assert.equal(own?.turns, 1);
    }),
    over(SESSIONS, 'find', '`find` gives those whose title holds the text, in any case', async (search) => {
      assert.deepEqual(idsOf(await search.find('the APPLES in', 10)), ['s-apples']);
      assert.deepEqual(idsOf(await search.find('painted', 10)), []);
      assert.deepEqual(idsOf(await search.find('the ', 1)), ['s-own']);
    }),
    over(
      SESSIONS,
      'search',
      '`search` gives those in which at least two of the words occur, or the only one; the more words, the earlier',
      async (search) => {
        assert.deepEqual(idsOf(await search.search('seven apples nowhere', 10)), ['s-apples']);
        assert.deepEqual(idsOf(await search.search('seven apples ladder cellar', 10)), ['s-apples', 's-own', 's-pears']);
        assert.deepEqual(idsOf(await search.search('painted', 10)), ['s-pears']);
        assert.deepEqual(idsOf(await search.search('apples ladder', 1)), ['s-own']);
        const [hit] = await search.search('seven', 10);
        assert.ok(hit);
        assert.ok(hit.snippet.includes('seven apples') && [...hit.snippet].length <= 100, hit.snippet);
        assert.equal(hit.matched, 1);
      },
    ),
    over(SESSIONS, 'words', 'a word counts from two characters on, and a text without one finds nothing', async (search) => {
      for (const text of ['', ' ', 'a', 'a . !', '"', '*']) assert.deepEqual(await search.search(text, 10), [], text);
      assert.deepEqual(idsOf(await search.search('a seven', 10)), ['s-apples']);
    }),
    over(SESSIONS, 'not-own', 'the run that asks does not find its own session by its words', async (search) => {
      assert.ok(!idsOf(await search.search('apples ladder cellar', 10, 'r1')).includes('s-own'));
      assert.ok(idsOf(await search.search('apples ladder cellar', 10, 'r2')).includes('s-own'));
    }),
    over(
      [
        ...SESSIONS,
        {
          id: 's-long',
          listed: true,
          said: Array.from({ length: 400 }, (_, at) =>
            at % 2 === 0 ? user(`${at} ${'x'.repeat(1000)}`) : assistant(`${at} ${'y'.repeat(1000)}`),
          ),
        },
      ],
      'messages',
      '`messages` gives user and assistant messages in order, the newest that fit, and `undefined` for an id that does not exist',
      async (search) => {
        const pears = await search.messages('s-pears');
        assert.deepEqual(pears?.messages, SESSIONS[1]?.said);
        assert.deepEqual([pears?.omitted, pears?.session.id], [0, 's-pears']);
        const long = await search.messages('s-long');
        assert.ok(long && long.messages.length > 0 && long.messages.length + long.omitted === 400);
        assert.ok(long.messages.reduce((sum, { content }) => sum + content.length, 0) <= 64 * 1024);
        assert.deepEqual(
          long.messages.map(({ content }) => Number(content.split(' ')[0])),
          Array.from({ length: long.messages.length }, (_, at) => 400 - long.messages.length + at),
        );
        for (const id of ['nothing', '', '../x', 's-hidden']) assert.equal(await search.messages(id), undefined, id);
      },
    ),
  ],
};

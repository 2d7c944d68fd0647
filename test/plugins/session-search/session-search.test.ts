import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import sessionSearch from '../../../plugins/session-search/index.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import type { SessionSearch } from '../../../ports/session-search.ts';
import { memorySearchHarness } from '../../contracts/session-search.broken.ts';

const said = (content: string) => [{ role: 'user', content } as const, { role: 'assistant', content: 'Done.' } as const];
const SESSIONS = Array.from({ length: 25 }, (_, at) => ({
  id: `s${at}`,
  listed: true,
  said: said(at % 2 === 0 ? `Bake bread number ${at}` : `Cook soup number ${at}`),
}));

async function registered(search?: SessionSearch) {
  const registry = createToolRegistry();
  const sessions = search ?? (await memorySearchHarness().make(SESSIONS)).search;
  sessionSearch.apply({ tools: registry.registrar('session-search'), sessions }, {});
  return registry;
}

async function call(input: object, search?: SessionSearch) {
  const exec = { signal: new AbortController().signal, callId: 'c', args: input, workspace: '/w', dataDir: '/d', runId: 'run-s24' };
  const result = (await (await registered(search)).get('session_search')?.spec.execute(input as never, exec)) as ToolResult;
  expect(result.source).toBe('session_search');
  // biome-ignore lint/suspicious/noExplicitAny: the parsed JSON of a result, which tests look into.
  return { value: JSON.parse(result.content) as any, failed: result.failed === true };
}

describe('session_search', () => {
  it('is told to a model in at most 600 bytes and touches nothing', async () => {
    const registry = await registered();
    expect(Buffer.byteLength(JSON.stringify(registry.definitions()[0]))).toBeLessThanOrEqual(600);
    expect(registry.get('session_search')?.spec.effects?.({} as never)).toEqual({});
  });

  it('lists five by default and twenty at most, the newest first', async () => {
    const { value } = await call({ action: 'list' });
    expect(value.sessions).toHaveLength(5);
    expect(value.sessions[0]).toEqual({
      id: 's24',
      task: 'Bake bread number 24',
      created: expect.stringMatching(/^\d{4}-.*Z$/),
      updated: expect.stringMatching(/^\d{4}-.*Z$/),
      turns: 1,
      model: 'm',
    });
    expect((await call({ action: 'list', limit: 500 })).value.sessions).toHaveLength(20);
  });

  it('finds by task, searches by words without its own session, and gets what was said', async () => {
    expect((await call({ action: 'find', query: 'SOUP', limit: 2 })).value.sessions.map(({ id }: { id: string }) => id)).toEqual([
      's23',
      's21',
    ]);
    const found = await call({ action: 'search', query: 'bake bread', limit: 2 });
    expect(found.value.sessions.map(({ id }: { id: string }) => id)).toEqual(['s22', 's20']);
    expect(found.value.sessions[0]).toMatchObject({ matched: 2, snippet: 'Bake bread number 22' });
    expect((await call({ action: 'get', query: ' s3 ' })).value).toMatchObject({
      session: { id: 's3' },
      session_messages: said('Cook soup number 3'),
    });
  });

  it.each([
    [{ action: 'find' }, 'action "find" needs a query'],
    [{ action: 'search', query: ' ' }, 'action "search" needs a query'],
    [{ action: 'get', query: 'nothing' }, 'there is no session "nothing"'],
  ])('says what is wrong with %o', async (input, error) => {
    expect(await call(input)).toMatchObject({ failed: true, value: { error: expect.stringContaining(error) } });
  });

  it('tells how many messages did not fit', async () => {
    const session = { id: 'x', title: 't', createdAt: 0, updatedAt: 0, turns: 1, model: 'm' };
    const { search } = await memorySearchHarness().make([]);
    const partial = { ...search, messages: async () => ({ session, messages: [], omitted: 7 }) };
    expect((await call({ action: 'get', query: 'x' }, partial)).value.omitted).toBe(7);
  });
});

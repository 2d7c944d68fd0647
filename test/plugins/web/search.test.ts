import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { offeredPlugins } from '../../../hosts/built-ins.ts';
import { openSearchEngine } from '../../../hosts/search-engine.ts';
import search from '../../../plugins/web/search.ts';
import type { SearchEngine } from '../../../ports/plugin.ts';
import { callTool, client, serve, toolOf } from './fixture.ts';

const DEFAULTS = { categories: '', language: '', max_results: 10, timeout_seconds: 15 };

async function engineAt(base_url: string, more: Partial<typeof DEFAULTS> = {}): Promise<SearchEngine> {
  const engine = await openSearchEngine({ network: { allow_hosts: [] }, web_search: { ...DEFAULTS, base_url, ...more } });
  if (engine === undefined) throw new Error('no engine');
  return engine;
}

async function tool(listener: RequestListener, more: Partial<typeof DEFAULTS> = {}, path = '') {
  const { host, asked } = await serve(listener);
  const searchEngine = await engineAt(`http://${host}${path}`, more);
  return { host, asked, ...(await toolOf(search, { searchEngine }, 'web_search')) };
}

const results = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ title: `t${at}`, url: `https://r.example/${at}`, content: 'c' }));
const answering =
  (value: unknown): RequestListener =>
  (_, response) =>
    void response.end(JSON.stringify(value));

describe('web_search', () => {
  it('is there only where a search engine is configured', async () => {
    expect(await openSearchEngine({ network: { allow_hosts: [] }, web_search: DEFAULTS })).toBeUndefined();
    expect(offeredPlugins({})).not.toContain('web-search');
    expect(offeredPlugins({ searchEngine: await engineAt('http://127.0.0.1:9') })).toContain('web-search');
  });

  it('is told to a model in at most 600 bytes, declares the host of the engine and keeps to its time', async () => {
    const { spec, bytes, host } = await tool(answering({}), { timeout_seconds: 3 });
    expect(bytes).toBeLessThanOrEqual(600);
    expect(spec.effects?.({ query: 'x' } as never)).toEqual({ hosts: [host] });
    expect(spec.timeoutMs).toBe(3000);
  });

  it('asks the JSON interface under the path of the engine, and labels what it found', async () => {
    const { spec, asked } = await tool(answering({ results: results(2) }), { categories: 'general', language: 'de' }, '/searx/');
    const found = await callTool(spec, { query: 'a&b c' });
    expect(found).toEqual({ value: { results: results(2) }, failed: false, source: 'web_search:a&b c' });
    await callTool(spec, { query: 'q', category: 'news' });
    expect(asked).toEqual([
      'GET /searx/search?q=a%26b+c&format=json&categories=general&language=de',
      'GET /searx/search?q=q&format=json&categories=news&language=de',
    ]);
  });

  it.each([
    [{}, 10],
    [{ max_results: 3 }, 3],
    [{ max_results: 1000 }, 50],
  ])('gives for %j %i results', async (input, count) => {
    const { spec } = await tool(answering({ results: results(80) }));
    expect((await callTool(spec, { query: 'q', ...input })).value.results).toHaveLength(count);
  });

  it('cuts long texts and leaves out what is no result', async () => {
    const long = { title: 'x'.repeat(5000), url: 'https://r.example/', content: 7, engine: 'e' };
    const { spec } = await tool(answering({ results: [null, 'x', { title: 'no url' }, { url: `https://${'x'.repeat(3000)}` }, long] }));
    expect((await callTool(spec, { query: 'q' })).value.results).toEqual([
      { title: 'x'.repeat(1000), url: 'https://r.example/', content: '' },
    ]);
  });

  it.each([
    ['another status', (_, response) => response.writeHead(429).end(), 'status 429'],
    ['a redirect', (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(), 'status 302'],
    ['a page', (_, response) => response.end('<html>'), 'did not answer with a JSON object'],
    ['no results', (_, response) => response.end('{"results": 1}'), 'did not answer with a JSON object'],
  ] satisfies readonly (readonly [string, RequestListener, string])[])('fails on %s', async (_, listener, error) => {
    const { spec } = await tool(listener);
    const result = await callTool(spec, { query: 'q' });
    expect(result).toMatchObject({ failed: true, source: 'web_search:q', value: { error: expect.stringContaining(error) } });
  });

  it('stops reading an answer at 4 MiB', async () => {
    let isClosed = false;
    const piece = 'x'.repeat(256 * 1024);
    const { spec } = await tool((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more).on('close', () => {
        isClosed = true;
      });
      more();
    });
    expect((await callTool(spec, { query: 'q' })).value.error).toContain('longer than 4194304 bytes');
    await expect.poll(() => isClosed).toBe(true);
  });

  it('reaches the host of the engine and no other', async () => {
    const { host } = await serve(answering({ results: [] }));
    const engine = await engineAt(`http://${host}`);
    const request = { method: 'GET', url: 'http://example.org/', headers: {} };
    await expect(engine.http.request(request, new AbortController().signal)).rejects.toMatchObject({ code: 'host_refused' });
  });

  it('says so when the engine does not answer', async () => {
    const http = client({ mode: 'operator', allowHosts: ['127.0.0.1:1'] });
    const searchEngine = { ...(await engineAt('http://127.0.0.1:1')), http };
    const { spec } = await toolOf(search, { searchEngine }, 'web_search');
    expect(await callTool(spec, { query: 'q' })).toMatchObject({ failed: true, value: { error: expect.stringContaining('refused') } });
  });

  it('ends when its call is cancelled, also while the answer arrives', async () => {
    const stop = new AbortController();
    const { spec } = await tool((_, response) => {
      response.write('{"results": [');
      setTimeout(() => stop.abort(), 50);
    });
    await expect(callTool(spec, { query: 'q' }, stop.signal)).rejects.toMatchObject({ name: 'CancelledError' });
  });
});

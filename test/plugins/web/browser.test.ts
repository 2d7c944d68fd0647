import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import web from '../../../plugins/web/index.ts';
import type { ToolSpec } from '../../../ports/plugin.ts';
import { callTool, client, serve, toolOf } from './fixture.ts';

async function browser(...allowHosts: string[]): Promise<ToolSpec> {
  return (await toolOf(web, { http: client({ mode: 'guarded', allowHosts }) }, 'browser')).spec;
}

const html =
  (pages: Readonly<Record<string, string>>): RequestListener =>
  (request, response) =>
    void response
      .writeHead(pages[request.url ?? ''] === undefined ? 404 : 200, { 'content-type': 'text/html' })
      .end(pages[request.url ?? ''] ?? 'none');

async function site(listener: RequestListener) {
  const { host, asked } = await serve(listener);
  const spec = await browser(host);
  return { host, asked, spec, go: (path = '/') => callTool(spec, { action: 'navigate', url: `http://${host}${path}` }) };
}

describe('browser', () => {
  it('is told to a model in at most 600 bytes', async () => {
    expect((await toolOf(web, { http: client({ mode: 'guarded' }) }, 'browser')).bytes).toBeLessThanOrEqual(600);
  });

  it('declares the host it navigates to, that a click reaches the open one, and that the others send nothing', async () => {
    const { effects } = await browser();
    expect(effects?.({ action: 'navigate', url: 'http://0x7f.1/' } as never)).toEqual({ hosts: ['127.0.0.1'] });
    expect(effects?.({ action: 'click', ref: 'e1' } as never)).toEqual({ hosts: ['the host of the page that is open'] });
    expect(effects?.({ action: 'back' } as never)).toEqual({ hosts: [] });
  });

  it('navigates, clicks, goes back and shows what is open, labelled with its address', async () => {
    const { go, spec, host, asked } = await site(html({ '/': '<title>T</title><a href=/b>B</a>', '/b': 'page b' }));
    const first = await go();
    expect(first).toEqual({
      value: {
        title: 'T',
        url: `http://${host}/`,
        content: 'B',
        status: 200,
        elements: [{ ref: 'e1', type: 'link', text: 'B', url: `http://${host}/b` }],
      },
      failed: false,
      source: `http://${host}/`,
    });
    expect((await callTool(spec, { action: 'click', ref: 'e1' })).value).toMatchObject({ url: `http://${host}/b`, content: 'page b' });
    expect((await callTool(spec, { action: 'snapshot' })).value).toMatchObject({ content: 'page b' });
    expect(await callTool(spec, { action: 'back' })).toEqual(first);
    expect(await callTool(spec, { action: 'back' })).toMatchObject({ failed: true });
    expect(asked).toEqual(['GET /', 'GET /b']);
  });

  it('keeps the order of calls that are made at once', async () => {
    const { spec, host } = await site(html({ '/': '<a href=/b>B</a>', '/b': 'page b' }));
    const calls = [{ action: 'navigate', url: `http://${host}/` }, { action: 'click', ref: 'e1' }, { action: 'snapshot' }];
    const results = await Promise.all(calls.map((call) => callTool(spec, call)));
    expect(results.map(({ value }) => value.content)).toEqual(['B', 'page b', 'page b']);
  });

  it('stays with the host that was judged, on clicks and on redirects', async () => {
    const other = await serve((_, response) => response.end('other'));
    const { host } = await serve((request, response) => {
      if (request.url === '/r') response.writeHead(302, { location: `http://${other.host}/` }).end();
      else response.setHeader('content-type', 'text/html').end(`<a href="http://${other.host}/x">x</a>`);
    });
    const spec = await browser(host, other.host);
    await callTool(spec, { action: 'navigate', url: `http://${host}/` });
    expect((await callTool(spec, { action: 'click', ref: 'e1' })).value.error).toContain(`navigate to http://${other.host}/x`);
    const moved = await callTool(spec, { action: 'navigate', url: `http://${host}/r` });
    expect(moved).toMatchObject({ failed: true, value: { status: 302, error: expect.stringContaining(`ask for http://${other.host}/`) } });
    expect(other.asked).toEqual([]);
  });

  it.each([
    [{ action: 'navigate' }, 'navigate needs a url'],
    [{ action: 'snapshot' }, 'no page is open'],
    [{ action: 'click', ref: 'e1' }, 'no page is open'],
    [{ action: 'back' }, 'no page is open'],
    [{ action: 'navigate', url: 'http://2130706433/' }, 'is not a public address'],
    [{ action: 'navigate', url: 'file:///etc/passwd' }, 'must be absolute and start with http'],
  ])('refuses %j', async (input, error) => {
    expect(await callTool(await browser(), input)).toMatchObject({ failed: true, value: { error: expect.stringContaining(error) } });
  });

  it('follows links alone', async () => {
    const { go, spec } = await site(html({ '/': '<button>Buy</button>' }));
    await go();
    expect((await callTool(spec, { action: 'click', ref: 'e1' })).value.error).toContain('e1 is no link (button)');
    expect((await callTool(spec, { action: 'click', ref: 'e9' })).value.error).toContain('no element "e9" here');
  });

  it('takes 10 MiB of a page at most, and stops reading there', async () => {
    let isClosed = false;
    const { go } = await site((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(256 * 1024)));
      };
      response.setHeader('content-type', 'text/html').on('drain', more);
      response.on('close', () => {
        isClosed = true;
      });
      more();
    });
    expect((await go()).value.error).toContain('longer than 10485760 bytes');
    await expect.poll(() => isClosed).toBe(true);
  });

  it.each(['a', '"', '\u0001'])('gives a snapshot of at most 1 MiB of JSON, of text full of %j', async (piece) => {
    const { go } = await site((_, response) => response.setHeader('content-type', 'text/plain').end(piece.repeat(3 * 1024 * 1024)));
    const { value, failed } = await go();
    expect(failed).toBe(false);
    expect(JSON.stringify(value).length).toBeLessThan(1_050_000);
    expect(String(value.content).length).toBeGreaterThan(100_000);
  });

  it.each([
    [{ 'content-type': 'image/png' }, 'not image/png'],
    [{ 'content-type': 'text/html', 'content-encoding': 'gzip' }, 'encoded as gzip'],
  ])('reads no body with %j', async (headers, error) => {
    const { go } = await site((_, response) => response.writeHead(200, headers).end('x'));
    expect(await go()).toMatchObject({ failed: true, value: { status: 200, error: expect.stringContaining(error) } });
  });

  it('reads the charset that the page is sent in', async () => {
    const { go } = await site((_, response) =>
      response.setHeader('content-type', 'text/html; charset=ISO-8859-1').end(Buffer.from([0x67, 0xfc, 0x6e])),
    );
    expect((await go()).value.content).toBe('gün');
  });

  it('ends when its call is cancelled, and serves the next one', async () => {
    const stop = new AbortController();
    const { host, spec, go } = await site((request, response) => {
      if (request.url === '/hang') stop.abort();
      else response.end('ok');
    });
    await expect(callTool(spec, { action: 'navigate', url: `http://${host}/hang` }, stop.signal)).rejects.toMatchObject({
      name: 'CancelledError',
    });
    expect((await go()).value.content).toBe('ok');
  });
});

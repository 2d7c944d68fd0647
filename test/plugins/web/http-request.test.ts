import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import web from '../../../plugins/web/index.ts';
import { callTool, client, serve, toolOf } from './fixture.ts';

async function tool(...allowHosts: string[]) {
  return (await toolOf(web, { http: client({ mode: 'guarded', allowHosts }) }, 'http_request')).spec;
}

describe('http_request', () => {
  it('is told to a model in at most 600 bytes', async () => {
    expect((await toolOf(web, { http: client({ mode: 'guarded' }) }, 'http_request')).bytes).toBeLessThanOrEqual(600);
  });

  it('gives the status and the length, whatever the status, labelled with the URL', async () => {
    const { host, asked } = await serve((_, response) => response.writeHead(404, { 'content-length': '5' }).end('12345'));
    const result = await callTool(await tool(host), { url: `http://${host}/a?b=c#part` });
    const url = `http://${host}/a?b=c`;
    expect(result).toEqual({ value: { url, status: 404, content_length: 5 }, failed: false, source: url });
    expect(asked).toEqual(['GET /a?b=c']);
  });

  it('sends the method and the headers, and its own name where none is given', async () => {
    const seen: (string | undefined)[] = [];
    const { host, asked } = await serve((request, response) => {
      seen.push(request.headers['user-agent'], request.headers['x-a']?.toString());
      response.end();
    });
    const spec = await tool(host);
    await callTool(spec, { url: `http://${host}/`, method: 'DELETE', headers: { 'X-A': '1' } });
    await callTool(spec, { url: `http://${host}/`, method: 'HEAD', headers: { 'User-Agent': 'mine' } });
    expect(asked).toEqual(['DELETE /', 'HEAD /']);
    expect(seen).toEqual(['odek-http/0.1', '1', 'mine', undefined]);
  });

  it('does not wait for a body without end', async () => {
    const { host } = await serve((_, response) => response.writeHead(200).write('x'.repeat(100_000)));
    const result = await callTool(await tool(host), { url: `http://${host}/` });
    expect(result.value).toEqual({ url: `http://${host}/`, status: 200 });
  });

  it.each([
    ['GET', {}],
    ['HEAD', {}],
    ['OPTIONS', {}],
    ['POST', { uploads: true }],
    ['PUT', { uploads: true }],
    ['PATCH', { uploads: true }],
    ['DELETE', { uploads: true }],
  ])('declares the host of a %s, as the URL means it', async (method, more) => {
    const { effects } = await tool();
    expect(effects?.({ url: 'https://EXAMPLE.org:443/x', method } as never)).toEqual({ hosts: ['example.org'], ...more });
    expect(effects?.({ url: 'http://0x7f.1:8080/', method } as never)).toEqual({ hosts: ['127.0.0.1:8080'], ...more });
    expect(effects?.({ url: 'nonsense', method } as never)).toEqual({ hosts: [], ...more });
  });

  it('follows redirects within the host, each as a browser would', async () => {
    const { host, asked } = await serve((request, response) => {
      const places: Readonly<Record<string, readonly [number, string]>> = { '/1': [307, '/2'], '/2': [302, './3'], '/3': [303, '/4'] };
      const [status, location] = places[request.url ?? ''] ?? [200, ''];
      response.writeHead(status, location === '' ? {} : { location }).end();
    });
    const result = await callTool(await tool(host), { url: `http://${host}/1`, method: 'POST' });
    expect(result).toMatchObject({ value: { url: `http://${host}/4`, status: 200 }, failed: false, source: `http://${host}/4` });
    expect(asked).toEqual(['POST /1', 'POST /2', 'GET /3', 'GET /4']);
  });

  it('stops after ten redirects', async () => {
    const { host, asked } = await serve((_, response) => response.writeHead(302, { location: '/again' }).end());
    const result = await callTool(await tool(host), { url: `http://${host}/` });
    expect(result).toMatchObject({ value: { status: 302, error: 'more than 10 redirects' }, failed: true });
    expect(asked).toHaveLength(11);
  });

  it('gives back a redirect to another host, which core has not judged, and sends nothing there', async () => {
    const other = await serve((_, response) => response.end());
    const { host } = await serve((_, response) => response.writeHead(302, { location: `http://${other.host}/secret` }).end());
    const result = await callTool(await tool(host, other.host), { url: `http://${host}/`, headers: { authorization: 'Bearer x' } });
    expect(result).toMatchObject({ failed: true, value: { url: `http://${host}/`, status: 302 } });
    expect(result.value.error).toContain(`ask for http://${other.host}/secret`);
    expect(other.asked).toEqual([]);
  });

  it.each(['http://10.0.0.1/', '//169.254.169.254/latest', 'http://[::1]/', 'file:///etc/passwd', 'http://a:b@example.org/'])(
    'does not go where a redirect to %s leads',
    async (location) => {
      const { host, asked } = await serve((_, response) => response.writeHead(301, { location }).end());
      const result = await callTool(await tool(host), { url: `http://${host}/` });
      expect(result).toMatchObject({ failed: true, value: { status: 301, error: expect.stringContaining('it redirects to ') } });
      expect(asked).toHaveLength(1);
    },
  );

  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://0/',
  ])('refuses %s', async (url) => {
    const result = await callTool(await tool(), { url });
    expect(result).toMatchObject({ failed: true, value: { error: expect.stringContaining('is not a public address') } });
  });

  it('says of a name that leads to a private address only the name', async () => {
    const http = client({ mode: 'guarded', resolve: async () => [{ address: '10.1.2.3', family: 4 }] });
    const { spec } = await toolOf(web, { http }, 'http_request');
    const { value } = await callTool(spec, { url: 'http://inside.example/' });
    expect(value.error).toContain('inside.example:80 does not lead to public addresses only');
    expect(JSON.stringify(value)).not.toContain('10.1.2.3');
  });

  it.each(['', 'example.org', 'ftp://example.org/', 'http://', `http://example.org/${'x'.repeat(8200)}`])(
    'refuses the URL %j',
    async (url) => {
      expect(await callTool(await tool(), { url })).toMatchObject({ failed: true, value: { error: expect.stringContaining('the URL') } });
    },
  );

  it('does not repeat a password of a URL', async () => {
    const result = await callTool(await tool(), { url: 'http://me:hunter22@example.org/' });
    expect(result.failed).toBe(true);
    expect(JSON.stringify(result)).not.toContain('hunter22');
  });

  it('refuses headers that frame the request or would split it', async () => {
    const { host, asked } = await serve((_, response) => response.end());
    const spec = await tool(host);
    for (const headers of [{ Host: 'evil' }, { 'content-length': '5' }, { a: 'b\r\nc: d' }]) {
      expect(await callTool(spec, { url: `http://${host}/`, headers })).toMatchObject({ failed: true });
    }
    expect(asked).toEqual([]);
    const check = await createSchemaValidator().compile(spec.parameters);
    expect(check({ url: 'http://a/', method: 'CONNECT' })).not.toEqual([]);
    expect(check({ url: 'http://a/', body: 'x' })).not.toEqual([]);
  });

  it('ends when its call is cancelled', async () => {
    const stop = new AbortController();
    const { host } = await serve(() => stop.abort());
    await expect(callTool(await tool(host), { url: `http://${host}/` }, stop.signal)).rejects.toMatchObject({ name: 'CancelledError' });
  });
});

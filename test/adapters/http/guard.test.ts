import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect as tcpConnect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClientOptions, proxyVariable } from '../../../adapters/http/index.ts';
import type { HttpClient } from '../../../ports/http.ts';

const never = new AbortController().signal;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
}

type Answers = Readonly<Record<string, readonly (readonly string[])[]>>;

interface World {
  readonly http: HttpClient;
  /** `address:port` of every connection that was opened. */
  readonly dialled: string[];
  readonly asked: string[];
}

/**
 * A client in a world of its own: names lead where `answers` says, one list of addresses after the
 * other, and every connection ends at one server on loopback.
 */
async function world(answers: Answers, listener: RequestListener, more: Partial<HttpClientOptions> = {}): Promise<World> {
  const [dialled, asked]: [string[], string[]] = [[], []];
  const port = await listen(
    createServer((request, response) => {
      asked.push(`${request.headers.host}${request.url}`);
      listener(request, response);
    }),
  );
  const turns = new Map<string, number>();
  const http = createHttpClient({
    mode: 'guarded',
    resolve: async (name) => {
      const turn = turns.get(name) ?? 0;
      turns.set(name, turn + 1);
      const lists = answers[name] ?? [];
      const addresses = lists[Math.min(turn, lists.length - 1)];
      if (addresses === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    connect: (target) => {
      dialled.push(`${target.address}:${target.port}`);
      return tcpConnect(port, '127.0.0.1');
    },
    ...more,
  } as HttpClientOptions);
  closers.push(() => http.close());
  return { http, dialled, asked };
}

async function get(http: HttpClient, url: string): Promise<string> {
  const { body } = await http.request({ method: 'GET', url, headers: {} }, never);
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return text;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: { code?: string }) => error.code,
  );
const hello: RequestListener = (_, response) => void response.end('hello');
const goodbye: RequestListener = (_, response) => void response.setHeader('connection', 'close').end('hello');

describe('a guarded connection', () => {
  it('goes to the very address that was checked', async () => {
    const { http, dialled } = await world({ 'site.example': [['93.184.216.34'], ['10.0.0.1']] }, hello);
    expect(await get(http, 'http://site.example/')).toBe('hello');
    expect(dialled).toEqual(['93.184.216.34:80']);
  });

  it('is refused when the name changes its answer to a private address, also after good ones', async () => {
    const { http, dialled, asked } = await world({ 'site.example': [['93.184.216.34'], ['127.0.0.1']] }, goodbye);
    expect(await get(http, 'http://site.example/a')).toBe('hello');
    expect(await codeOf(get(http, 'http://site.example/b'))).toBe('host_refused');
    expect(dialled).toEqual(['93.184.216.34:80']);
    expect(asked).toEqual(['site.example/a']);
  });

  it('stays with its address while it is kept, whatever the name leads to by then', async () => {
    const { http, dialled } = await world({ 'site.example': [['93.184.216.34'], ['127.0.0.1']] }, hello);
    for (const path of ['a', 'b', 'c']) expect(await get(http, `http://site.example/${path}`)).toBe('hello');
    expect(dialled).toEqual(['93.184.216.34:80']);
  });

  it('is not shared between names that lead to the same address', async () => {
    const { http, dialled, asked } = await world({ 'one.example': [['93.184.216.34']], 'two.example': [['93.184.216.34']] }, hello);
    await get(http, 'http://one.example/');
    await get(http, 'http://two.example/');
    expect(dialled).toEqual(['93.184.216.34:80', '93.184.216.34:80']);
    expect(asked).toEqual(['one.example/', 'two.example/']);
  });

  it('of an allowed private host does not open the way for another name', async () => {
    const answers = { 'in.example': [['10.0.0.7']], 'evil.example': [['10.0.0.7']] };
    const { http, dialled } = await world(answers, hello, { allowHosts: ['in.example:80'] });
    expect(await get(http, 'http://in.example/')).toBe('hello');
    expect(await codeOf(get(http, 'http://evil.example/'))).toBe('host_refused');
    expect(dialled).toEqual(['10.0.0.7:80']);
  });

  it.each([
    [['93.184.216.34', '::1']],
    [['2606:4700::1111', '192.168.0.9']],
    [['93.184.216.34', '::ffff:10.0.0.1']],
    [['93.184.216.34', '64:ff9b::a00:1']],
    [['93.184.216.34', 'fe80::1%eth0']],
    [['0.0.0.0']],
    [['not an address']],
  ])('is refused when one of %j is not public, and says no address', async (addresses) => {
    const { http, dialled } = await world({ 'site.example': [addresses] }, hello);
    const error = await get(http, 'http://site.example/').catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'host_refused' });
    for (const address of addresses) expect(`${error} ${JSON.stringify(error)}`).not.toContain(address);
    expect(dialled).toEqual([]);
  });

  it.each(['127.0.0.1.nip.io', 'localtest.example', 'bücher.example'])('is refused where %s leads to loopback', async (name) => {
    const host = new URL(`http://${name}/`).hostname;
    const { http, dialled } = await world({ [host]: [['127.0.0.1']] }, hello);
    expect(await codeOf(get(http, `http://${name}/`))).toBe('host_refused');
    expect(dialled).toEqual([]);
  });

  it.each([22, 25, 6379, 11211])('is refused to port %i, which belongs to no web server', async (port) => {
    const { http, dialled } = await world({ 'site.example': [['93.184.216.34']] }, hello);
    expect(await codeOf(get(http, `http://site.example:${port}/`))).toBe('host_refused');
    expect(dialled).toEqual([]);
  });

  it('that cannot be made tells no address', async () => {
    const connect = (): never => {
      throw Object.assign(new Error('connect ECONNREFUSED 93.184.216.34:80'), { code: 'ECONNREFUSED', address: '93.184.216.34' });
    };
    const { http } = await world({ 'site.example': [['93.184.216.34']] }, hello, { connect });
    const error = await get(http, 'http://site.example/').catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'connection_refused', message: expect.stringContaining('site.example') });
    expect(`${error} ${JSON.stringify(error)} ${(error as Error).cause ?? ''}`).not.toContain('93.184');
  });

  it('over TLS is made to the checked address, and what cannot be trusted there is refused without naming it', async () => {
    const { http, dialled } = await world({ 'site.example': [['93.184.216.34']] }, hello);
    const error = await get(http, 'https://site.example/').catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'tls_failure' });
    expect(`${error}`).not.toContain('93.184');
    expect(dialled).toEqual(['93.184.216.34:443']);
  });
});

describe('a proxy in the environment', () => {
  it.each(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'])('named by %s is found', (name) => {
    expect(proxyVariable({ PATH: '/bin', [name]: 'http://proxy.example:3128', NO_PROXY: '*', no_proxy: '*' })).toBe(name);
  });

  it('is not there where the variables are empty', () => {
    expect(proxyVariable({ HTTP_PROXY: '', https_proxy: ' ', NO_PROXY: '*' })).toBeUndefined();
  });

  it('makes every guarded request refuse before a name is asked for, and tells the ways out', async () => {
    const more = { environmentProxy: 'https_proxy', allowHosts: ['in.example:80'] };
    const { http, dialled, asked } = await world({}, hello, more);
    for (const url of ['http://site.example/', 'https://site.example/', 'http://in.example/']) {
      const error = await get(http, url).catch((caught: Error) => caught);
      expect(error).toMatchObject({ name: 'HttpError', code: 'proxy_refused' });
      expect(String(error)).toMatch(/https_proxy.*unset it.*network\.proxy.*"none"/);
    }
    expect([...dialled, ...asked]).toEqual([]);
  });
});

describe("the operator's proxy", () => {
  /** A proxy that takes every tunnel to one server on loopback. */
  async function proxied(answers: Answers, listener: RequestListener) {
    const tunnels: string[] = [];
    const target = await listen(createServer(listener));
    const proxy = createServer((_, response) => void response.writeHead(400).end());
    proxy.on('connect', (request, socket) => {
      tunnels.push(request.url ?? '');
      const line = tcpConnect(target, '127.0.0.1');
      for (const each of [line, socket]) each.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      line.pipe(socket).pipe(line);
    });
    const port = await listen(proxy);
    return { tunnels, ...(await world(answers, hello, { proxy: `http://127.0.0.1:${port}`, environmentProxy: 'HTTP_PROXY' })) };
  }

  it('is told the checked address in guarded mode, and resolves nothing', async () => {
    const { http, tunnels } = await proxied(
      { 'site.example': [['93.184.216.34']], 'six.example': [['2606:4700::1111']] },
      (request, response) => response.end(`for ${request.headers.host}`),
    );
    expect(await get(http, 'http://site.example/')).toBe('for site.example');
    expect(await get(http, 'http://six.example:8080/')).toBe('for six.example:8080');
    expect(tunnels).toEqual(['93.184.216.34:80', '[2606:4700::1111]:8080']);
  });

  it('gets no guarded request that leads to a private address', async () => {
    const { http, tunnels } = await proxied({ 'site.example': [['10.0.0.1']] }, hello);
    expect(await codeOf(get(http, 'http://site.example/'))).toBe('host_refused');
    expect(await codeOf(get(http, 'http://127.0.0.1/'))).toBe('host_refused');
    expect(tunnels).toEqual([]);
  });

  it('that refuses the tunnel is an error without the address', async () => {
    const proxy = createServer();
    proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const port = await listen(proxy);
    const { http } = await world({ 'site.example': [['93.184.216.34']] }, hello, { proxy: `http://127.0.0.1:${port}` });
    const error = await get(http, 'http://site.example/').catch((caught: Error) => caught);
    expect(error).toMatchObject({ name: 'HttpError', code: 'network', value: 403 });
    expect(String(error)).not.toContain('93.184');
  });
});

import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import type { HttpClient, HttpRequest } from '../../../ports/http.ts';

const never = new AbortController().signal;
const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  closers.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(options: Parameters<typeof createHttpClient>[0]): HttpClient {
  const made = createHttpClient(options);
  closers.push(() => made.close());
  return made;
}

async function fetchText(from: HttpClient, url: string, more: Partial<HttpRequest> = {}): Promise<string> {
  const { body } = await from.request({ method: 'GET', url, headers: {}, ...more }, never);
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return text;
}

const echo = (): Server =>
  createServer((incoming, outgoing) => outgoing.end(`${incoming.method} ${incoming.headers.host} ${incoming.url}`));

describe('the HTTP client', () => {
  it('keeps its connection for the next request', async () => {
    let accepted = 0;
    const server = echo();
    server.on('connection', () => {
      accepted += 1;
    });
    const host = await listen(server);
    const http = client({ mode: 'operator', allowHosts: [host] });
    for (let turn = 0; turn < 5; turn += 1) await fetchText(http, `http://${host}/`);
    expect(accepted).toBe(1);
  });

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection'])('refuses to send the header %s for a caller', async (name) => {
    const http = client({ mode: 'operator', allowHosts: ['127.0.0.1:9'] });
    await expect(fetchText(http, 'http://127.0.0.1:9/', { headers: { [name]: 'x' } })).rejects.toMatchObject({
      code: 'invalid_request',
      value: name,
    });
  });

  it.each([
    ['a line break in a header', { headers: { a: 'b\r\nc: d' } }],
    ['a header name with a space', { headers: { 'a b': 'c' } }],
    ['a method that is none', { method: 'GE T' }],
    ['CONNECT', { method: 'CONNECT' }],
  ])('refuses %s', async (_name, more) => {
    const http = client({ mode: 'operator', allowHosts: ['127.0.0.1:9'] });
    await expect(fetchText(http, 'http://127.0.0.1:9/', more)).rejects.toMatchObject({ name: 'HttpError', code: 'invalid_request' });
  });

  it.each(['file:///etc/passwd', 'ftp://host/', '/path', 'http://user:secret@127.0.0.1:9/'])('refuses the URL %s', async (url) => {
    const http = client({ mode: 'operator', allowHosts: ['127.0.0.1:9'] });
    const error = await fetchText(http, url).catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'invalid_url' });
    expect(String(error)).not.toContain('secret');
  });

  it('refuses response headers beyond 64 KiB', async () => {
    const raw = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(80_000)}\r\n\r\n`);
    });
    const host = await listen(raw);
    await expect(fetchText(client({ mode: 'operator', allowHosts: [host] }), `http://${host}/`)).rejects.toMatchObject({
      name: 'HttpError',
    });
  });

  it.each(['localhost', 'http://x:1', 'x:', ':1', 'x:99999', 'a b:1', 'u@x:1'])('refuses %j as an allowed host', (entry) => {
    expect(() => createHttpClient({ mode: 'operator', allowHosts: [entry] })).toThrow(
      expect.objectContaining({ name: 'ConfigError', value: entry }),
    );
  });

  it('names a host with the port of its scheme', () => {
    expect(hostPort(new URL('https://API.example/v1'))).toBe('api.example:443');
    expect(hostPort(new URL('http://[::1]/'))).toBe('[::1]:80');
    expect(hostPort(new URL('http://x:8080'))).toBe('x:8080');
  });

  it('survives a connection that breaks while nobody reads', async () => {
    const server = createServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '10' });
      outgoing.write('part', () => setTimeout(() => outgoing.destroy(), 20));
    });
    const host = await listen(server);
    const http = client({ mode: 'operator', allowHosts: [host] });
    const response = await http.request({ method: 'GET', url: `http://${host}/`, headers: {} }, never);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const read = async (): Promise<void> => {
      for await (const _chunk of response.body);
    };
    await expect(read()).rejects.toMatchObject({ code: 'connection_reset' });
  });
});

describe('the operator mode', () => {
  it('reaches a configured private host and no other port of it', async () => {
    const host = await listen(echo());
    const http = client({ mode: 'operator', allowHosts: [host] });
    expect(await fetchText(http, `http://${host}/a?b=1`)).toBe(`GET ${host} /a?b=1`);
    await expect(fetchText(http, 'http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'host_refused' });
    await expect(fetchText(http, 'http://example.com/')).rejects.toMatchObject({ code: 'host_refused' });
  });

  it('asks a proxy for a plain URL, with its credentials', async () => {
    const proxy = createServer((incoming, outgoing) =>
      outgoing.end(`${incoming.url} ${incoming.headers.host} ${incoming.headers['proxy-authorization']}`),
    );
    const host = await listen(proxy);
    const http = client({ mode: 'operator', allowHosts: ['model.example:80'], proxy: `http://me:pw@${host}` });
    const credentials = Buffer.from('me:pw').toString('base64');
    expect(await fetchText(http, 'http://model.example/v1')).toBe(`http://model.example/v1 model.example Basic ${credentials}`);
  });

  it('opens a tunnel through a proxy for https, and says when the proxy refuses it', async () => {
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (incoming, socket) => {
      asked.push(incoming.url ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    const host = await listen(proxy);
    const http = client({ mode: 'operator', allowHosts: ['model.example:443'], proxy: `http://${host}` });
    await expect(fetchText(http, 'https://model.example/v1')).rejects.toMatchObject({ code: 'network', value: 403 });
    expect(asked).toEqual(['model.example:443']);
  });

  it('speaks TLS through the tunnel and refuses what it cannot trust', async () => {
    const plain = await listen(createTcpServer((socket) => socket.on('error', () => undefined).end('this is not TLS')));
    const proxy = createServer();
    proxy.on('connect', (_incoming, socket) => {
      const target = connect(Number(plain.split(':')[1]), '127.0.0.1');
      target.on('error', () => undefined);
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    const host = await listen(proxy);
    const http = client({ mode: 'operator', allowHosts: ['model.example:443'], proxy: `http://${host}` });
    await expect(fetchText(http, 'https://model.example/v1')).rejects.toMatchObject({ name: 'HttpError', code: 'tls_failure' });
  });

  it('refuses a proxy that is not http', async () => {
    const http = client({ mode: 'operator', allowHosts: ['model.example:80'], proxy: 'socks5://127.0.0.1:1' });
    await expect(fetchText(http, 'http://model.example/')).rejects.toMatchObject({ name: 'ConfigError', code: 'invalid_proxy' });
  });
});

describe('the guarded mode', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://0.0.0.0/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
  ])('refuses %s without asking anybody', async (url) => {
    const resolve = async (): Promise<never> => {
      throw new Error('must not be asked');
    };
    await expect(fetchText(client({ mode: 'guarded', resolve }), url)).rejects.toMatchObject({ code: 'host_refused' });
  });

  it.each([[['127.0.0.1']], [['10.0.0.1']], [['93.184.216.34', '192.168.0.1']], [['::1']], [[]]])(
    'refuses a name that leads to %j',
    async (addresses) => {
      const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      const error = await fetchText(client({ mode: 'guarded', resolve }), 'http://name.example/').catch((caught: Error) => caught);
      expect(error).toMatchObject({ name: 'HttpError', code: 'host_refused' });
      for (const address of addresses) expect(String(error)).not.toContain(address);
    },
  );

  it('reaches an allowed private host by its name and port only', async () => {
    const host = await listen(echo());
    const port = host.split(':')[1];
    const http = client({ mode: 'guarded', allowHosts: [`localhost:${port}`], resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await fetchText(http, `http://localhost:${port}/`)).toContain('GET localhost');
    await expect(fetchText(http, `http://${host}/`)).rejects.toMatchObject({ code: 'host_refused' });
  });

  it('says that a name does not exist', async () => {
    const resolve = async (): Promise<never> => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    await expect(fetchText(client({ mode: 'guarded', resolve }), 'http://name.example/')).rejects.toMatchObject({ code: 'dns_failure' });
  });
});

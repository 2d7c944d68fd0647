import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { judgeCall } from '../../../core/approvals/judge.ts';
import web from '../../../plugins/web/index.ts';
import search from '../../../plugins/web/search.ts';
import type { HttpClient } from '../../../ports/http.ts';
import type { SearchEngine, ToolSpec } from '../../../ports/plugin.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';
import { callTool, client, serve, toolOf } from './fixture.ts';

/** A guarded client whose names all lead to `addresses`, and every connection that it opens: to nothing, so that none may happen. */
function watched(addresses: readonly string[] = ['127.0.0.1']): {
  readonly http: HttpClient;
  readonly dialled: string[];
  readonly resolved: string[];
} {
  const [dialled, resolved]: [string[], string[]] = [[], []];
  const http = client({
    mode: 'guarded',
    resolve: async (name) => {
      resolved.push(name);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    connect: ({ address }) => {
      dialled.push(address);
      throw Object.assign(new Error('nothing may be sent'), { code: 'ENOTSENT' });
    },
  });
  return { http, dialled, resolved };
}

/** Every way to write an address that is not a public one, and names that mean one. */
const INSIDE = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7f.0x0.0x0.0x1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
  ],
  ...[
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '10.0.0.1',
    '0xa.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '0300.0250.0.1',
  ],
  ...[
    '100.64.0.1',
    '169.254.0.1',
    '169.254.169.254',
    '0xA9FEA9FE',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
  ],
  ...['203.0.113.1', '192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:8.8.8.8]', '[::127.0.0.1]', '[::8.8.8.8]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::8.8.8.8]', '[64:ff9b:1::a00:1]', '[2002:7f00:1::]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
  ...['[fc00::1]', '[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]'],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'ⅼocalhost',
    'router',
    'metadata',
    'metadata.google.internal',
    'metadata.google.internal.',
  ],
  ...['printer.local', 'nas.lan', 'x.home.arpa'],
];
/** Names like any other, which lead inside once they are resolved. */
const LEADING_INSIDE = ['127.0.0.1.nip.io', 'localtest.example', 'bücher.example', 'evil.example.', 'EVIL.example'];
/** What is no address of a web page at all. */
const NO_PAGE = [
  ...[
    'file:///etc/passwd',
    'ftp://site.example/',
    'gopher://site.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//site.example/',
    'site.example',
  ],
  ...[
    'http://user@site.example/',
    'http://site.example@127.0.0.1/',
    'http://user:pw@127.0.0.1/',
    'http://[fe80::1%25eth0]/',
    'http://[::1',
    'http://',
  ],
  ...['http://256.1.1.1/', 'http://1.2.3.4.5/', 'http://0x100000000/', 'http://site.example:99999/', 'http://a b/'],
];

type Ask = (url: string) => object;
const TOOLS: readonly (readonly [string, Ask])[] = [
  ['http_request', (url) => ({ url })],
  ['http_request', (url) => ({ url, method: 'POST' })],
  ['browser', (url) => ({ action: 'navigate', url })],
];

describe.each(TOOLS)('%s', (name, ask) => {
  it.each(INSIDE)('sends nothing to %s, asks no resolver, and shows no other spelling of it as reached', async (host) => {
    for (const url of [`http://${host}/`, `https://${host}/`, `http://${host}:8080/latest`]) {
      const { http, dialled, resolved } = watched();
      const { spec } = await toolOf(web, { http }, name);
      const answer = await callTool(spec, ask(url));
      expect(answer).toMatchObject({ failed: true, value: { error: expect.stringContaining('is not a public address') } });
      expect([...dialled, ...resolved]).toEqual([]);
    }
  });

  it.each(LEADING_INSIDE)('sends nothing to %s, which leads inside, and does not tell where', async (host) => {
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '10.1.2.3'], ['2606:4700::1111', 'fd00::1']]) {
      const { http, dialled } = watched(addresses);
      const { spec } = await toolOf(web, { http }, name);
      const answer = await callTool(spec, ask(`http://${host}/`));
      expect(answer).toMatchObject({ failed: true, value: { error: expect.stringContaining('does not lead to public addresses only') } });
      for (const address of addresses.filter((each) => !host.includes(each))) expect(JSON.stringify(answer)).not.toContain(address);
      expect(dialled).toEqual([]);
    }
  });

  it.each(NO_PAGE)('sends nothing for %s', async (url) => {
    const { http, dialled, resolved } = watched();
    const { spec } = await toolOf(web, { http }, name);
    expect(await callTool(spec, ask(url))).toMatchObject({ failed: true, value: { error: expect.stringMatching(/URL/) } });
    expect([...dialled, ...resolved]).toEqual([]);
  });

  it.each(INSIDE)('with %s is judged system_write', async (host) => {
    const { spec } = await toolOf(web, { http: watched().http }, name);
    const policy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' } as const;
    const judgement = await judgeCall({ tool: spec, input: ask(`http://${host}/`), fs: createMemoryFileSystem(), policy });
    expect(judgement).toMatchObject({ class: 'system_write', action: 'prompt' });
  });
});

/** A site on loopback that the operator admitted, which sends every reader to `location`. */
async function redirecting(location: (host: string) => string, name: string, status = 302) {
  const { host, asked } = await serve((request, response) => {
    if (request.url === '/') response.writeHead(status, { location: location(host) }).end();
    else response.setHeader('content-type', 'text/html').end('arrived');
  });
  const { spec } = await toolOf(web, { http: client({ mode: 'guarded', allowHosts: [host] }) }, name);
  return { host, asked, spec };
}

describe.each(TOOLS)('a redirect that %s gets', (name, ask) => {
  it.each([
    ['to another port of the same machine', (host: string) => `http://${host.replace(/:.*/, '')}:1/`],
    ['to the cloud’s metadata', () => 'http://169.254.169.254/latest/'],
    ['to loopback in another spelling', (host: string) => `http://localhost:${host.split(':')[1]}/b`],
    ['to a public site', () => 'https://site.example/'],
    ['without a scheme to another host', () => '//10.0.0.1/'],
    ['to a file', () => 'file:///etc/passwd'],
    ['to data', () => 'data:text/html,x'],
    ['with a user name', (host: string) => `http://user@${host}/b`],
    ['to nothing that is a URL', () => 'http://['],
  ])('%s is not followed', async (_, location) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { host, asked, spec } = await redirecting(location, name, status);
      expect(await callTool(spec, ask(`http://${host}/`))).toMatchObject({ failed: true });
      expect(asked.map((each) => each.split(' ')[1])).toEqual(['/']);
    }
  });

  it('within the host is followed ten times and no more', async () => {
    let hops = 0;
    const { host, asked } = await serve((_, response) => {
      hops += 1;
      response.writeHead(302, { location: `/${hops}` }).end();
    });
    const { spec } = await toolOf(web, { http: client({ mode: 'guarded', allowHosts: [host] }) }, name);
    expect(await callTool(spec, ask(`http://${host}/`))).toMatchObject({ failed: true, value: { error: 'more than 10 redirects' } });
    expect(asked).toHaveLength(11);
  });

  it('from https to http is not followed', async () => {
    const sent: string[] = [];
    const http: HttpClient = {
      async request({ url }) {
        sent.push(url);
        return { status: 302, headers: { location: 'http://site.example/' }, body: (async function* () {})(), cancel: () => undefined };
      },
      close: async () => undefined,
    };
    const { spec } = await toolOf(web, { http }, name);
    expect(await callTool(spec, ask('https://site.example/'))).toMatchObject({ failed: true });
    expect(sent).toEqual(['https://site.example/']);
  });
});

describe('browser', () => {
  const page = async (html: (host: string) => string): Promise<{ spec: ToolSpec; host: string; asked: string[] }> => {
    const { host, asked } = await serve((request, response) => {
      response.setHeader('content-type', 'text/html').end(request.url === '/' ? html(host) : 'arrived');
    });
    const { spec } = await toolOf(web, { http: client({ mode: 'guarded', allowHosts: [host] }) }, 'browser');
    await callTool(spec, { action: 'navigate', url: `http://${host}/` });
    return { spec, host, asked };
  };

  it.each(['http://169.254.169.254/', 'http://localhost/', '//10.0.0.1/', 'http://127.0.0.1:1/'])('follows no link to %s', async (link) => {
    const { spec, asked } = await page(() => `<a href="${link}">x</a>`);
    expect(await callTool(spec, { action: 'click', ref: 'e1' })).toMatchObject({ failed: true });
    expect(asked).toEqual(['GET /']);
  });

  it('offers no link that is no web page', async () => {
    const { spec } = await page(
      () => '<a href="file:///etc/passwd">a</a><a href="javascript:x()">b</a><base href="file:///"><a href="etc/passwd">c</a>',
    );
    expect((await callTool(spec, { action: 'snapshot' })).value.elements).toEqual([]);
  });

  it('is not moved on by the page itself', async () => {
    const { asked, spec } = await page(
      (host) => `<meta http-equiv="refresh" content="0;url=http://${host}/b"><script>location="/b"</script><iframe src="/b"></iframe>`,
    );
    await callTool(spec, { action: 'snapshot' });
    expect(asked).toEqual(['GET /']);
  });

  it('runs its calls of one response in their order', async () => {
    expect((await page(() => 'x')).spec.ordered).toBe(true);
  });
});

describe('web_search', () => {
  it('follows no redirect of its engine', async () => {
    const { host, asked } = await serve((_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
    const searchEngine: SearchEngine = {
      ...{ baseUrl: `http://${host}`, categories: '', language: '', maxResults: 10, timeoutMs: 5000 },
      http: client({ mode: 'operator', allowHosts: [host] }),
    };
    const { spec } = await toolOf(search, { searchEngine }, 'web_search');
    expect(await callTool(spec, { query: 'http://127.0.0.1/' })).toMatchObject({ failed: true });
    expect(asked).toHaveLength(1);
  });
});

describe('a body', () => {
  it('that never ends is cut off at its bound, and one that trickles ends with its call', async () => {
    const { host } = await serve((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/slow') return void response.write('a');
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(256 * 1024, 'x'), more));
      more();
    });
    const { spec } = await toolOf(web, { http: client({ mode: 'guarded', allowHosts: [host] }) }, 'browser');
    expect(await callTool(spec, { action: 'navigate', url: `http://${host}/` })).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining('10485760 bytes') },
    });
    const slow = callTool(spec, { action: 'navigate', url: `http://${host}/slow` }, AbortSignal.timeout(300));
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' });
    expect([spec.timeoutMs, (await toolOf(web, { http: watched().http }, 'http_request')).spec.timeoutMs]).toEqual([30_000, 30_000]);
  });

  it('is not read by http_request, whatever its length', async () => {
    const closed = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('close', () => closed.resolve())
        .resume();
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nbegin');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { spec } = await toolOf(web, { http: client({ mode: 'guarded', allowHosts: [`127.0.0.1:${port}`] }) }, 'http_request');
    expect((await callTool(spec, { url: `http://127.0.0.1:${port}/` })).value).toMatchObject({ status: 200, content_length: 99_999_999 });
    await closed.promise;
    server.close();
  });
});

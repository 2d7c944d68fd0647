import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { onStage, PATIENT } from '../support/stage.ts';

/** A site on loopback, for as long as `work` takes, and what it was asked for. */
async function onSite(listener: RequestListener, work: (host: string, asked: readonly string[]) => Promise<void>): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const DONE = { text: 'done' };

describe.concurrent('the web', PATIENT, () => {
  it('is read where the operator admits the host, as untrusted text, and a change there is not made without approval', () =>
    onSite(
      (_, response) => response.setHeader('content-type', 'text/html').end('<p>hello page'),
      (host, asked) => {
        const url = `http://${host}/`;
        const calls = [
          { name: 'browser', arguments: { action: 'navigate', url } },
          { name: 'http_request', arguments: { url, method: 'DELETE' } },
        ];
        return onStage(
          [{ calls }, DONE],
          async ({ run, server }) => {
            expect((await run(['run', 'look'])).code).toBe(0);
            const [page, change] = server.requests[1]?.body.messages.slice(-2).map(({ content }: { content: string }) => content) ?? [];
            expect(page).toMatch(new RegExp(`<untrusted_content_[0-9a-f]+ source="${url}">[^]*hello page`));
            expect(change).toContain('denied');
            expect(asked).toEqual(['GET /']);
          },
          { config: { network: { allow_hosts: [host] }, dangerous: { non_interactive: 'deny', classes: { network_egress: 'allow' } } } },
        );
      },
    ));

  it('is not reached on a private address that the operator did not admit', () =>
    onSite(
      (_, response) => response.end('secret'),
      (host, asked) =>
        onStage(
          [{ calls: [{ name: 'http_request', arguments: { url: `http://${host}/` } }] }, DONE],
          async ({ run, server }) => {
            expect((await run(['run', 'look'])).code).toBe(0);
            expect(server.requests[1]?.body.messages.at(-1).content).toContain('is not a public address');
            expect(asked).toEqual([]);
          },
          { config: { dangerous: { classes: { network_egress: 'allow', system_write: 'allow' } } } },
        ),
    ));

  it.each(['HTTPS_PROXY', 'http_proxy', 'ALL_PROXY'])(
    'is not asked past a proxy that %s names, and the model itself is reached as ever',
    (variable) =>
      onSite(
        (_, response) => response.end('page'),
        (host, asked) => {
          const calls = [{ name: 'http_request', arguments: { url: `http://${host}/` } }];
          const config = { network: { allow_hosts: [host] }, dangerous: { classes: { network_egress: 'allow' } } };
          const env = { [variable]: 'http://127.0.0.1:9', NO_PROXY: '*' };
          return onStage(
            [{ calls }, DONE],
            async ({ run, server }) => {
              expect((await run(['run', 'look'], { env })).code).toBe(0);
              const result = server.requests[1]?.body.messages.at(-1).content;
              expect(result).toMatch(/<untrusted_content_[0-9a-f]+ source=/);
              expect(result).toContain(`the environment variable ${variable} names a proxy`);
              expect(result).toContain('network.proxy');
              expect(asked).toEqual([]);
            },
            { config },
          );
        },
      ),
  );

  it('is asked directly where the operator says that there is no proxy, whatever the environment names', () =>
    onSite(
      (_, response) => response.end('page'),
      (host, asked) => {
        const calls = [{ name: 'http_request', arguments: { url: `http://${host}/` } }];
        const config = { network: { allow_hosts: [host], proxy: 'none' }, dangerous: { classes: { network_egress: 'allow' } } };
        return onStage(
          [{ calls }, DONE],
          async ({ run }) => {
            await run(['run', 'look'], { env: { HTTP_PROXY: 'http://127.0.0.1:9' } });
            expect(asked).toEqual(['GET /']);
          },
          { config },
        );
      },
    ));

  it('is searched where a search engine is configured, and has no such tool elsewhere', () =>
    onSite(
      (_, response) => response.end(JSON.stringify({ results: [{ title: 'T', url: 'https://r.example/', content: 'C' }] })),
      async (host, asked) => {
        const script = [{ calls: [{ name: 'web_search', arguments: { query: 'odek' } }] }, DONE];
        const config = { web_search: { base_url: `http://${host}` }, dangerous: { classes: { network_egress: 'allow' } } };
        await onStage(
          script,
          async ({ run, server }) => {
            expect((await run(['run', 'search'])).code).toBe(0);
            expect(server.requests[1]?.body.messages.at(-1).content).toContain('source="web_search:odek"');
            expect(asked).toEqual(['GET /search?q=odek&format=json']);
          },
          { config },
        );
        await onStage([DONE], async ({ run, server }) => {
          await run(['run', 'search']);
          expect(JSON.stringify(server.requests[0]?.body.tools)).not.toContain('web_search');
        });
      },
    ));
});

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { attachCallServices, type CallServices, type CoreCallRequest } from '../../../core/agent/attached-services.ts';
import type { HostService, ToolCallParams } from '../../../ports/extension-host.ts';
import type { HttpClient, HttpRequest } from '../../../ports/http.ts';
import type { ToolExecution, ToolResult } from '../../../ports/plugin.ts';
import { type FakeContext, type FakePlugin, fakeTool } from './fake-host.ts';
import { bundle, createDeskHarness, type DeskHarness } from './harness.ts';

let harness: DeskHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const NO_SERVICES: CallServices = {
  call: async () => ({ outcome: 'completed', text: '{"a":1}' }),
  complete: async () => 'an answer',
};

type Asks = (
  ask: (service: HostService, operation: string, input: unknown) => Promise<unknown>,
  ctx: FakeContext,
  params: ToolCallParams,
) => Promise<unknown>;

/** A plugin with one tool that asks for services under its ticket, and gives the answer or the refusal as JSON. */
const asking =
  (work: Asks): FakePlugin =>
  async (ctx) => {
    await ctx.register(
      ...fakeTool('asking_tool', async (_input, params) => {
        const ask = (service: HostService, operation: string, input: unknown) =>
          ctx.ask({ method: 'service/call', params: { owner: ctx.owner, ticket: params.ticket ?? '', service, operation, input } });
        try {
          return JSON.stringify(await work(ask, ctx, params));
        } catch (error) {
          const { reason, refusal, message } = error as { reason?: string; refusal?: string; message: string };
          return JSON.stringify({ reason, refusal, message });
        }
      }),
    );
  };

interface Given {
  readonly services?: readonly string[];
  readonly hosts?: readonly string[];
  readonly roots?: readonly string[];
  readonly http?: HttpClient;
  readonly attached?: CallServices;
}

async function start(work: Asks, { services = [], hosts = [], roots = [], http }: Given = {}): Promise<DeskHarness> {
  const asker = bundle('asker', { services, hosts });
  const bundles = [{ ...asker, capabilities: { ...asker.capabilities, filesystemRoots: roots } }];
  harness = await createDeskHarness({ asker: asking(work) }, { bundles, ...(http && { http }) });
  return harness;
}

// biome-ignore lint/suspicious/noExplicitAny: what the plugin got is looked into.
async function run(it: DeskHarness, attached: CallServices | undefined = NO_SERVICES): Promise<any> {
  const exec: ToolExecution = { signal: new AbortController().signal, callId: 'c1', args: {}, workspace: it.workspace, dataDir: '/d' };
  if (attached !== undefined) attachCallServices(exec, attached);
  const result = (await it.registry.get('asking_tool')?.spec.execute({} as never, exec)) as ToolResult;
  return JSON.parse(result.content);
}

describe('host services', () => {
  it('are not granted without a review that said so', async () => {
    const it = await start((ask) => ask('files', 'read', { path: 'a.txt' }));
    expect(await run(it)).toMatchObject({ reason: 'refused', refusal: 'not_granted' });
  });

  it('are all granted or none: one that does not exist takes the others with it', async () => {
    const it = await start((ask) => ask('files', 'read', { path: 'a.txt' }), { services: ['files', 'settings'] });
    expect(await run(it)).toMatchObject({ refusal: 'not_granted' });
  });

  it('are for calls under the gate of a run alone', async () => {
    const it = await start((ask) => ask('files', 'read', { path: 'a.txt' }), { services: ['files'] });
    const exec: ToolExecution = { signal: new AbortController().signal, callId: 'c', args: {}, workspace: it.workspace, dataDir: '/d' };
    const result = (await it.registry.get('asking_tool')?.spec.execute({} as never, exec)) as ToolResult;
    expect(JSON.parse(result.content)).toMatchObject({ refusal: 'ticket_refused' });
  });

  it('files: reads and lists the workspace through the file guard, without secrets of odek', async () => {
    const it = await start(async (ask) => [await ask('files', 'read', { path: 'a.txt' }), await ask('files', 'list', { path: '.' })], {
      services: ['files'],
    });
    await writeFile(join(it.workspace, 'a.txt'), 'the key is s3cret');
    await writeFile(join(it.workspace, '.env'), 'KEY=1');
    const [file, listing] = await run(it);
    expect(file).toEqual({ content: 'the key is [hidden]', size: 17, truncated: false });
    expect(listing.entries.map(({ path }: { path: string }) => path)).toEqual(['a.txt']);
  });

  it.each(['/etc/passwd', '../outside.txt', '.env', 'link', '.state/odek.db'])('files: does not read %s', async (path) => {
    const it = await start((ask) => ask('files', 'read', { path }), { services: ['files'] });
    await mkdir(join(it.workspace, '.state'));
    await writeFile(join(it.workspace, '.state', 'odek.db'), 'x');
    await writeFile(join(it.workspace, '.env'), 'KEY=1');
    await symlink('/etc/passwd', join(it.workspace, 'link'));
    expect(await run(it)).toMatchObject({ reason: 'refused', refusal: 'path_refused' });
  });

  it('files: reads below the folders alone that the review named, and nothing outside of the workspace though it named it', async () => {
    const read = (ask: Parameters<Asks>[0], path: string): Promise<unknown> =>
      ask('files', 'read', { path }).then(
        () => 'read',
        ({ refusal }: { refusal: string }) => refusal,
      );
    const paths = ['docs/a.txt', 'b.txt', 'docs/../b.txt', 'docs-more/c.txt', 'docs/link', '/etc/hostname'];
    const it = await start(
      async (ask) => {
        const told: unknown[] = [];
        for (const path of paths) told.push(await read(ask, path));
        return told;
      },
      { services: ['files'], roots: ['docs', '/etc'] },
    );
    for (const folder of ['docs', 'docs-more']) await mkdir(join(it.workspace, folder));
    for (const path of ['docs/a.txt', 'b.txt', 'docs-more/c.txt']) await writeFile(join(it.workspace, path), 'x');
    await symlink(join(it.workspace, 'b.txt'), join(it.workspace, 'docs', 'link'));
    expect(await run(it)).toEqual(['read', ...Array.from({ length: 5 }, () => 'path_refused')]);
  });

  it('network: reaches reviewed hosts through the guarded client, and no other', async () => {
    const asked: HttpRequest[] = [];
    const http: HttpClient = {
      request: async (request) => {
        asked.push(request);
        return {
          status: 200,
          headers: { 'content-type': 'text/plain' },
          body: (async function* () {
            yield new TextEncoder().encode('pong');
          })(),
          cancel: () => {},
        };
      },
      close: async () => {},
    };
    const it = await start(
      async (ask) => [
        await ask('network', 'request', { url: 'https://api.example.org/ping' }),
        ...(await Promise.all(
          ['https://example.org/', 'https://api.example.org:8443/', 'file:///etc/passwd', 'https://user@api.example.org/'].map((url) =>
            ask('network', 'request', { url }).catch(({ refusal }: { refusal: string }) => refusal),
          ),
        )),
      ],
      { services: ['network'], hosts: ['api.example.org'], http },
    );
    expect(await run(it)).toEqual([
      { status: 200, headers: { 'content-type': 'text/plain' }, text: 'pong', truncated: false },
      'host_refused',
      'host_refused',
      'invalid_input',
      'invalid_input',
    ]);
    expect(asked).toHaveLength(1);
  });

  it('model: gives one completion', async () => {
    const it = await start((ask) => ask('model', 'complete', { prompt: 'hi', max_tokens: 10 }), { services: ['model'] });
    expect(await run(it)).toEqual({ text: 'an answer' });
  });

  it('stop at 50 calls of one kind in one call', async () => {
    const it = await start(
      async (ask) => {
        const refusals: unknown[] = [];
        for (let n = 0; n < 52; n += 1)
          await ask('model', 'complete', { prompt: 'hi' }).catch(({ refusal }: { refusal: string }) => refusals.push(refusal));
        return refusals;
      },
      { services: ['model'] },
    );
    expect(await run(it)).toEqual(['limit', 'limit']);
  });

  it('are withdrawn while they work when somebody turns the plugin off, within 50 ms and the answer withheld', async () => {
    let took = Number.NaN;
    const it = await start(
      async (ask) => {
        const startedAt = performance.now();
        setTimeout(() => harness?.set([]), 20);
        try {
          return await ask('model', 'complete', { prompt: 'slow' });
        } finally {
          took = performance.now() - startedAt - 20;
        }
      },
      { services: ['model'] },
    );
    const slow: CallServices = { ...NO_SERVICES, complete: () => new Promise((resolve) => setTimeout(() => resolve('too late'), 2000)) };
    await expect(run(it, slow)).rejects.toThrow(/ended while its tool ran/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    // 50 ms on a quiet machine; a busy one may take longer, and the answer is withheld all the same.
    expect(took).toBeLessThan(1000);
  });

  it('are not given from the moment that the state on disk is another one', async () => {
    const it = await start(
      async (ask) => {
        harness?.set([bundle('asker', { services: ['model'] })]);
        return ask('model', 'complete', { prompt: 'hi' }).catch(({ refusal }: { refusal: string }) => refusal);
      },
      { services: ['model'] },
    );
    expect(await run(it)).toBe('not_granted');
  });
});

describe('tickets', () => {
  const core = (ctx: FakeContext, ticket: string, name = 'read_file') =>
    ctx.ask({ method: 'core/call', params: { owner: ctx.owner, ticket, name, input: {} } });

  it('let a running call ask core, in the name that core knows', async () => {
    const seen: CoreCallRequest[] = [];
    const it = await start((_ask, ctx, { ticket = '' }) => core(ctx, ticket));
    const services: CallServices = {
      ...NO_SERVICES,
      call: async (request) => {
        seen.push(request);
        return { outcome: 'completed', text: '{"a":1}' };
      },
    };
    expect(await run(it, services)).toEqual({ content: '{"a":1}', isError: false, structured: { a: 1 } });
    expect(seen[0]).toMatchObject({ name: 'read_file', caller: { plugin: 'extension:asker', tool: 'asking_tool' } });
    expect(seen[0]?.caller.build).toContain('a'.repeat(64));
  });

  it('are worth nothing after their call, and that alone harms nobody', async () => {
    let kept = '';
    let context: FakeContext | undefined;
    const it = await start(async (_ask, ctx, { ticket = '' }) => {
      kept = ticket;
      context = ctx;
      return null;
    });
    await run(it);
    for (let n = 0; n < 20; n += 1) await expect(core(context as FakeContext, kept)).rejects.toMatchObject({ refusal: 'ticket_refused' });
    expect(it.launcher.processes[0]?.isClosed).toBe(false);
  });

  it('that were never given, eight in a minute, end the process', async () => {
    let context: FakeContext | undefined;
    const it = await start(async (_ask, ctx) => {
      context = ctx;
      return null;
    });
    await run(it);
    for (let n = 0; n < 8; n += 1) await core(context as FakeContext, `forged-${n}`).catch(() => {});
    expect(it.launcher.processes[0]?.isClosed).toBe(true);
    expect(it.logged.join('\n')).toContain('tickets that it was never given');
  });

  it('allow four calls of core at once', async () => {
    const it = await start(async (_ask, ctx, { ticket = '' }) => {
      const all = await Promise.allSettled(Array.from({ length: 6 }, () => core(ctx, ticket)));
      return all.map((each) => (each.status === 'fulfilled' ? 'done' : (each.reason as { refusal: string }).refusal));
    });
    const slow: CallServices = {
      ...NO_SERVICES,
      call: () => new Promise((resolve) => setTimeout(() => resolve({ outcome: 'completed', text: '' }), 50)),
    };
    expect(await run(it, slow)).toEqual(['done', 'done', 'done', 'done', 'limit', 'limit']);
  });

  it.each([
    ['denied', 'denied'],
    ['refused', 'refused'],
    ['cancelled', 'cancelled'],
    ['skipped_budget', 'unavailable'],
  ] as const)('bring the outcome %s back as the reason %s', async (outcome, reason) => {
    const it = await start((_ask, ctx, { ticket = '' }) => core(ctx, ticket));
    expect(await run(it, { ...NO_SERVICES, call: async () => ({ outcome, text: 'why' }) })).toMatchObject({ reason, message: 'why' });
  });
});

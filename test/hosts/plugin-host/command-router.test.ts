import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import { type CommandRouter, createCommandRouter } from '../../../hosts/plugin-host/command-router.ts';
import type { CommandAnswer } from '../../../ports/extension-host.ts';
import { fakeCommand } from './fake-host.ts';
import { createDeskHarness, type DeskHarness } from './harness.ts';

let folder: string;
let store: Store;
let harness: DeskHarness;
let router: CommandRouter;
let server: Server;
let base: string;
let runs: string[];
let answer: (args: string, signal: AbortSignal) => Promise<CommandAnswer> | CommandAnswer;
let turns: { admitted: Map<string, string>; cancelled: string[] };

function openRouter(): CommandRouter {
  return createCommandRouter({
    commands: harness.desk.commands,
    receipts: store.commandReceipts,
    hash: createSha256(),
    findThread: async (id) => (id === 't1' ? { workspace: '/work' } : undefined),
    turns: {
      admit: async (_thread, { operationKey }) => {
        turns.admitted.set(operationKey, `turn-${operationKey}`);
        return `turn-${operationKey}`;
      },
      find: async (_thread, operationKey) => turns.admitted.get(operationKey),
      cancel: async (_thread, turn) => void turns.cancelled.push(turn),
    },
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-router-'));
  store = await openStore({
    path: join(folder, 'odek.db'),
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
    surface: 'test',
  });
  runs = [];
  turns = { admitted: new Map(), cancelled: [] };
  answer = (args) => ({ kind: 'success', text: `Hello, ${args}!` });
  harness = await createDeskHarness({
    hello: async (ctx) =>
      void (await ctx.register(
        ...fakeCommand('hello-greet', ({ raw_input }: { raw_input: string }, signal) => {
          runs.push(raw_input.trim());
          return answer(raw_input.trim(), signal);
        }),
      )),
  });
  router = openRouter();
  server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const response = await router.handle(new Request(`${base}${incoming.url}`, { method: incoming.method ?? 'GET', ...body }));
    outgoing.writeHead(response?.status ?? 404, Object.fromEntries(response?.headers ?? []));
    outgoing.end(response === undefined ? '' : await response.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await router.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await harness.close();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: what the server says is looked into.
async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: any }> {
  const response = await fetch(`${base}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() };
}

async function registration(): Promise<string> {
  return (await ask('GET', '/v1/commands?thread_id=t1')).body.commands[0].registration_id;
}

async function request(more: object = {}): Promise<object> {
  return {
    name: 'hello-greet',
    args: 'Ada',
    registration_id: await registration(),
    operation_key: 'k1',
    expected_workspace: '/work',
    ...more,
  };
}

const submit = async (more: object = {}) => ask('POST', '/v1/threads/t1/commands', await request(more));

describe('the list of commands', () => {
  it('has an opaque registration where a thread is named, and none where not', async () => {
    const named = await ask('GET', '/v1/commands?thread_id=t1');
    expect(named.body.commands).toMatchObject([
      { name: 'hello-greet', kind: 'extension', binding: 'extension', origin: 'extension:hello' },
    ]);
    expect(named.body.commands[0].registration_id).toMatch(/./);
    expect((await ask('GET', '/v1/commands')).body.commands[0]).not.toHaveProperty('registration_id');
    expect((await ask('GET', '/v1/commands?thread_id=other')).status).toBe(404);
  });
});

describe('a command', () => {
  it('runs once for its key, and a repetition gets what is stored', async () => {
    expect(await submit()).toMatchObject({ status: 200, body: { state: 'success', text: 'Hello, Ada!', origin: 'extension:hello' } });
    expect(await submit()).toMatchObject({ status: 200, body: { state: 'success', text: 'Hello, Ada!' } });
    expect(runs).toEqual(['Ada']);
  });

  it('asked for twice at the same time runs once', async () => {
    const body = await request();
    const both = await Promise.all([ask('POST', '/v1/threads/t1/commands', body), ask('POST', '/v1/threads/t1/commands', body)]);
    expect(runs).toEqual(['Ada']);
    expect(both.every(({ status }) => status === 200 || status === 202)).toBe(true);
  });

  it('under the key of another request is refused', async () => {
    await submit();
    expect(await submit({ args: 'Bob' })).toMatchObject({ status: 409, body: { error: { code: 'operation_key_used' } } });
    expect(runs).toEqual(['Ada']);
  });

  it.each([
    [{ registration_id: 'old' }, 409, 'registration_stale'],
    [{ expected_workspace: '/elsewhere' }, 409, 'workspace_changed'],
    [{ name: 'nothing' }, 404, 'command_not_found'],
    [{ operation_key: 'a b' }, 400, 'invalid_request'],
    [{ more: 'x' }, 400, 'invalid_request'],
    [{ args: 7 }, 400, 'invalid_request'],
  ])('with %j is refused and leaves nothing', async (more, status, code) => {
    expect(await submit(more)).toMatchObject({ status, body: { error: { code } } });
    expect(runs).toEqual([]);
    expect((await ask('GET', '/v1/threads/t1/commands/k1')).status).toBe(404);
  });

  it('that submits a prompt begins an attributed turn, once', async () => {
    answer = () => ({ kind: 'submit', text: 'asking', prompt: 'Say hello.' });
    expect(await submit()).toMatchObject({ body: { state: 'submitted', turn_id: 'turn-k1' } });
    expect(await submit()).toMatchObject({ body: { state: 'submitted', turn_id: 'turn-k1' } });
    expect([...turns.admitted]).toEqual([['k1', 'turn-k1']]);
    expect((await ask('DELETE', '/v1/threads/t1/commands/k1')).body.state).toBe('submitted');
    expect(turns.cancelled).toEqual(['turn-k1']);
  });

  it('is cancelled while it runs, and stays so', async () => {
    answer = (_args, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    const pending = submit();
    while (runs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await ask('GET', '/v1/threads/t1/commands/k1')).body.state).toBe('running');
    expect((await ask('DELETE', '/v1/threads/t1/commands/k1')).body.state).toBe('cancelled');
    expect((await pending).body.state).toBe('cancelled');
  });

  it('that was cancelled before it came is never run', async () => {
    expect((await ask('DELETE', '/v1/threads/t1/commands/k1')).body.state).toBe('cancelled');
    expect(await submit()).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect(runs).toEqual([]);
  });

  it('whose plugin host dies is uncertain and never run again', async () => {
    answer = () => {
      harness.launcher.processes[0]?.crash();
      return new Promise(() => {});
    };
    expect(await submit()).toMatchObject({ body: { state: 'uncertain' } });
    expect((await ask('GET', '/v1/threads/t1/commands/k1')).body.state).toBe('uncertain');
    expect(runs).toHaveLength(1);
  });

  it('in a body that is too long, or is no JSON, is refused', async () => {
    expect((await ask('POST', '/v1/threads/t1/commands', { args: 'x'.repeat(300_000) })).status).toBe(413);
    const response = await fetch(`${base}/v1/threads/t1/commands`, { method: 'POST', body: '{' });
    expect(response.status).toBe(400);
    expect((await ask('PUT', '/v1/threads/t1/commands/k1', {})).status).toBe(405);
  });

  it('that ended without a turn is among the recent ones', async () => {
    await submit();
    expect(await store.commandReceipts.recent('t1')).toMatchObject([{ operationKey: 'k1', state: 'success', text: 'Hello, Ada!' }]);
  });
});

describe('a command whose odek is gone', () => {
  it('is settled as uncertain when somebody looks, or as the turn that it had begun', async () => {
    for (const key of ['lost', 'begun']) {
      await store.commandReceipts.begin({
        thread: 't1',
        operationKey: key,
        requestHash: 'x',
        name: 'hello-greet',
        origin: 'extension:hello',
      });
    }
    await store.close();
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const raw = new DatabaseSync(join(folder, 'odek.db'));
    raw.exec("UPDATE command_receipts SET owner_pid = 999999999, owner_start = ''");
    raw.close();
    store = await openStore({
      path: join(folder, 'odek.db'),
      durability: 'process',
      clock: createSystemClock(),
      ids: createRandomIds(),
      surface: 'test',
    });
    turns.admitted.set('begun', 'turn-7');
    router = openRouter();
    expect((await ask('GET', '/v1/threads/t1/commands/lost')).body).toMatchObject({ state: 'uncertain' });
    expect((await ask('GET', '/v1/threads/t1/commands/begun')).body).toMatchObject({ state: 'submitted', turn_id: 'turn-7' });
    expect(runs).toEqual([]);
  });
});

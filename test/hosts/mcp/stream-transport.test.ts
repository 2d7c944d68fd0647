import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { serverFactory } from '../../../hosts/mcp/server.ts';
import { serveStreams } from '../../../hosts/mcp/stdio.ts';
import { type FakeServed, fakeServed } from './served.ts';

interface Wire {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly tools: FakeServed;
  readonly ended: Promise<void>;
  readonly messages: Record<string, unknown>[];
  send(...messages: (object | string)[]): void;
  answer(id: unknown): Promise<Record<string, unknown>>;
  until(check: () => boolean): Promise<void>;
}

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function connect(options: { maxRequestBytes?: number; output?: PassThrough } = {}): Wire {
  const input = new PassThrough();
  const output = options.output ?? new PassThrough();
  const tools = fakeServed({
    echo: (given) => JSON.stringify(given),
    hold: () => '',
    panic: () => {
      throw new TypeError('secret value');
    },
  });
  const stop = new AbortController();
  stops.push(() => stop.abort());
  const ended = serveStreams(serverFactory(tools), {
    input,
    output,
    signal: stop.signal,
    ...(options.maxRequestBytes !== undefined && { maxRequestBytes: options.maxRequestBytes }),
  });
  const messages: Record<string, unknown>[] = [];
  let rest = '';
  if (options.output === undefined) {
    output.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) messages.push(JSON.parse(line));
    });
  }
  const until = async (check: () => boolean): Promise<void> => {
    for (let turn = 0; !check(); turn += 1) {
      if (turn > 1000) throw new Error(`in vain; seen: ${JSON.stringify(messages)}`);
      await delay(5);
    }
  };
  return {
    input,
    output,
    tools,
    ended,
    messages,
    until,
    send: (...parts) => {
      for (const part of parts) input.write(typeof part === 'string' ? part : `${JSON.stringify({ jsonrpc: '2.0', ...part })}\n`);
    },
    answer: async (id) => {
      await until(() => messages.some((message) => message.id === id));
      return messages.find((message) => message.id === id) as Record<string, unknown>;
    },
  };
}

const initialize = (protocolVersion: string, id: number | string = 'init') => ({
  id,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

const callEcho = (id: number, meta?: object) => ({
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { a: 1 }, ...(meta && { _meta: meta }) },
});

describe('a connection over two streams', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('agrees on %s with a client that asks for it', async (version) => {
    const wire = connect();
    wire.send(initialize(version));
    expect((await wire.answer('init')).result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'odek' } });
    wire.send(callEcho(1));
    expect((await wire.answer(1)).result).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] });
  });

  it('offers a client with an unknown version the newest that has a handshake', async () => {
    const wire = connect();
    wire.send(initialize('1999-01-01'));
    expect((await wire.answer('init')).result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it('serves 2026-07-28 by itself: discovery, then calls that carry version and capabilities', async () => {
    const wire = connect();
    wire.send({ id: 1, method: 'server/discover', params: { _meta: META } }, callEcho(2, META));
    expect((await wire.answer(1)).result).toMatchObject({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    expect((await wire.answer(2)).result).toMatchObject({ content: [{ type: 'text', text: '{"a":1}' }] });
  });

  it('refuses a call of 2026-07-28 that does not say what the client can do', async () => {
    const wire = connect();
    wire.send(callEcho(1, { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }));
    expect((await wire.answer(1)).error).toMatchObject({ code: -32_602 });
  });

  it('accepts calls without metadata only after initialize succeeded; ping is answered at any time', async () => {
    const wire = connect();
    wire.send(callEcho(1), { id: 2, method: 'ping' }, { id: 3, method: 'initialize', params: {} }, callEcho(4));
    expect((await wire.answer(1)).error).toMatchObject({ code: -32_600 });
    expect((await wire.answer(2)).result).toEqual({});
    expect((await wire.answer(3)).error).toBeDefined();
    expect((await wire.answer(4)).error).toMatchObject({ code: -32_600 });
    wire.send(initialize('2025-03-26'), callEcho(5));
    expect((await wire.answer(5)).result).toMatchObject({ content: [{ type: 'text' }] });
  });

  it('has empty lists of resources and prompts, and knows no other tools than it lists', async () => {
    const wire = connect();
    wire.send(
      initialize('2025-11-25'),
      { id: 1, method: 'resources/list' },
      { id: 2, method: 'resources/templates/list' },
      { id: 3, method: 'prompts/list' },
      { id: 4, method: 'tools/call', params: { name: 'memory', arguments: {} } },
      { id: 5, method: 'resources/read', params: { uri: 'test://x' } },
      { id: 6, method: 'prompts/get', params: { name: 'x' } },
      { id: 7, method: 'no/such' },
      { id: 8, method: 'tools/list', params: { cursor: 'x' } },
    );
    expect((await wire.answer(1)).result).toEqual({ resources: [] });
    expect((await wire.answer(2)).result).toEqual({ resourceTemplates: [] });
    expect((await wire.answer(3)).result).toEqual({ prompts: [] });
    expect((await wire.answer(4)).error).toMatchObject({ code: -32_602, message: 'unknown tool "memory"' });
    expect((await wire.answer(5)).error).toMatchObject({ code: -32_602 });
    expect((await wire.answer(6)).error).toMatchObject({ code: -32_602 });
    expect((await wire.answer(7)).error).toMatchObject({ code: -32_601 });
    expect((await wire.answer(8)).error).toMatchObject({ code: -32_602 });
  });

  it('answers what is no message with an error, under its id where it has one, and goes on', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'));
    await wire.answer('init');
    wire.send(
      'not json\n',
      '\r\n',
      '[]\n',
      '"text"\n',
      { id: 1, jsonrpc: '1.0', method: 'ping' },
      { id: 2 },
      { id: 3, method: 4 },
      {
        id: 5,
        method: 'ping',
        params: [],
      },
    );
    wire.input.write(Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00, 0x0a]));
    wire.send(callEcho(9));
    await wire.answer(9);
    const errors = wire.messages.flatMap(({ id, error }) => (error ? [[id, (error as { code: number }).code]] : []));
    expect(errors).toEqual([
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
      [1, -32_600],
      [2, -32_600],
      [3, -32_600],
      [5, -32_600],
      [null, -32_700],
    ]);
  });

  it('refuses a request over the limit without holding it, and serves the next', async () => {
    const wire = connect({ maxRequestBytes: 2_000 });
    wire.send(initialize('2025-11-25'));
    await wire.answer('init');
    wire.send({ id: 1, method: 'ping', params: { filler: 'x'.repeat(5_000) } }, callEcho(2));
    await wire.answer(2);
    expect(wire.messages.find(({ id }) => id === null)?.error).toMatchObject({ code: -32_600, message: expect.stringContaining('2000') });
  });

  it('answers a batch of the versions that have them with one list, once all of it is answered', async () => {
    const wire = connect();
    const lists: unknown[][] = [];
    wire.send(initialize('2025-03-26'));
    await wire.answer('init');
    const part = (message: object): object => ({ jsonrpc: '2.0', ...message });
    const batch = [
      part(callEcho(1)),
      part({ method: 'notifications/unknown' }),
      part({ id: 2, method: 'tools/call', params: { name: 'hold' } }),
      part({ id: 1, method: 'ping' }),
      { no: 'message' },
    ];
    wire.send(`${JSON.stringify(batch)}\n`, { id: 9, method: 'ping' });
    await wire.answer(9);
    expect(wire.messages.filter((message) => Array.isArray(message))).toEqual([]);
    wire.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await wire.until(() => wire.messages.some((message) => Array.isArray(message)));
    lists.push(...(wire.messages.filter((message) => Array.isArray(message)) as unknown as unknown[][]));
    const answers = (lists[0] ?? []) as { id: unknown; result?: unknown; error?: { code: number } }[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32_600],
      [null, -32_600],
      [1, undefined],
    ]);
    wire.send('[]\n', `${JSON.stringify(Array.from({ length: 101 }, (_, id) => part({ id, method: 'ping' })))}\n`, {
      id: 10,
      method: 'ping',
    });
    await wire.answer(10);
    expect(wire.messages.filter(({ id }) => id === null)).toHaveLength(2);

    const later = connect();
    later.send(initialize('2025-11-25'));
    await later.answer('init');
    later.send(`${JSON.stringify([part(callEcho(1))])}\n`);
    expect((await later.answer(null)).error).toMatchObject({ code: -32_600, message: expect.stringContaining('no batches') });
  });

  it('refuses a second request with the id of one that is under way', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'), { id: 1, method: 'tools/call', params: { name: 'hold' } }, { id: 1, method: 'ping' });
    expect((await wire.answer(1)).error).toMatchObject({ code: -32_600 });
  });

  it('says of a handler that breaks down that it did, and nothing of why', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'), { id: 1, method: 'tools/call', params: { name: 'panic' } });
    expect((await wire.answer(1)).result).toEqual({ content: [{ type: 'text', text: 'tool handler panicked' }], isError: true });
  });

  it('cancels a call when the client says so, and sends no answer for it', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'), { id: 1, method: 'tools/call', params: { name: 'hold' } });
    await wire.until(() => wire.tools.signals.length === 1);
    wire.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } }, { id: 2, method: 'ping' });
    await wire.until(() => wire.tools.signals[0]?.aborted === true);
    await wire.answer(2);
    expect(wire.messages.some(({ id }) => id === 1)).toBe(false);
  });

  it('tells its client when the tools change, in both eras', async () => {
    const old = connect();
    old.send(initialize('2025-11-25'));
    await old.answer('init');
    old.tools.add('more');
    await old.until(() => old.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
    old.send({ id: 1, method: 'tools/list' });
    expect(JSON.stringify((await old.answer(1)).result)).toContain('"more"');

    const current = connect();
    current.send({ id: 1, method: 'tools/list', params: { _meta: META } });
    await current.answer(1);
    current.send({ id: 's', method: 'subscriptions/listen', params: { _meta: META, notifications: { toolsListChanged: true } } });
    await current.until(() => current.messages.some(({ method }) => method === 'notifications/subscriptions/acknowledged'));
    current.tools.add('more');
    await current.until(() => current.messages.some(({ method }) => method === 'notifications/tools/list_changed'));
  });

  it('ends when the input ends, once what is under way was answered, and cancels what is not in time', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'), callEcho(1));
    wire.input.end();
    await wire.ended;
    expect((await wire.answer(1)).result).toBeDefined();

    const slow = connect();
    slow.send(initialize('2025-11-25'), { id: 1, method: 'tools/call', params: { name: 'hold' } });
    await slow.until(() => slow.tools.signals.length === 1);
    slow.input.end();
    await slow.ended;
    expect(slow.tools.signals[0]?.aborted).toBe(true);
  });

  it('ends when its reader is gone, and cancels what is under way', async () => {
    const wire = connect();
    wire.send(initialize('2025-11-25'), { id: 1, method: 'tools/call', params: { name: 'hold' } });
    await wire.until(() => wire.tools.signals.length === 1);
    wire.output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await wire.ended;
    expect(wire.tools.signals[0]?.aborted).toBe(true);
  });

  it('stops reading while nobody reads what it writes, and goes on once somebody does', async () => {
    const output = new PassThrough({ highWaterMark: 200 });
    const wire = connect({ output });
    wire.send(initialize('2025-11-25'));
    for (let id = 1; id <= 2_000; id += 1) wire.send({ id, method: 'ping' });
    await delay(100);
    expect(wire.input.isPaused()).toBe(true);
    expect(output.writableLength).toBeLessThan(100_000);
    const seen = new Set<unknown>();
    output.setEncoding('utf8').on('data', (text: string) => {
      for (const [, id] of text.matchAll(/"id":(\d+)/g)) seen.add(id);
    });
    await wire.until(() => seen.size >= 2_000);
  });
});

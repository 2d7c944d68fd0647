import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Channel, type ChannelOptions, createChannel, RpcFault } from '../../../adapters/extension-host/channel.ts';
import { encodeFrame } from '../../../adapters/extension-host/frames.ts';
import { CANCEL_METHOD, MAX_IN_FLIGHT, METHODS, RPC, type Side } from '../../../adapters/extension-host/protocol.ts';
import { until } from './stage.ts';

interface Valid {
  readonly from: Side;
  readonly method: string;
  readonly params: unknown;
  readonly result?: unknown;
}

const text = readFileSync(new URL('corpus.json', import.meta.url), 'utf8');
const raw = JSON.parse(text) as { readonly owner: unknown };
const corpus = JSON.parse(text.replaceAll('"$owner"', JSON.stringify(raw.owner))) as {
  readonly valid: readonly Valid[];
  readonly violations: readonly { readonly why: string; readonly message: unknown }[];
};

/** Two ends of one stream. */
function pipes(): readonly [Duplex, Duplex] {
  const ends: Duplex[] = [0, 1].map(
    (side) =>
      new Duplex({
        read() {},
        write(chunk, _, done) {
          ends[1 - side]?.push(chunk);
          done();
        },
      }),
  );
  return ends as [Duplex, Duplex];
}

interface Pair {
  readonly core: Channel;
  readonly host: Channel;
  readonly violations: Record<Side, string[]>;
  readonly notices: { readonly method: string; readonly params: unknown }[];
  /** What `side` would get if the other one were somebody else. */
  push(side: Side, message: unknown): void;
}

function pair(answer: ChannelOptions['answer'] = async () => ({})): Pair {
  const [one, other] = pipes();
  const violations: Pair['violations'] = { core: [], host: [] };
  const notices: { method: string; params: unknown }[] = [];
  const open = (side: Side, stream: Duplex) =>
    createChannel({
      side,
      stream,
      answer,
      notice: (method, params) => notices.push({ method, params }),
      violated: (reason) => violations[side].push(reason),
    });
  const streams = { core: one, host: other };
  const core = open('core', one);
  const host = open('host', other);
  return {
    core,
    host,
    violations,
    notices,
    push: (side, message) => streams[side].emit('data', Buffer.concat(encodeFrame(message) ?? [])),
  };
}

const REGISTER = corpus.valid.find((each) => each.method === 'registry/unregister') as Valid;
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('the table of methods', () => {
  test('is covered by the corpus', () => {
    expect([...new Set(corpus.valid.map((each) => each.method))].sort()).toEqual(Object.keys(METHODS).sort());
  });

  test('cannot express an approval', () => {
    const source = readFileSync(new URL('../../../adapters/extension-host/protocol.ts', import.meta.url), 'utf8').replace(
      /\/\*[\s\S]*?\*\/|\/\/.*/g,
      '',
    );
    const names = [...source.matchAll(/'([^']+)'|(\w+):/g)].map((match) => match[1] ?? match[2] ?? '');
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => /approv|permit|allow|grant|consent|trust|confirm/i.test(name))).toEqual([]);
  });

  test('lets a host say nothing that core may say, and core nothing that a host may say', () => {
    for (const [name, { from }] of Object.entries(METHODS)) {
      const valid = corpus.valid.find((each) => each.method === name);
      expect(valid?.from).toBe(from);
      const { violations, push } = pair();
      const message = { jsonrpc: '2.0', ...(METHODS[name]?.result !== undefined && { id: 1 }), method: name, params: valid?.params };
      push(from, message);
      expect(violations[from], name).toHaveLength(1);
    }
  });
});

describe('a channel', () => {
  test.each(corpus.valid)('carries $method of $from unchanged', async ({ from, method, params, result }) => {
    const seen: unknown[] = [];
    const both = pair(async (name, own) => {
      seen.push({ method: name, params: own });
      return result;
    });
    if (result === undefined) both[from].notify(method, params);
    else expect(await both[from].request(method, params)).toEqual(result);
    await turn();
    expect([...seen, ...both.notices]).toEqual([{ method, params }]);
    expect(both.violations).toEqual({ core: [], host: [] });
  });

  test.each(corpus.violations)('of core ends at $why', async ({ message }) => {
    const { core, violations, push } = pair();
    push('core', message);
    expect(violations.core).toHaveLength(1);
    push('core', message);
    expect(violations.core).toHaveLength(1);
    await expect(core.request('host/ping', {})).rejects.toBeInstanceOf(RpcFault);
  });

  test('of core takes no result that its method does not have', async () => {
    const { core, violations } = pair(async () => ({ content: 'x', failed: false, approved: true }));
    const { params } = corpus.valid.find((each) => each.method === 'tool/call') as Valid;
    await expect(core.request('tool/call', params)).rejects.toThrow(/approved/);
    expect(violations.core).toEqual(['the result has an unknown member "approved"']);
  });

  test('lets core gain members that a host does not know', async () => {
    const { core, violations } = pair();
    const { params } = corpus.valid.find((each) => each.method === 'ext/deactivate') as Valid;
    await core.request('ext/deactivate', { ...(params as object), reason: 'later' }).catch(() => {});
    expect(violations.host).toEqual([]);
  });

  test('ends at an id that is in use', () => {
    const { violations, push } = pair(() => new Promise(() => {}));
    const request = { jsonrpc: '2.0', id: 5, method: REGISTER.method, params: REGISTER.params };
    push('core', request);
    expect(violations.core).toEqual([]);
    push('core', request);
    expect(violations.core).toEqual(['the id 5 is in use']);
  });

  test('answers 256 requests at once, and ends at the next; a ping has a place of its own', () => {
    const { violations, push } = pair(() => new Promise(() => {}));
    for (let id = 1; id <= MAX_IN_FLIGHT; id += 1) push('core', { jsonrpc: '2.0', id, method: REGISTER.method, params: REGISTER.params });
    expect(violations.core).toEqual([]);
    push('core', { jsonrpc: '2.0', id: 1_000, method: REGISTER.method, params: REGISTER.params });
    expect(violations.core).toEqual(['more than 256 requests wait']);
    const other = pair(() => new Promise(() => {}));
    for (let id = 1; id <= MAX_IN_FLIGHT; id += 1) other.push('host', { jsonrpc: '2.0', id, method: 'host/shutdown', params: {} });
    other.push('host', { jsonrpc: '2.0', id: 1_000, method: 'host/ping', params: {} });
    expect(other.violations.host).toEqual([]);
  });

  test('of core ends at a flood of requests, also when each is answered', async () => {
    const { violations, push } = pair();
    for (let id = 1; id <= 3_000 && violations.core.length === 0; id += 1) {
      push('core', { jsonrpc: '2.0', id, method: REGISTER.method, params: REGISTER.params });
      if (id % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(violations.core).toEqual(['more than 2000 requests came within a second']);
  });

  test('of core ends when what it answers is not read', async () => {
    const violations: string[] = [];
    const stream = new Duplex({ read() {}, write() {} });
    createChannel({
      side: 'core',
      stream,
      answer: async () => ({ text: 'x'.repeat(30 * 1024 * 1024) }),
      notice() {},
      violated: (reason) => violations.push(reason),
    });
    const { method, params } = corpus.valid.find((each) => each.method === 'service/call') as Valid;
    for (let id = 1; id <= 6; id += 1) {
      stream.emit('data', Buffer.concat(encodeFrame({ jsonrpc: '2.0', id, method, params }) ?? []));
      await turn();
    }
    expect(violations).toEqual(['it does not read what it asked for']);
  });

  test('refuses to ask for more than 256 things, and asks again when one is answered', async () => {
    const answers: (() => void)[] = [];
    const { core } = pair(() => new Promise((resolve) => answers.push(() => resolve({}))));
    const asked = Array.from({ length: MAX_IN_FLIGHT }, () => core.request('host/shutdown', {}));
    await expect(core.request('host/shutdown', {})).rejects.toMatchObject({ data: 'busy' });
    await until(() => answers.length === MAX_IN_FLIGHT);
    for (const each of answers) each();
    await Promise.all(asked);
    expect(core.pending()).toBe(0);
  });

  test('withdraws a request, and does not wait for a side that does not answer', async () => {
    let heard = false;
    const { core } = pair((_, __, signal) => {
      signal.addEventListener('abort', () => {
        heard = true;
      });
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const asked = core.request('host/shutdown', {}, controller.signal);
    await turn();
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: RPC.cancelled });
    expect(heard).toBe(true);
    expect(core.pending(), 'its place stays taken, as the other side counts it').toBe(1);
  });

  test('takes an answer that comes before it stops waiting for a withdrawn request', async () => {
    const { core } = pair((_, __, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({}))));
    const controller = new AbortController();
    const asked = core.request('host/shutdown', {}, controller.signal);
    await turn();
    controller.abort();
    expect(await asked).toEqual({});
    expect(core.pending()).toBe(0);
  });

  test('ends at a withdrawal of something that is no id', () => {
    const { violations, push } = pair();
    push('core', { jsonrpc: '2.0', method: CANCEL_METHOD, params: { id: 4, all: true } });
    expect(violations.core).toHaveLength(1);
  });

  test('rejects everything that waits when it ends, and withdraws what it answers', async () => {
    let withdrawn = false;
    const { core, host } = pair((_, __, signal) => {
      signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return new Promise(() => {});
    });
    const asked = core.request('host/shutdown', {});
    void host.request(REGISTER.method, REGISTER.params).catch(() => {});
    await turn();
    core.end(new Error('it is gone'));
    await expect(asked).rejects.toThrow('it is gone');
    await expect(core.request('host/ping', {})).rejects.toThrow('it is gone');
    expect(withdrawn).toBe(true);
  });

  test('says that an answer is no JSON, or larger than a frame', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const { params } = corpus.valid.find((each) => each.method === 'service/call') as Valid;
    for (const result of [circular, { big: 'x'.repeat(33 * 1024 * 1024) }]) {
      const { host } = pair(async () => result);
      await expect(host.request('service/call', params)).rejects.toThrow(/over the limit of 33554432 bytes or no JSON/);
    }
  });
});

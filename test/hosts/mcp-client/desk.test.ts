import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createMcpApprovals } from '../../../hosts/mcp-client/approvals.ts';
import { createMcpBoard } from '../../../hosts/mcp-client/board.ts';
import { connectAll } from '../../../hosts/mcp-client/connect-all.ts';
import type { Consent, ConsentRequest } from '../../../hosts/mcp-client/consent.ts';
import { createMcpDesk } from '../../../hosts/mcp-client/desk.ts';
import { isWanted, type ToolFilter } from '../../../hosts/tool-filter.ts';
import type { McpServer } from '../../../ports/mcp.ts';
import type { ToolExecution } from '../../../ports/plugin.ts';
import { createFakeMcp, type FakeMcpServer, type FakeMcpTool, fakeMcpServer } from '../../fakes/mcp.ts';
import { createMemoryApprovals } from '../../fakes/mcp-approvals.ts';

const hash = createSha256();
const never = new AbortController().signal;
const EXEC: ToolExecution = { signal: never, callId: 'c', args: {}, workspace: '/work', dataDir: '/data' };

interface Place {
  readonly tools?: readonly FakeMcpTool[];
  readonly script?: Readonly<Record<string, FakeMcpServer>>;
  readonly servers?: readonly McpServer[];
  readonly filter?: ToolFilter;
  readonly answer?: (request: ConsentRequest) => readonly number[];
}

/** A desk over a scripted server of the name `s`, with everything that it told. */
async function open({
  tools = [{ name: 'one' }, { name: 'two' }],
  script = { s: { tools } },
  servers = [fakeMcpServer({ name: 's', autoApprove: true })],
  filter = { disabled: [] },
  answer,
}: Place = {}) {
  const mcp = createFakeMcp(script);
  const registry = createToolRegistry();
  const asked: ConsentRequest[] = [];
  const told: string[] = [];
  const consent: Consent | undefined =
    answer &&
    (async (request) => {
      asked.push(request);
      return answer(request);
    });
  const approvals = createMcpApprovals({
    store: createMemoryApprovals(),
    hash,
    project: '/work',
    env: {},
    consent,
    now: () => 0,
    warn: (text) => void told.push(text),
  });
  const { connected } = await connectAll({ servers, connector: mcp, abortOnFailure: true, signal: never });
  const desk = createMcpDesk({
    connected,
    absent: [],
    registry,
    approvals,
    isWanted: (...names) => isWanted(filter, names),
    hash,
    validator: createSchemaValidator(),
    canAsk: consent !== undefined,
    targetOf: ({ name }) => `target of ${name}`,
    log: (_, text) => void told.push(text),
  });
  const board = createMcpBoard();
  const watched = board.watch(registry);
  await board.open(async (signal) => {
    await desk.register(signal);
    return desk;
  });
  const pending = (): Promise<void> =>
    new Promise((resolve) => {
      const stop = watched.onChange(() => {
        stop();
        resolve();
      });
    });
  const names = () => watched.definitions().map(({ name }) => name);
  /** Waits until what the model is told satisfies the test; no change of a scripted server takes nearly so long. */
  const until = async (check: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 2000 && !check(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(check()).toBe(true);
  };
  return { mcp, desk, board, registry, watched, asked, told, names, pending, until };
}

const call = (registry: ReturnType<typeof createToolRegistry>, name: string) => registry.get(name)?.spec.execute({} as never, EXEC);

describe('tools of servers', () => {
  it('are registered under the name of their server, called through it, and gone when it is closed', async () => {
    const { mcp, board, registry, names } = await open();
    expect(names()).toEqual(['s__one', 's__two']);
    await call(registry, 's__one');
    expect(mcp.calls).toEqual([{ server: 's', tool: 'one', input: {} }]);
    expect(board.servers()).toEqual([{ name: 's', state: 'connected', target: 'target of s', tools: 2 }]);
    await board.close();
    expect(names()).toEqual([]);
    expect(mcp.closed).toEqual(['s']);
  });

  it('that the operator does not want are neither asked about nor registered', async () => {
    const { asked, names } = await open({
      servers: [fakeMcpServer({ name: 's' })],
      filter: { enabled: ['s__one'], disabled: [] },
      answer: () => [1],
    });
    expect(names()).toEqual(['s__one']);
    expect(asked.map(({ count }) => count)).toEqual([1]);
  });

  it('that a person leaves out are not there, and the others are', async () => {
    const { told, names } = await open({ servers: [fakeMcpServer({ name: 's' })], answer: () => [2] });
    expect(names()).toEqual(['s__two']);
    expect(told).toEqual(['MCP server "s": not approved, and left out: one']);
  });

  it('end the start when two servers would give two tools one name', async () => {
    const script = { s: { tools: [{ name: '_one' }] }, s_: { tools: [{ name: 'one' }] } };
    const servers = ['s', 's_'].map((name) => fakeMcpServer({ name, autoApprove: true }));
    await expect(open({ script, servers })).rejects.toMatchObject({ code: 'mcp_name_taken', value: 's___one' });
  });
});

describe('tools that change', () => {
  it('are put in place when the model is told, and not before', async () => {
    const { mcp, registry, watched, names, pending } = await open();
    const before = watched.definitions();
    expect(watched.definitions()).toBe(before);
    const waits = pending();
    mcp.setTools('s', [{ name: 'one' }, { name: 'three' }]);
    await waits;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(registry.list().map(({ spec }) => spec.name)).toEqual(['s__one', 's__two']);
    expect(names()).toEqual(['s__one', 's__three']);
    expect(watched.definitions()).toBe(watched.definitions());
  });

  it('fail at once under their old meaning', async () => {
    const { mcp, registry, told, until } = await open();
    mcp.setTools('s', [{ name: 'one', description: 'Something else.' }]);
    await until(() => told.length >= 2);
    await expect(call(registry, 's__one')).rejects.toMatchObject({ server: 's', tool: 'one' });
    await expect(call(registry, 's__two')).rejects.toMatchObject({ server: 's', tool: 'two' });
    expect(mcp.calls).toEqual([]);
    expect(told).toEqual(
      expect.arrayContaining(['MCP server "s" describes in another way its tool one', 'MCP server "s" no longer offers its tool two']),
    );
  });

  it('keep their place, without a question, when nothing about them is different', async () => {
    const { mcp, registry, asked, told, names, until } = await open({ servers: [fakeMcpServer({ name: 's' })], answer: () => [1, 2] });
    const [one] = registry.list();
    mcp.setTools('s', [{ name: 'two' }, { name: 'one' }, { name: 'three' }]);
    await until(() => names().includes('s__three') || asked.length > 1);
    await until(() => names().length === 3);
    expect(registry.get('s__one')).toBe(one);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatchObject({ count: 1, question: 'Approve it?' });
    expect(told.filter((text) => text.includes('longer') || text.includes('another way'))).toEqual([]);
  });

  it('are left out when nobody can be asked', async () => {
    const { mcp, told, names, until } = await open({ servers: [fakeMcpServer({ name: 's' })] });
    expect(names()).toEqual([]);
    mcp.setTools('s', [{ name: 'one' }, { name: 'three' }]);
    await until(() => told.some((text) => text.includes('left out: three')));
    expect(names()).toEqual([]);
  });

  it('are asked about once for each definition, and five times at most in a session', async () => {
    const { mcp, asked, told, names, until } = await open({
      tools: [],
      servers: [fakeMcpServer({ name: 's' })],
      answer: () => [],
    });
    expect(asked).toHaveLength(0);
    for (let round = 1; round <= 8; round += 1) {
      mcp.setTools('s', [{ name: 'one', description: `Meaning ${round}.` }]);
      await until(() => told.filter((text) => text.includes('left out: one')).length === round);
      mcp.announce('s');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(asked).toHaveLength(5);
    expect(names()).toEqual([]);
  });

  it('are withdrawn together when the list is one that would end a start, and come back with a better one', async () => {
    const { mcp, registry, told, names, until } = await open();
    mcp.setTools('s', [{ name: 'one' }, { name: 'a__b' }]);
    await until(() => told.some((text) => text.includes('its tools are withdrawn')));
    await expect(call(registry, 's__one')).rejects.toMatchObject({ server: 's' });
    expect(names()).toEqual([]);
    mcp.setTools('s', [{ name: 'one' }]);
    await until(() => names().length === 1);
    await call(registry, 's__one');
    expect(mcp.calls).toHaveLength(1);
  });

  it('are looked at again after the server was started again', async () => {
    const { mcp, registry, names, until } = await open();
    mcp.setTools('s', [{ name: 'two' }], { announce: false });
    mcp.exit('s', 1, 'oh');
    await call(registry, 's__two');
    await until(() => names().length === 1);
    expect(names()).toEqual(['s__two']);
  });

  it('of one burst are looked at once more after the look that is under way', async () => {
    const { mcp, names, until } = await open();
    for (let at = 1; at <= 5; at += 1)
      mcp.setTools(
        's',
        Array.from({ length: at }, (_, index) => ({ name: `t${index}` })),
      );
    await until(() => names().length === 5);
  });
});

describe('the board', () => {
  it('ends what is being opened when it is closed', async () => {
    const board = createMcpBoard();
    const opening = board.open(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
    );
    opening.catch(() => {});
    await board.close();
    await expect(opening).rejects.toThrow('given up');
    expect(board.servers()).toEqual([]);
  });

  it('opens nothing any more once it is closed', async () => {
    const board = createMcpBoard();
    await board.close();
    await expect(board.open(() => Promise.reject(new Error('opened')))).rejects.toMatchObject({ code: 'cancelled' });
  });
});

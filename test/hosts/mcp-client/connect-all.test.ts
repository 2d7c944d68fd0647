import { describe, expect, it } from 'vitest';
import { connectAll } from '../../../hosts/mcp-client/connect-all.ts';
import { CancelledError } from '../../../ports/errors.ts';
import { type McpConnector, McpError, type McpServer } from '../../../ports/mcp.ts';
import { createFakeMcp, fakeMcpServer } from '../../fakes/mcp.ts';

const servers = (...names: readonly string[]): readonly McpServer[] => names.map((name) => fakeMcpServer({ name }));
const never = new AbortController().signal;
const refusal = new McpError('mcp_spawn_failed', 'bad could not be started', { server: 'bad' });

/** Connects a server of the name `hangs` only when it is given up. */
function withHang(connector: McpConnector, hanging: () => void = () => {}): McpConnector {
  return {
    connect(server, signal) {
      if (server.name !== 'hangs') return connector.connect(server, signal);
      hanging();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new CancelledError())));
    },
  };
}

describe('servers that are connected together', () => {
  it('come in the order of the configuration, with what they offer', async () => {
    const connector = createFakeMcp({ a: { tools: [{ name: 'one' }] }, b: { tools: [] } });
    const { connected, failed } = await connectAll({ servers: servers('b', 'a'), connector, abortOnFailure: true, signal: never });
    expect(connected.map(({ server, list }) => [server.name, list.tools.map(({ name }) => name)])).toEqual([
      ['b', []],
      ['a', ['one']],
    ]);
    expect(failed).toEqual([]);
  });

  it('are closed, and given up while they start, when one of them fails', async () => {
    const connector = createFakeMcp({ a: { tools: [] }, bad: { tools: [], refuses: refusal } });
    const started = connectAll({
      servers: servers('a', 'hangs', 'bad'),
      connector: withHang(connector),
      abortOnFailure: true,
      signal: never,
    });
    await expect(started).rejects.toMatchObject({ name: 'ConfigError', code: 'mcp_connect_failed', value: ['bad'] });
    await expect(started).rejects.toThrow(/bad could not be started[\s\S]*odek mcp probe bad/);
    expect(connector.closed).toEqual(['a']);
  });

  it('fail when their tools cannot be listed', async () => {
    const connector = createFakeMcp({ bad: { tools: [], failsToList: refusal } });
    await expect(connectAll({ servers: servers('bad'), connector, abortOnFailure: true, signal: never })).rejects.toMatchObject({
      code: 'mcp_connect_failed',
    });
    expect(connector.closed).toEqual(['bad']);
  });

  it('go on without those that fail where that is the rule', async () => {
    const connector = createFakeMcp({ a: { tools: [] }, bad: { tools: [], refuses: refusal } });
    const { connected, failed } = await connectAll({ servers: servers('bad', 'a'), connector, abortOnFailure: false, signal: never });
    expect(connected.map(({ server }) => server.name)).toEqual(['a']);
    expect(failed.map(({ server, error }) => [server.name, error])).toEqual([['bad', refusal]]);
    expect(connector.closed).toEqual([]);
  });

  it.each([true, false])('leave nothing open when the start is given up (abort on failure: %s)', async (abortOnFailure) => {
    const connector = createFakeMcp({ a: { tools: [] } });
    const cancel = new AbortController();
    const hanging = withHang(connector, () => setImmediate(() => cancel.abort()));
    await expect(
      connectAll({ servers: servers('a', 'hangs'), connector: hanging, abortOnFailure, signal: cancel.signal }),
    ).rejects.toMatchObject({ code: 'cancelled' });
    expect(connector.closed).toEqual(['a']);
  });

  it('start sixteen at a time', async () => {
    let [under, most] = [0, 0];
    const plain = createFakeMcp(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`s${at}`, { tools: [] }])));
    const connector: McpConnector = {
      async connect(server, signal) {
        under += 1;
        most = Math.max(most, under);
        await new Promise((resolve) => setImmediate(resolve));
        under -= 1;
        return plain.connect(server, signal);
      },
    };
    const names = Array.from({ length: 40 }, (_, at) => `s${at}`);
    const { connected } = await connectAll({ servers: servers(...names), connector, abortOnFailure: true, signal: never });
    expect(connected.map(({ server }) => server.name)).toEqual(names);
    expect(most).toBe(16);
  });
});

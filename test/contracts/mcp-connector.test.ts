import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, setUpMcp } from '../adapters/mcp/setup.ts';
import { createFakeMcpSeats } from '../fakes/mcp-seats.ts';
import { startScriptedHttp } from '../mcp/servers/http.ts';
import { brokenMcpConnectors } from './mcp-connector.broken.ts';
import { type McpConnectorHarness, mcpConnectorSuite } from './mcp-connector.suite.ts';

function stdioSeat(script: Readonly<Record<string, unknown>>, more: { timeoutMs?: number; maxResponseBytes?: number; command?: string }) {
  const setup = setUpMcp();
  const pidFile = join(setup.folder, 'pid');
  const logFile = join(setup.folder, 'log');
  return {
    connector: setup.connector,
    server: setup.stdio({ ...script, pidFile, logFile }, more),
    seen: async () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { method: string; params?: unknown }),
    left: async () => (existsSync(pidFile) && isAlive(Number(readFileSync(pidFile, 'utf8'))) ? 1 : 0),
    close: setup.close,
  };
}

const stdio: McpConnectorHarness = {
  exits: true,
  seat: async ({ listing = 'plain', ...limits } = {}) => stdioSeat({ mode: listing }, limits),
  absent: async () => stdioSeat({}, { command: 'odek-no-such-command' }),
  silent: async (limits = {}) => stdioSeat({ start: 'silent' }, limits),
};

/** Both ways of answering. */
function http(reply: 'json' | 'sse'): McpConnectorHarness {
  const seat = async (
    options: Parameters<typeof startScriptedHttp>[0],
    limits: { timeoutMs?: number; maxResponseBytes?: number },
    url?: string,
  ) => {
    const setup = setUpMcp();
    const server = await startScriptedHttp({ reply, ...options });
    return {
      connector: setup.connector,
      server: setup.http(url ?? server.url, limits),
      seen: async () => server.seen,
      left: async () => server.sessions.size,
      async close() {
        await setup.close();
        await server.close();
      },
    };
  };
  return {
    exits: false,
    seat: ({ listing = 'plain', ...limits } = {}) => seat({ mode: listing }, limits),
    async absent() {
      const { promise, resolve } = Promise.withResolvers<number>();
      const closed = createServer().listen(0, '127.0.0.1', () => {
        const { port } = closed.address() as { port: number };
        closed.close(() => resolve(port));
      });
      return seat({}, {}, `http://127.0.0.1:${await promise}/mcp`);
    },
    silent: (limits = {}) => seat({ intercept: () => true }, limits),
  };
}

const subjects: Readonly<Record<string, McpConnectorHarness>> = {
  'the connector over standard input and output': stdio,
  'the connector over HTTP with JSON replies': http('json'),
  'the connector over HTTP with streamed replies': http('sse'),
  'the scripted connector': createFakeMcpSeats(),
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an MCP connector`, () => {
    for (const { id, sentence, run } of mcpConnectorSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an MCP connector', () => {
  for (const { name, caughtBy, harness } of brokenMcpConnectors) {
    it.concurrent(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = mcpConnectorSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenMcpConnectors.map(({ caughtBy }) => caughtBy));
    expect(mcpConnectorSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});

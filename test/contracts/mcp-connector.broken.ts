import { type McpConnection, type McpConnector, McpError } from '../../ports/mcp.ts';
import { createFakeMcpSeats } from '../fakes/mcp-seats.ts';
import type { McpConnectorHarness, McpSeat } from './mcp-connector.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Change = (connection: McpConnection) => Partial<McpConnection>;

/** A harness over the scripted connector, whose connections are changed. */
function changed(change: Change, connect?: (connector: McpConnector) => McpConnector['connect']): McpConnectorHarness {
  const seats = createFakeMcpSeats();
  const wrap = (seat: McpSeat): McpSeat => {
    const inner: McpConnector = {
      async connect(server, signal) {
        const connection = await seat.connector.connect(server, signal);
        return { ...connection, ...change(connection) };
      },
    };
    return { ...seat, connector: connect === undefined ? inner : { connect: connect(inner) } };
  };
  return {
    exits: seats.exits,
    seat: async (options) => wrap(await seats.seat(options)),
    absent: async () => wrap(await seats.absent()),
    silent: async (options) => wrap(await seats.silent(options)),
  };
}

function broken(name: string, caughtBy: string, harness: McpConnectorHarness): BrokenAdapter<McpConnectorHarness> {
  return { name, caughtBy: `mcp-connector/${caughtBy}`, harness };
}

const quiet = { warnings: [] };
const never = () => new Promise<never>(() => {});
const plainError = (error: unknown): never => {
  throw new Error(String(error));
};

/** Connectors that the suite must reject. */
export const brokenMcpConnectors: readonly BrokenAdapter<McpConnectorHarness>[] = [
  broken(
    'reads the first page only',
    'pages',
    changed(({ listTools }) => ({ listTools: async (signal) => ({ tools: (await listTools(signal)).tools.slice(0, 50), warnings: [] }) })),
  ),
  broken(
    'does not tell that it left the listing',
    'page-bounds',
    changed(({ listTools }) => ({ listTools: async (signal) => ({ ...(await listTools(signal)), ...quiet }) })),
  ),
  broken(
    'takes as many tools as there are',
    'tool-bounds',
    changed(({ listTools }) => ({
      async listTools(signal) {
        const { tools, warnings } = await listTools(signal);
        return { tools: [...tools, ...tools.slice(0, 1)], warnings };
      },
    })),
  ),
  broken(
    'follows one cursor for ever',
    'cursor-repeats',
    changed(({ listTools }) => ({
      async listTools(signal) {
        const { tools, warnings } = await listTools(signal);
        return { tools: [...tools, ...tools], warnings };
      },
    })),
  ),
  broken(
    'gives a name twice',
    'names-once',
    changed(({ listTools }) => ({
      async listTools(signal) {
        const { tools, warnings } = await listTools(signal);
        return { tools: [...tools.slice(0, 1), ...tools], warnings };
      },
    })),
  ),
  broken(
    'mixes up answers',
    'result',
    changed(({ call }) => ({ call: (tool, _input, options) => call(tool, { text: 'text 0' }, options) })),
  ),
  broken(
    'throws a result that says isError',
    'error-result',
    changed(({ call, server }) => ({
      async call(tool, input, options) {
        const result = await call(tool, input, options);
        if (result.isError) throw new McpError('mcp_request_refused', 'it failed', { server: server.name });
        return result;
      },
    })),
  ),
  broken(
    'throws an error of its own',
    'refused',
    changed(({ call }) => ({ call: (tool, input, options) => call(tool, input, options).catch(plainError) })),
  ),
  broken(
    'has no time limit',
    'timeout',
    changed(({ call }) => ({ call: (tool, input, options) => (tool === 'slow' ? never() : call(tool, input, options)) })),
  ),
  broken(
    'starts the server again after a time-out',
    'timeout',
    changed(({ report }) => ({ report: () => ({ ...report(), restarts: 1 }) })),
  ),
  broken(
    'does not hear the signal',
    'cancel',
    changed(({ call }) => ({ call: (tool, input) => call(tool, input, { signal: new AbortController().signal }) })),
  ),
  broken(
    'does not tell the server of a cancellation',
    'cancel-told',
    changed(({ call }) => ({
      call(tool, input, { signal }) {
        const stopped = new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () =>
            reject(Object.assign(new McpError('mcp_timeout', 'cancelled', { server: 'scripted' }), { code: 'cancelled' })),
          );
        });
        return Promise.race([stopped, call(tool, input, { signal: new AbortController().signal })]);
      },
    })),
  ),
  broken(
    'takes a message of any length',
    'too-large',
    changed(({ call }) => ({
      call: (tool, input, options) => call(tool, tool === 'huge' ? { bytes: 10 } : input, options),
    })),
  ),
  broken(
    'does not say how the server ended',
    'exit',
    changed(({ call, server }) => ({
      call: (tool, input, options) =>
        call(tool, input, options).catch(() => {
          throw new McpError('mcp_server_exited', 'it ended', { server: server.name });
        }),
    })),
  ),
  broken(
    'sends a call again after the server ended',
    'restart',
    changed(({ call, report }) => ({
      call: (tool, input, options) => call(tool, input, options),
      report: () => ({ ...report(), restarts: report().restarts + 1 }),
    })),
  ),
  broken(
    'tells each notice',
    'changes',
    changed(({ onToolsChanged }) => ({
      onToolsChanged: (listener) =>
        onToolsChanged(() => {
          listener();
          listener();
        }),
    })),
  ),
  broken(
    'leaves the server running',
    'close',
    changed(() => ({ close: async () => {} })),
  ),
  broken(
    'does not know whom it talks to',
    'report',
    changed(({ report }) => ({ report: () => ({ ...report(), serverName: '' }) })),
  ),
  broken(
    'hides why it could not connect',
    'absent',
    changed(
      () => ({}),
      ({ connect }) =>
        (server, signal) =>
          connect(server, signal).catch(plainError),
    ),
  ),
  broken(
    'waits for a handshake for ever',
    'handshake-limit',
    changed(
      () => ({}),
      () => never,
    ),
  ),
  broken(
    'connects whatever its signal says',
    'connect-cancelled',
    changed(
      () => ({}),
      ({ connect }) =>
        (server) =>
          connect(server, new AbortController().signal),
    ),
  ),
];

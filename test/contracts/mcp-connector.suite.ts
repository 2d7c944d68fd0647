import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import { type McpConnection, type McpConnector, McpError, type McpErrorCode, type McpServer } from '../../ports/mcp.ts';
import type { ContractSuite } from './suite.ts';

/**
 * What the server of a seat does. It has the tools `echo` (says its `text`), `fails` (an `isError` result
 * `it went wrong`), `refused` (a JSON-RPC error), `slow` (never answers), `late` (answers when it is told of the
 * cancellation), `huge` (`bytes` of text), `die` (writes `the disk is full` to standard error and ends with code
 * 3) and `burst` (says five times that its list changed).
 */
export type McpListing = 'plain' | 'many' | 'duplicates' | 'loop' | 'endless' | 'wide';

export interface McpSeat {
  readonly connector: McpConnector;
  readonly server: McpServer;
  /** Messages that the server got so far. */
  seen(): Promise<readonly { readonly method: string; readonly params?: unknown }[]>;
  /** Processes that run, or sessions that the server keeps. */
  left(): Promise<number>;
  /** Ends everything of the seat. */
  close(): Promise<void>;
}

export interface McpConnectorHarness {
  /**
   * A seat whose server lists its tools like `listing` (`plain`): `many` is `t0` to `t100` on three pages, `duplicates`
   * `echo`, `echo`, `echo` and `fails` on two, `loop` `t0` to `t7` with one cursor for ever, `endless` one tool a page, `wide` 3,000 a page.
   */
  seat(options?: { readonly listing?: McpListing; readonly timeoutMs?: number; readonly maxResponseBytes?: number }): Promise<McpSeat>;
  /** A seat whose server cannot be reached. */
  absent(): Promise<McpSeat>;
  /** A seat whose server never answers the handshake. */
  silent(options?: { readonly timeoutMs?: number }): Promise<McpSeat>;
  /** Whether a server can end by itself, as a process does. */
  readonly exits: boolean;
}

/** Longer than this is no answer at all. */
const HANG_MS = 15_000;
const SECRET_REASON = 'the password is swordfish';

const live = (): AbortSignal => new AbortController().signal;

function failsWith(...codes: McpErrorCode[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof McpError, `it is ${String(error)}`);
    assert.ok(codes.includes(error.code as McpErrorCode), `its code is ${error.code}`);
    assert.equal(error.server, 'scripted');
    return true;
  };
}

async function soon<T>(promise: Promise<T>, ms = HANG_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + HANG_MS / 3;
  while (!(await condition())) {
    assert.ok(Date.now() < end, 'what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Runs `work` with a connection to a seat, and ends both. */
async function connected(seat: McpSeat, work: (connection: McpConnection, seat: McpSeat) => Promise<void>): Promise<void> {
  try {
    const connection = await soon(seat.connector.connect(seat.server, live()));
    try {
      await work(connection, seat);
    } finally {
      await connection.close();
    }
  } finally {
    await seat.close();
  }
}

async function says(connection: McpConnection, text: string): Promise<void> {
  const { content, isError } = await soon(connection.call('echo', { text }, { signal: live() }));
  assert.deepEqual(content, [{ type: 'text', text }]);
  assert.equal(isError, false);
}

async function namesOf(connection: McpConnection): Promise<readonly string[]> {
  return (await soon(connection.listTools(live()))).tools.map(({ name }) => name);
}

/** What every {@link McpConnector} keeps. */
export const mcpConnectorSuite: ContractSuite<McpConnectorHarness> = {
  port: 'mcp-connector',
  cases: [
    {
      id: 'mcp-connector/pages',
      sentence: 'listTools follows every cursor.',
      run: async ({ seat }) =>
        connected(await seat({ listing: 'many' }), async (connection) => {
          assert.deepEqual(
            await namesOf(connection),
            Array.from({ length: 101 }, (_, index) => `t${index}`),
          );
        }),
    },
    {
      id: 'mcp-connector/page-bounds',
      sentence: 'listTools stops after 1,000 pages, keeps what it has and warns.',
      run: async ({ seat }) =>
        connected(await seat({ listing: 'endless' }), async (connection) => {
          const { tools, warnings } = await soon(connection.listTools(live()));
          assert.equal(tools.length, 1000);
          assert.ok(warnings.length > 0);
        }),
    },
    {
      id: 'mcp-connector/tool-bounds',
      sentence: 'listTools stops at 10,000 tools and warns.',
      run: async ({ seat }) =>
        connected(await seat({ listing: 'wide' }), async (connection) => {
          const { tools, warnings } = await soon(connection.listTools(live()));
          assert.equal(tools.length, 10_000);
          assert.ok(warnings.length > 0);
        }),
    },
    {
      id: 'mcp-connector/cursor-repeats',
      sentence: 'listTools stops when a cursor repeats, and warns.',
      run: async ({ seat }) =>
        connected(await seat({ listing: 'loop' }), async (connection) => {
          const { tools, warnings } = await soon(connection.listTools(live()), HANG_MS);
          assert.deepEqual(
            tools.map(({ name }) => name),
            Array.from({ length: 8 }, (_, index) => `t${index}`),
          );
          assert.ok(warnings.length > 0);
        }),
    },
    {
      id: 'mcp-connector/names-once',
      sentence: 'listTools gives each name once.',
      run: async ({ seat }) =>
        connected(await seat({ listing: 'duplicates' }), async (connection) =>
          assert.deepEqual(await namesOf(connection), ['echo', 'fails']),
        ),
    },
    {
      id: 'mcp-connector/result',
      sentence: "call resolves with the server's result, also for several calls at once.",
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          await Promise.all(Array.from({ length: 16 }, (_, index) => says(connection, `text ${index}`)));
        }),
    },
    {
      id: 'mcp-connector/error-result',
      sentence: 'A result that says isError is a result.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          const { content, isError } = await soon(connection.call('fails', {}, { signal: live() }));
          assert.deepEqual(content, [{ type: 'text', text: 'it went wrong' }]);
          assert.equal(isError, true);
        }),
    },
    {
      id: 'mcp-connector/refused',
      sentence: 'An error that the server answers rejects with McpError, which names the tool.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          await assert.rejects(soon(connection.call('refused', {}, { signal: live() })), (error: McpError) => {
            failsWith('mcp_request_refused')(error);
            assert.equal(error.tool, 'refused');
            return true;
          });
        }),
    },
    {
      id: 'mcp-connector/timeout',
      sentence: 'A call past its time limit rejects with mcp_timeout; the server is left running and later calls work.',
      run: async ({ seat }) =>
        connected(await seat({ timeoutMs: 2000 }), async (connection) => {
          await assert.rejects(soon(connection.call('slow', {}, { signal: live() })), failsWith('mcp_timeout'));
          await says(connection, 'still here');
          assert.equal(connection.report().restarts, 0);
        }),
    },
    {
      id: 'mcp-connector/cancel',
      sentence: 'When its signal fires, call rejects at once with CancelledError.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          const controller = new AbortController();
          const call = connection.call('slow', {}, { signal: controller.signal });
          setTimeout(() => controller.abort(), 50);
          await assert.rejects(soon(call, 2000), (error) => hasCode(error, 'cancelled'));
          await assert.rejects(soon(connection.call('echo', {}, { signal: AbortSignal.abort() })), (error) => hasCode(error, 'cancelled'));
        }),
    },
    {
      id: 'mcp-connector/cancel-told',
      sentence: 'The server is told of a cancelled call with a neutral reason, and a late answer is ignored.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection, { seen }) => {
          const controller = new AbortController();
          const call = connection.call('late', {}, { signal: controller.signal });
          call.catch(() => {});
          await until(async () => JSON.stringify(await seen()).includes('"late"'));
          controller.abort(new Error(SECRET_REASON));
          await assert.rejects(soon(call), (error) => hasCode(error, 'cancelled'));
          await until(async () => (await seen()).some(({ method }) => method === 'notifications/cancelled'));
          assert.ok(!JSON.stringify(await seen()).includes(SECRET_REASON), 'the reason travelled');
          await says(connection, 'after it');
        }),
    },
    {
      id: 'mcp-connector/too-large',
      sentence: 'A message over maxResponseBytes fails the call with mcp_response_too_large, and later calls work.',
      run: async ({ seat }) =>
        connected(await seat({ maxResponseBytes: 64 * 1024 }), async (connection) => {
          await assert.rejects(soon(connection.call('huge', { bytes: 1024 * 1024 }, { signal: live() })), (error: McpError) => {
            failsWith('mcp_response_too_large')(error);
            assert.equal(error.limit, 64 * 1024);
            return true;
          });
          await says(connection, 'again');
        }),
    },
    {
      id: 'mcp-connector/exit',
      sentence: 'When the server ends, its calls reject with mcp_server_exited, which names exit code and the last of standard error.',
      run: async ({ seat, exits }) => {
        if (!exits) return;
        await connected(await seat(), async (connection) => {
          const slow = connection.call('slow', {}, { signal: live() });
          slow.catch(() => {});
          await assert.rejects(soon(connection.call('die', {}, { signal: live() })), (error: McpError) => {
            failsWith('mcp_server_exited')(error);
            assert.match(error.message, /\b3\b/);
            assert.match(error.message, /the disk is full/);
            return true;
          });
          await assert.rejects(soon(slow), failsWith('mcp_server_exited'));
        });
      },
    },
    {
      id: 'mcp-connector/restart',
      sentence: 'A later call starts the server again; nothing is sent twice by itself.',
      run: async ({ seat, exits }) => {
        if (!exits) return;
        await connected(await seat(), async (connection, { seen }) => {
          await says(connection, 'before');
          await assert.rejects(soon(connection.call('die', {}, { signal: live() })), failsWith('mcp_server_exited'));
          await says(connection, 'after');
          assert.equal(connection.report().restarts, 1);
          const told = (await seen()).filter(({ params }) => JSON.stringify(params ?? '').includes('"die"'));
          assert.ok(told.length <= 1, `it was sent ${told.length} times`);
        });
      },
    },
    {
      id: 'mcp-connector/changes',
      sentence: 'onToolsChanged listeners are told once a burst, and no more once they stopped to listen.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          let told = 0;
          let gone = 0;
          connection.onToolsChanged(() => {
            told += 1;
          });
          connection.onToolsChanged(() => {
            gone += 1;
          })();
          await soon(connection.call('burst', {}, { signal: live() }));
          await until(async () => told > 0);
          await new Promise((resolve) => setTimeout(resolve, 400));
          assert.equal(told, 1);
          assert.equal(gone, 0);
        }),
    },
    {
      id: 'mcp-connector/close',
      sentence: 'close ends the session, leaves nothing running and is idempotent; calls are refused then.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection, { left }) => {
          assert.equal(await left(), 1);
          const slow = connection.call('slow', {}, { signal: live() });
          slow.catch(() => {});
          await soon(Promise.all([connection.close(), connection.close()]));
          await assert.rejects(soon(slow), failsWith('mcp_not_connected'));
          await assert.rejects(soon(connection.call('echo', {}, { signal: live() })), failsWith('mcp_not_connected'));
          assert.equal(connection.report().state, 'closed');
          await until(async () => (await left()) === 0);
        }),
    },
    {
      id: 'mcp-connector/report',
      sentence: 'report tells state, protocol and who the server says it is.',
      run: async ({ seat }) =>
        connected(await seat(), async (connection) => {
          const { state, protocolVersion, serverName, serverVersion } = connection.report();
          assert.deepEqual(
            { state, protocolVersion, serverName, serverVersion },
            { state: 'connected', protocolVersion: '2025-03-26', serverName: 'scripted', serverVersion: '1.2.3' },
          );
        }),
    },
    {
      id: 'mcp-connector/absent',
      sentence: 'connect rejects with McpError when there is no such server.',
      async run({ absent }) {
        const { connector, server, close } = await absent();
        try {
          await assert.rejects(soon(connector.connect(server, live())), failsWith('mcp_spawn_failed', 'mcp_http_failed'));
        } finally {
          await close();
        }
      },
    },
    {
      id: 'mcp-connector/handshake-limit',
      sentence: 'connect rejects when the handshake takes longer than timeoutMs, and leaves nothing running.',
      async run({ silent }) {
        const { connector, server, left, close } = await silent({ timeoutMs: 500 });
        try {
          await assert.rejects(soon(connector.connect(server, live())), failsWith('mcp_timeout'));
          await until(async () => (await left()) === 0);
        } finally {
          await close();
        }
      },
    },
    {
      id: 'mcp-connector/connect-cancelled',
      sentence: 'connect rejects with CancelledError when its signal fires, and leaves nothing running.',
      async run({ silent }) {
        const { connector, server, left, close } = await silent();
        try {
          const controller = new AbortController();
          const connecting = connector.connect(server, controller.signal);
          connecting.catch(() => {});
          setTimeout(() => controller.abort(), 300);
          await assert.rejects(soon(connecting, 4000), (error) => hasCode(error, 'cancelled'));
          await assert.rejects(soon(connector.connect(server, AbortSignal.abort())), (error) => hasCode(error, 'cancelled'));
          await until(async () => (await left()) === 0);
        } finally {
          await close();
        }
      },
    },
  ],
};

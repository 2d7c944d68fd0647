import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { openProcessTrees } from '../../../adapters/process/trees.ts';
import type { McpConnection, McpStdioServer } from '../../../ports/mcp.ts';
import { isAlive, live, type McpSetup, SECRET, SERVERS, setUpMcp, textOf, until } from './setup.ts';

let setup: McpSetup | undefined;
afterEach(async () => {
  await setup?.close();
  setup = undefined;
});

function start(...options: Parameters<typeof setUpMcp>): McpSetup {
  setup = setUpMcp(...options);
  return setup;
}

async function connect(script: Readonly<Record<string, unknown>> = {}, more: Partial<McpStdioServer> = {}): Promise<McpConnection> {
  const own = setup ?? start();
  return own.connect(own.stdio(script, more));
}

const call = (connection: McpConnection, tool: string, input: Readonly<Record<string, unknown>> = {}) =>
  connection.call(tool, input, { signal: live() });

async function says(connection: McpConnection, text = 'there'): Promise<void> {
  expect(textOf(await call(connection, 'echo', { text }))).toBe(text);
}

describe('standard output', () => {
  it('may begin with lines that are no messages, which are counted and reported', async () => {
    const connection = await connect({ start: 'banner' });
    await says(connection);
    expect(connection.report().noiseLines).toBe(2);
    expect(setup?.seen.noise[0]).toBe('scripted server v1.2.3');
    expect(setup?.seen.noise[1]).toContain('ready');
    expect(setup?.seen.noise[1]).not.toContain('\u001b');
  });

  it('may hold such lines between messages: plain, coloured, JSON that is no message, and empty ones, which do not count', async () => {
    const connection = await connect();
    expect(textOf(await call(connection, 'noise'))).toBe('after the noise');
    expect(connection.report().noiseLines).toBe(4);
    await says(connection);
  });

  it.each(['logs', 'json-logs'])('that holds nothing else before the time limit is told as what it is (%s)', async (kind) => {
    await expect(connect({ start: kind }, { timeoutMs: 700 })).rejects.toMatchObject({
      code: 'mcp_handshake_failed',
      message: expect.stringContaining('writes logs to standard output'),
    });
  });

  it.each(['crlf', 'bom', 'batch'])('may use other forms of a line (%s)', async (kind) => {
    const connection = await connect({ start: kind });
    await says(connection);
    expect(connection.report().noiseLines).toBe(0);
  });

  it('hides secrets in what it reports', async () => {
    start();
    const connection = await connect({ start: 'banner', banner: `key ${SECRET} and more` });
    expect(setup?.seen.noise.join('\n')).toContain('[REDACTED]');
    expect(setup?.seen.noise.join('\n')).not.toContain(SECRET);
    await says(connection);
  });

  it('without a line feed fails closed, in memory near the limit', async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    await expect(connect({ start: 'flood' }, { maxResponseBytes: 4 * 1024 * 1024 })).rejects.toMatchObject({
      code: 'mcp_response_too_large',
      limit: 4 * 1024 * 1024,
    });
    clearInterval(timer);
    expect(peak - before).toBeLessThan(96 * 1024 * 1024);
  });

  it('takes a message of exactly the limit, and none of a byte more', async () => {
    const connection = await connect({}, { maxResponseBytes: 100_000 });
    const { bytes } = await call(connection, 'huge', { bytes: 50_000 });
    const frame = bytes - 50_000;
    const largest = await call(connection, 'huge', { bytes: 100_000 - frame });
    expect(largest.bytes).toBe(100_000);
    await expect(call(connection, 'huge', { bytes: 100_001 - frame })).rejects.toMatchObject({ code: 'mcp_response_too_large' });
  });
});

describe('standard error', () => {
  it('is drained, however much there is, and kept as a tail of 8 KiB', async () => {
    const connection = await connect();
    expect(textOf(await call(connection, 'stderr-flood', { bytes: 1024 * 1024 }))).toBe('written');
    await until(() => connection.report().stderrTail.length === 8 * 1024);
    expect(connection.report().stderrTail.endsWith('e\n')).toBe(true);
  });

  it('is shown by lines and kept without secrets, also when one comes in two pieces', async () => {
    const connection = await connect({ start: 'split-secret', secret: SECRET });
    await until(() => setup?.seen.stderr.length === 1);
    expect(setup?.seen.stderr).toEqual(['the key is [REDACTED], use it']);
    expect(connection.report().stderrTail).toBe('the key is [REDACTED], use it\n');
  });
});

describe('the environment of a server', () => {
  it('holds what is allowed and what is given, nothing else, and no name that looks secret', async () => {
    start({ environment: { OPENAI_API_KEY: 'canary', MY_CANARY: 'canary', LC_ALL: 'C', TZ: 'UTC' } });
    const connection = await connect({}, { env: { LOG_LEVEL: 'debug', GITHUB_TOKEN: 'canary', 'my-api-key': 'canary', TZ: '' } });
    const environment = JSON.parse(textOf(await call(connection, 'environment'))) as Record<string, string>;
    expect(Object.values(environment)).not.toContain('canary');
    expect(environment).toMatchObject({ LOG_LEVEL: 'debug', LC_ALL: 'C', PATH: process.env.PATH });
    expect(environment).not.toHaveProperty('TZ');
    expect(setup?.seen.stripped.sort()).toEqual(['GITHUB_TOKEN', 'my-api-key']);
  });
});

describe('a server that cannot be used', () => {
  it('names the command that there is not', async () => {
    await expect(connect({}, { command: 'odek-no-such-command' })).rejects.toMatchObject({
      code: 'mcp_spawn_failed',
      message: expect.stringContaining('"odek-no-such-command": there is no such command'),
    });
  });

  it('names the folder that there is not', async () => {
    await expect(connect({}, { cwd: '/odek/no/such/folder' })).rejects.toMatchObject({
      code: 'mcp_spawn_failed',
      message: expect.stringContaining('/odek/no/such/folder'),
    });
  });

  it('that ends during the handshake is told with its code and the last it wrote', async () => {
    await expect(connect({ start: 'exit' })).rejects.toMatchObject({
      code: 'mcp_server_exited',
      value: 7,
      message: expect.stringContaining('no configuration found'),
    });
  });

  it('is not started again and again: after six useless lives it is left alone for a while', async () => {
    const own = start();
    const connection = await own.connect(own.stdio({ logFile: join(own.folder, 'log') }));
    const failures: string[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await call(connection, 'die').catch((error: { code: string }) => failures.push(error.code));
    }
    expect(failures).toEqual(Array.from({ length: 4 }, () => 'mcp_server_exited'));
    expect(connection.report().state).toBe('reconnecting');
  });
});

describe('the end of a connection', () => {
  it('kills a server that stays after its standard input ended', async () => {
    const own = start({ closeGraceMs: 300 });
    const pidFile = join(own.folder, 'pid');
    const connection = await connect({ start: 'ignore-eof', pidFile });
    await connection.close();
    await until(() => !isAlive(Number(readFileSync(pidFile, 'utf8'))));
  });

  it('takes along what the server started, also outside of its group', async () => {
    const own = start();
    const pidFile = join(own.folder, 'pid');
    const connection = await connect({ start: 'grandchild', pidFile });
    await says(connection);
    const pids = readFileSync(pidFile, 'utf8').split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await connection.close();
    await until(() => !pids.some(isAlive));
  });

  it('comes at the next start when odek was killed', async () => {
    const own = start();
    const pidFile = join(own.folder, 'pid');
    const records = join(own.folder, 'servers');
    const owner: ChildProcess = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('owner.ts', import.meta.url)),
        join(SERVERS, 'stdio.mjs'),
        JSON.stringify({ start: 'ignore-eof', pidFile }),
        records,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => owner.stdout?.once('data', resolve));
    expect(existsSync(pidFile)).toBe(true);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    owner.kill('SIGKILL');
    await new Promise((resolve) => owner.once('exit', resolve));
    expect(isAlive(pid)).toBe(true);
    openProcessTrees(records);
    await until(() => !isAlive(pid));
  });
});

describe('calls', () => {
  it('are answered although a server asks something meanwhile', async () => {
    expect(textOf(await call(await connect(), 'pings'))).toBe('ponged');
  });

  it('reach a server that ends its lines also at the separators of Unicode', async () => {
    await says(await connect({}, { timeoutMs: 5000 }), 'a\u2028b\u2029c\u0085d');
  });

  it('do not depend on the schema that a tool declares for its output', async () => {
    const connection = await connect();
    await connection.listTools(live());
    expect(await call(connection, 'structured')).toMatchObject({ structured: { present: 1 }, isError: false });
  });

  it.each([7, 'text', [], {}, { content: 'text' }])('reject what is no result: %j', async (result) => {
    await expect(call(await connect(), 'malformed', { result })).rejects.toMatchObject({ code: 'mcp_protocol_error' });
  });

  it('are cancelled at once although the server reads nothing any more', async () => {
    const connection = await connect({ start: 'deaf' });
    const controller = new AbortController();
    const pending = connection.call('echo', { text: 'x'.repeat(1024 * 1024) }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('keep their server when sixteen run at once and one of them is cancelled', async () => {
    const connection = await connect();
    const controller = new AbortController();
    const slow = connection.call('slow', {}, { signal: controller.signal }).catch((error: { code: string }) => error.code);
    const answers = Promise.all(Array.from({ length: 15 }, (_, index) => call(connection, 'echo', { text: `n${index}` })));
    controller.abort();
    expect(await slow).toBe('cancelled');
    expect((await answers).map(textOf)).toEqual(Array.from({ length: 15 }, (_, index) => `n${index}`));
  });
});

describe('protocol versions', () => {
  it.each(['2025-03-26', '2025-11-25', '2024-11-05'] as const)('offer %s when that is chosen', async (protocol) => {
    const connection = await connect({ versions: ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] }, { protocol });
    expect(connection.report().protocolVersion).toBe(protocol);
  });

  it('take what the server answers in place of what was offered', async () => {
    expect((await connect({ versions: ['2024-11-05'] })).report().protocolVersion).toBe('2024-11-05');
  });

  it('refuse one that is not known', async () => {
    await expect(connect({ versions: ['1999-01-01'] })).rejects.toMatchObject({
      code: 'mcp_handshake_failed',
      message: expect.stringContaining('1999-01-01'),
    });
  });

  it('find a new server on the one process that is started', async () => {
    const own = start();
    const logFile = join(own.folder, 'log');
    const connection = await connect({ modern: true, logFile }, { protocol: 'auto' });
    await says(connection);
    expect(connection.report().protocolVersion).toBe('2026-07-28');
    expect(methods(logFile).filter((each) => each === 'server/discover')).toHaveLength(1);
    expect(methods(logFile)).not.toContain('initialize');
  });

  it('find an old server, and remember that', async () => {
    const eras = new Map();
    const own = start({ eras });
    const logFile = join(own.folder, 'log');
    const server = own.stdio({ logFile }, { protocol: 'auto' });
    await own.connect(server);
    await own.connect(server);
    expect(methods(logFile).filter((each) => each !== 'notifications/initialized')).toEqual([
      'server/discover',
      'initialize',
      'initialize',
    ]);
    expect([...eras.values()]).toEqual(['legacy']);
  });

  it('start a server once more that ends because it was asked', async () => {
    const connection = await connect({ start: 'exit-on-discover' }, { protocol: 'auto' });
    await says(connection);
    expect(connection.report().protocolVersion).toBe('2025-03-26');
  });

  it('ask again when what was remembered proves wrong', async () => {
    const eras = new Map();
    const own = start({ eras });
    const server = own.stdio({ modern: 'only' }, { protocol: 'auto' });
    await own.connect(server);
    for (const key of eras.keys()) eras.set(key, 'legacy');
    const connection = await own.connect(server);
    expect(connection.report().protocolVersion).toBe('2026-07-28');
    expect([...eras.values()]).toEqual(['modern']);
  });

  it('have no way back from the newest when it is chosen', async () => {
    await expect(connect({}, { protocol: '2026-07-28' })).rejects.toMatchObject({ code: 'mcp_handshake_failed' });
  });

  it('tell changes of the list to who listens, in the newest', async () => {
    const connection = await connect({ modern: true }, { protocol: '2026-07-28' });
    let told = 0;
    connection.onToolsChanged(() => {
      told += 1;
    });
    await call(connection, 'grow', { name: 'grown' });
    await until(() => told === 1);
    expect((await connection.listTools(live())).tools.map(({ name }) => name)).toContain('grown');
  });
});

function methods(logFile: string): readonly string[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { method: string }).method);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { live, type McpSetup, SERVERS, setUpMcp, textOf, until } from './setup.ts';

const require = createRequire(import.meta.url);
const EVERYTHING_SCRIPT = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');

let setup: McpSetup;
let child: ChildProcess | undefined;
afterEach(async () => {
  await setup.close();
  child?.kill('SIGKILL');
  child = undefined;
});

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address() as { port: number };
    probe.close(() => resolve(port));
  });
  return promise;
}

/** `server-everything` behind HTTP, ready when it says so. */
async function everythingOverHttp(): Promise<string> {
  const port = await freePort();
  const { PATH = '' } = process.env;
  const started = spawn(process.execPath, [EVERYTHING_SCRIPT, 'streamableHttp'], {
    env: { PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child = started;
  await new Promise<void>((resolve, reject) => {
    started.stderr.on('data', (chunk: Buffer) => chunk.includes('listening') && resolve());
    started.once('exit', () => reject(new Error('it ended')));
  });
  return `http://127.0.0.1:${port}/mcp`;
}

const EVERYTHING = ['echo', 'get-sum'];

describe('a server of the official ones', () => {
  it.each(['2025-03-26', 'auto'] as const)('"everything" works over standard input and output (%s)', async (protocol) => {
    setup = setUpMcp();
    const connection = await setup.connect(setup.stdio({}, { args: [EVERYTHING_SCRIPT, 'stdio'], protocol, timeoutMs: 20_000 }));
    const { tools, warnings } = await connection.listTools(live());
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(EVERYTHING));
    expect(warnings).toEqual([]);
    expect(textOf(await connection.call('echo', { message: 'hello' }, { signal: live() }))).toBe('Echo: hello');
    expect(await connection.call('get-structured-content', { location: 'New York' }, { signal: live() })).toMatchObject({
      structured: expect.any(Object),
      isError: false,
    });
    expect((await connection.call('get-tiny-image', {}, { signal: live() })).content).toContainEqual({
      type: 'image',
      mimeType: 'image/png',
      bytes: expect.any(Number),
    });
  });

  it.each(['2025-03-26', 'auto'] as const)('"everything" works over HTTP (%s)', async (protocol) => {
    setup = setUpMcp();
    const connection = await setup.connect(setup.http(await everythingOverHttp(), { protocol, timeoutMs: 20_000 }));
    expect((await connection.listTools(live())).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(EVERYTHING));
    const sums = await Promise.all(
      Array.from({ length: 8 }, (_, index) => connection.call('get-sum', { a: index, b: 1 }, { signal: live() })),
    );
    expect(sums.map(textOf)).toEqual(Array.from({ length: 8 }, (_, index) => expect.stringContaining(` ${index + 1}.`)));
    await connection.close();
  });

  it('"filesystem" reads a file below its folder, and refuses another', async () => {
    setup = setUpMcp();
    const folder = join(setup.folder, 'files');
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), 'found');
    const connection = await setup.connect(
      setup.stdio({}, { args: [require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'), folder], timeoutMs: 20_000 }),
    );
    expect((await connection.listTools(live())).tools.length).toBeGreaterThan(5);
    expect(textOf(await connection.call('read_text_file', { path: join(folder, 'note.txt') }, { signal: live() }))).toBe('found');
    expect(await connection.call('read_text_file', { path: '/etc/passwd' }, { signal: live() })).toMatchObject({ isError: true });
  });

  it('"memory" keeps what it is told', async () => {
    setup = setUpMcp();
    const server = setup.stdio(
      {},
      {
        args: [require.resolve('@modelcontextprotocol/server-memory/dist/index.js')],
        env: { MEMORY_FILE_PATH: join(setup.folder, 'memory.json') },
        timeoutMs: 20_000,
      },
    );
    const connection = await setup.connect(server);
    await connection.call(
      'create_entities',
      { entities: [{ name: 'odek', entityType: 'agent', observations: ['speaks MCP'] }] },
      { signal: live() },
    );
    expect(textOf(await connection.call('read_graph', {}, { signal: live() }))).toContain('speaks MCP');
  });
});

describe("a server of the protocol's own SDK", () => {
  it.each(['auto', '2026-07-28'] as const)(
    'speaks the newest version over standard input and output (%s), and tells changes',
    async (protocol) => {
      setup = setUpMcp();
      const connection = await setup.connect(
        setup.stdio({}, { args: [join(SERVERS, 'modern.mjs'), 'stdio'], protocol, timeoutMs: 20_000 }),
      );
      expect(connection.report()).toMatchObject({ protocolVersion: '2026-07-28', serverName: 'modern', serverVersion: '2.0.0' });
      let told = 0;
      connection.onToolsChanged(() => {
        told += 1;
      });
      expect(textOf(await connection.call('echo', { text: 'new' }, { signal: live() }))).toBe('new');
      await connection.call('grow', { text: 'grown' }, { signal: live() });
      await until(() => told === 1);
      expect((await connection.listTools(live())).tools.map(({ name }) => name)).toContain('grown');
    },
  );

  it.each(['auto', '2026-07-28', '2025-03-26'] as const)('speaks over HTTP what is asked for (%s)', async (protocol) => {
    setup = setUpMcp();
    const started = spawn(process.execPath, [join(SERVERS, 'modern.mjs'), 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    const port = await new Promise<string>((resolve) => started.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));
    const connection = await setup.connect(setup.http(`http://127.0.0.1:${port}/mcp`, { protocol, timeoutMs: 20_000 }));
    expect(connection.report().protocolVersion).toBe(protocol === 'auto' ? '2026-07-28' : protocol);
    expect((await connection.listTools(live())).tools.map(({ name }) => name)).toEqual(['echo', 'grow']);
    expect(textOf(await connection.call('echo', { text: 'new' }, { signal: live() }))).toBe('new');
  });
});

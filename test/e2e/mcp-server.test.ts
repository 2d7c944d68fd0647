import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENTRY, odek, type Running, startOdek } from './support/odek.ts';
import { createPlace, type Place } from './support/place.ts';
import { isAlive, pidIn, until } from './support/processes.ts';
import { PATIENT } from './support/stage.ts';

const INSPECTOR = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
);
const TOKEN = 'a-token-of-the-operator';

let place: Place;
let running: { kill(signal: NodeJS.Signals): unknown }[] = [];
let clients: Client[] = [];

beforeEach(async () => {
  place = await createPlace();
  await place.file('notes.txt', 'first line\n');
});

afterEach(async () => {
  for (const client of clients) await client.close().catch(() => {});
  for (const child of running) child.kill('SIGKILL');
  running = [];
  clients = [];
  await place.remove();
});

/** The server with its streams in hand. */
function startServer(args: readonly string[] = []): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [ENTRY, 'mcp', ...args], { cwd: place.work, env: place.env, stdio: 'pipe' });
  child.stdin.on('error', () => {});
  running.push(child);
  return child;
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

const INITIALIZE = line({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

const calling = (id: number, name: string, input: object): string => line({ id, method: 'tools/call', params: { name, arguments: input } });

async function connect(mode: 'legacy' | { readonly pin: string } = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp'],
    cwd: place.work,
    env: { ...place.env },
    stderr: 'ignore',
  });
  await client.connect(transport);
  clients.push(client);
  return client;
}

async function callText(client: Client, name: string, input: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
  const result = await client.callTool({ name, arguments: input });
  const content = result.content as readonly { text?: string }[];
  return { text: content.map(({ text }) => text ?? '').join('\n'), isError: result.isError === true };
}

function inspect(args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: place.work, env: { ...place.env }, timeout: 60_000 };
    execFile(process.execPath, [INSPECTOR, '--cli', ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

async function startHttp(env: Readonly<Record<string, string>> = { ODEK_MCP_TOKEN: TOKEN }): Promise<{ server: Running; url: string }> {
  const server = startOdek(place, ['mcp', '--http'], { env });
  running.push(server.child);
  await server.untilTold('serving at');
  return { server, url: /serving at (\S+)/.exec(server.stderr)?.[1] ?? '' };
}

describe('odek mcp over standard input and output', () => {
  it.each(['legacy', { pin: '2026-07-28' }] as const)('serves the tools that exist to a client of the SDK (%o)', async (mode) => {
    const client = await connect(mode);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['read_file', 'write_file', 'shell', 'plan', 'session_search', 'list_tools']));
    expect(names.filter((name) => /^(delegate_tasks|memory|clarify|send_message|bg_)/.test(name))).toEqual([]);
    const read = await callText(client, 'read_file', { path: 'notes.txt' });
    expect(read.isError).toBe(false);
    expect(read.text).toMatch(/<untrusted_content_[0-9a-f]{16} source=".*notes\.txt">[\s\S]*first line/);
  });

  it('serves what the operator left of the tools', async () => {
    await place.configure({ tools: { enabled: ['read_file', 'glob'], disabled: ['glob'] } });
    const client = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_file']);
    await expect(client.callTool({ name: 'glob', arguments: { pattern: '*' } })).rejects.toMatchObject({ code: -32_602 });
  });

  it('serves the skills of the user, where there are any', async () => {
    mkdirSync(join(place.state, 'skills/letters'), { recursive: true });
    writeFileSync(join(place.state, 'skills/letters/SKILL.md'), '---\nname: letters\ndescription: How to write.\n---\nBe brief.\n');
    const client = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['skill_list', 'skill_load']));
    expect((await callText(client, 'skill_list', {})).text).toContain('How to write.');
    const loaded = await callText(client, 'skill_load', { name: 'letters' });
    expect(loaded.isError).toBe(false);
    expect(loaded.text).toMatch(/<untrusted_content_[0-9a-f]{16} source="skill">\nBe brief\./);
  });

  it('denies what nobody can approve, and lets through what the operator allows', async () => {
    const client = await connect();
    const denied = await callText(client, 'write_file', { path: 'new.txt', content: 'x' });
    expect(denied.isError).toBe(true);
    expect(denied.text).toContain('operation denied (non-interactive mode): write_file new.txt (local_write)');
    expect((await callText(client, 'shell', { command: 'touch made' })).isError).toBe(true);
    expect(existsSync(join(place.work, 'new.txt')) || existsSync(join(place.work, 'made'))).toBe(false);

    await place.configure({ dangerous: { classes: { local_write: 'allow' } } });
    const allowed = await connect();
    expect((await callText(allowed, 'write_file', { path: 'new.txt', content: 'x' })).isError).toBe(false);
    expect(readFileSync(join(place.work, 'new.txt'), 'utf8')).toBe('x');
  });

  it('keeps one plan for as long as it runs', async () => {
    const client = await connect();
    const steps = [{ id: 'one', title: 'First' }];
    expect((await callText(client, 'plan', { verb: 'create', steps })).text).toContain('First');
    expect((await callText(client, 'plan', { verb: 'get' })).text).toContain('First');
  });

  it('keeps standard output for messages: noise goes to standard error, and CRLF is read', async () => {
    const input = [INITIALIZE, 'not json\n', calling(1, 'read_file', { path: 'notes.txt' })].join('').replaceAll('\n', '\r\n');
    const { code, stdout, stderr } = await odek(place, ['mcp'], { input });
    expect(code).toBe(0);
    const messages = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { id: unknown });
    expect(messages.map(({ id }) => id).sort()).toEqual([0, 1, null]);
    expect(stdout).not.toContain('\r');
    expect(stderr).toContain('mcp: read_file completed');
  });

  it('ends with 0 and kills what a call started when its input ends', async () => {
    await place.configure({ dangerous: { non_interactive: 'allow' } });
    const server = startServer();
    const ended = new Promise<number | null>((resolve) => server.on('close', resolve));
    server.stdout.resume();
    server.stderr.resume();
    server.stdin.write(INITIALIZE);
    server.stdin.write(calling(1, 'shell', { command: 'echo $$ > pid; echo >> pid; sleep 600' }));
    const pid = await pidIn(join(place.work, 'pid'));
    server.stdin.end();
    expect(await ended).toBe(0);
    await until('the end of the command', () => !isAlive(pid));
  });

  it('ends with 0, without an uncaught error, when its client dies before the answer', async () => {
    const server = startServer();
    let stderr = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<number | null>((resolve) => server.on('exit', resolve));
    server.stdin.write(INITIALIZE);
    await new Promise((resolve) => server.stdout.once('data', resolve));
    server.stdout.destroy();
    for (let id = 1; id < 200; id += 1) server.stdin.write(calling(id, 'read_file', { path: 'notes.txt' }));
    expect(await ended).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|uncaught|at .*\.js/i);
  });

  it('ends with 0 on a signal, whatever is under way', async () => {
    await place.configure({ dangerous: { non_interactive: 'allow' } });
    const server = startServer();
    const ended = new Promise<unknown>((resolve) => server.on('exit', (code, signal) => resolve([code, signal])));
    server.stdout.resume();
    server.stderr.resume();
    server.stdin.write(INITIALIZE);
    server.stdin.write(calling(1, 'shell', { command: 'echo $$ > pid; echo >> pid; sleep 600' }));
    const pid = await pidIn(join(place.work, 'pid'));
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await until('the end of the command', () => !isAlive(pid));
  });

  it('refuses a request over 10 MiB and serves the next one', PATIENT, async () => {
    const huge = line({ id: 1, method: 'ping', params: { filler: 'x'.repeat(11 * 1024 * 1024) } });
    const { code, stdout } = await odek(place, ['mcp'], { input: `${INITIALIZE}${huge}${line({ id: 2, method: 'ping' })}` });
    expect(code).toBe(0);
    expect(stdout).toContain('the limit is 10485760');
    expect(stdout).toContain('"id":2');
  });

  it('says which flag needs --http', async () => {
    const { code, stderr } = await odek(place, ['mcp', '--port', '1234']);
    expect([code, stderr]).toEqual([3, 'odek: --port is for odek mcp --http\n']);
  });
});

describe('odek mcp over HTTP', () => {
  it('serves a client that has the token, and ends with 0 on a signal', async () => {
    const { server, url } = await startHttp();
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } }),
    );
    clients.push(client);
    expect((await callText(client, 'read_file', { path: 'notes.txt' })).text).toContain('first line');
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stdout: '' });
  });

  it('makes a token of its own, tells it on standard error, and lets no tool tell it', async () => {
    const { server, url } = await startHttp({});
    const token = /the token of this start is ([0-9a-f]{48})/.exec(server.stderr)?.[1] ?? '';
    await place.file('copy.txt', `token ${token}\n`);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    );
    clients.push(client);
    const { text } = await callText(client, 'read_file', { path: 'copy.txt' });
    expect(text).toContain('token');
    expect(text).not.toContain(token);
  });

  it('listens at another address only with a token of the operator, of some length', async () => {
    const open = await odek(place, ['mcp', '--http', '--host', '0.0.0.0']);
    expect([open.code, open.stderr]).toEqual([3, expect.stringContaining('set ODEK_MCP_TOKEN')]);
    const short = await odek(place, ['mcp', '--http', '--token-env', 'SHORT'], { env: { SHORT: 'short' } });
    expect([short.code, short.stderr]).toEqual([3, expect.stringContaining('it needs 16 or more')]);
    const missing = await odek(place, ['mcp', '--http', '--token-env', 'NOWHERE']);
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('NOWHERE')]);
  });
});

describe('the inspector on the command line', () => {
  it('lists the tools over standard input and output and finds no fault in their schemas', PATIENT, async () => {
    const { code, stdout, stderr } = await inspect(['--method', 'tools/list', '--strict', '--', process.execPath, ENTRY, 'mcp']);
    expect([code, stderr.includes('rror')]).toEqual([0, false]);
    expect((JSON.parse(stdout) as { tools: { name: string }[] }).tools.map(({ name }) => name)).toContain('read_file');
  });

  it('calls a tool over standard input and output, and over HTTP', PATIENT, async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=notes.txt'];
    const local = await inspect([...call, '--', process.execPath, ENTRY, 'mcp']);
    expect([local.code, local.stdout]).toEqual([0, expect.stringContaining('first line')]);
    const { url } = await startHttp();
    const remote = await inspect([url, '--header', `Authorization: Bearer ${TOKEN}`, ...call]);
    expect([remote.code, remote.stdout]).toEqual([0, expect.stringContaining('first line')]);
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENTRY, odek } from './support/odek.ts';
import { createPlace, type Place } from './support/place.ts';

const CHANGING = fileURLToPath(new URL('support/mcp-server.mjs', import.meta.url));
const SERVER = fileURLToPath(new URL('../../docs/examples/extension-server/server.mjs', import.meta.url));

let place: Place;
let client: Client | undefined;
let artifacts: string;

beforeEach(async () => {
  place = await createPlace();
  artifacts = join(place.home, 'artifacts');
  await mkdir(artifacts);
});

afterEach(async () => {
  await client?.close();
  client = undefined;
  await place.remove();
});

const reference = (more: object = {}) => ({
  mcp_servers: { ref: { command: process.execPath, args: [SERVER, '--artifacts', artifacts], artifact_roots: [artifacts], ...more } },
});

async function connect(env: Readonly<Record<string, string>> = {}): Promise<Client> {
  client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [ENTRY, 'mcp'],
      cwd: place.work,
      env: { ...place.env, ...env },
      stderr: 'ignore',
    }),
  );
  return client;
}

async function textOf(name: string, input: Record<string, unknown> = {}): Promise<string> {
  const result = await client?.callTool({ name, arguments: input });
  return `${result?.isError === true ? 'error: ' : ''}${JSON.stringify(result?.content)}`;
}

describe('servers behind odek mcp', () => {
  it('are offered through it under their name, with the checks of their results', async () => {
    await place.configure(reference());
    const connected = await connect({ ODEK_APPROVE_MCP: '1' });
    const names = (await connected.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['read_file', 'ref__echo', 'ref__artifact_result', 'ref__slow']));
    expect(await textOf('ref__echo', { text: 'good day' })).toMatch(/^\[.*source=\\"mcp:ref:echo\\".*good day/);
    const artifact = await textOf('ref__artifact_result');
    expect(artifact).toContain('[artifact report-1 · text/plain · 18893 bytes');
    expect(artifact).not.toContain(artifacts);
    expect(await textOf('artifact_read', { id: 'report-1' })).toContain('line 1999');
    expect(await textOf('ref__bad_artifact')).toMatch(/^error: .*SHA-256/);
    expect(await textOf('ref__error_result')).toMatch(/^error: .*this tool always fails/);
  });

  it('are left out tool by tool where nobody approved them, and follow the filter', async () => {
    await place.configure(reference());
    expect((await (await connect()).listTools()).tools.filter(({ name }) => name.startsWith('ref__'))).toEqual([]);
    await client?.close();
    await place.configure({ ...reference(), tools: { enabled: ['ref__echo'] } });
    expect((await (await connect({ ODEK_APPROVE_MCP: '1' })).listTools()).tools.map(({ name }) => name)).toEqual(['ref__echo']);
  });

  it('are listed anew when one of them changes its tools, and the client is told', async () => {
    const tool = (name: string) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties: {} } });
    const toolsFile = join(place.home, 'tools.json');
    await writeFile(toolsFile, JSON.stringify([tool('become'), tool('first')]));
    const args = [CHANGING, toolsFile, join(place.home, 'pids')];
    await place.configure({ mcp_servers: { live: { command: process.execPath, args, auto_approve: true } } });
    const connected = await connect();
    let told = 0;
    connected.setNotificationHandler('notifications/tools/list_changed', () => {
      told += 1;
    });
    const offered = async (): Promise<string[]> =>
      (await connected.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith('live__'));
    expect(await offered()).toEqual(['live__become', 'live__first']);
    await textOf('live__become', { tools: [tool('become'), tool('second')] });
    await expect.poll(() => told, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect.poll(offered, { timeout: 10_000 }).toEqual(['live__become', 'live__second']);
    expect(await textOf('live__second')).toContain('second says {}');
    await expect(connected.callTool({ name: 'live__first', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  });

  it('end the start when one does not come up, with nothing on standard output', async () => {
    await place.configure(reference({ command: join(place.home, 'nothing') }));
    const { code, stdout, stderr } = await odek(place, ['mcp'], { env: { ODEK_APPROVE_MCP: '1' } });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('an MCP server did not start');
  });
});

describe('odek extension check', () => {
  const check = (args: readonly string[]) => odek(place, ['extension', 'check', ...args]);
  const server = ['--', process.execPath, SERVER, '--artifacts'];

  it('passes the reference server, a line for each rule with its section, and exits with 0', async () => {
    const { code, stdout } = await check(['--artifact-root', artifacts, ...server, artifacts]);
    expect(code, stdout).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.at(-1)).toMatch(/^\d+ passed, 0 failed, 0 skipped$/);
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^pass {2}.* \(docs\/extensions\.md#[a-z-]+\)$/);
  });

  it('exits with 1 and says why when a rule is broken', async () => {
    const { code, stdout } = await check(['--artifact-root', place.state, ...server, artifacts]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}refers to files by the rules.*\n {6}artifact_result: .*outside the artifact roots/m);
  });

  it('prints one object with --json, and calls what --call names', async () => {
    const { code, stdout } = await check([
      '--json',
      '--call',
      'echo',
      '--arguments',
      '{"text":"x"}',
      '--artifact-root',
      artifacts,
      ...server,
      artifacts,
    ]);
    const report = JSON.parse(stdout) as { ok: boolean; lines: { id: string; verdict: string }[] };
    expect([code, report.ok]).toEqual([0, true]);
    expect(report.lines.find(({ id }) => id === 'envelope')?.verdict).toBe('skip');
  });

  it('says what is missing or wrong in its arguments', async () => {
    expect(await check([])).toMatchObject({ code: 3, stderr: expect.stringContaining('which server?') });
    expect(await check(['--call', 'x', '--arguments', '[1]', '--', 'cat'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('JSON object'),
    });
    expect(await check(['--call', 'x', '--arguments', '{', '--', 'cat'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('not JSON'),
    });
  });
});

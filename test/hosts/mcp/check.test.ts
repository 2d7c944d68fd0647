import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { checkExtension } from '../../../hosts/mcp/check/contract.ts';
import type { CheckOptions, Line } from '../../../hosts/mcp/check/line.ts';

const SERVER = fileURLToPath(new URL('../../../docs/examples/extension-server/server.mjs', import.meta.url));

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-check-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function check(file: string, options: Partial<CheckOptions> = {}, args: readonly string[] = []): Promise<readonly Line[]> {
  return checkExtension({
    command: process.execPath,
    args: [file, ...args],
    cwd: folder,
    env: process.env,
    artifactRoots: [folder],
    validator: createSchemaValidator(),
    signal: new AbortController().signal,
    ...options,
  });
}

const idsOf = (lines: readonly Line[], verdict: Line['verdict']): string[] =>
  lines.filter((line) => line.verdict === verdict).map(({ id }) => id);

/** A server by hand: replies to each method, as JavaScript, with everything else as it should be. */
async function broken(replies: Readonly<Record<string, string>>, more = ''): Promise<string> {
  const right: Record<string, string> = {
    initialize: `{ protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }`,
    ping: '{}',
    'tools/list': '{ tools: [TOOL] }',
    'tools/call': `{ content: [{ type: 'text', text: 'ok' }], isError: params.name !== 'echo' }`,
  };
  const table = Object.entries({ ...right, ...replies }).map(([method, reply]) => `${JSON.stringify(method)}: (params, id) => (${reply}),`);
  const file = join(folder, 'broken.mjs');
  await writeFile(
    file,
    `const TOOL = { name: 'echo', description: 'Echoes', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
    const write = (text) => process.stdout.write(text + '\\n');
    const REPLIES = { ${table.join('\n')} };
    const CONFIG = { ending: /\\n/, strict: false };
    ${more}
    let rest = '';
    process.stdin.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split(CONFIG.ending);
      rest = lines.pop();
      for (const line of lines) {
        if (line.trim() === '') continue;
        let message;
        try { message = JSON.parse(line); } catch { if (CONFIG.strict) process.exit(0); continue; }
        if (message.id === undefined) continue;
        const reply = REPLIES[message.method];
        if (reply === undefined) write(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } }));
        else {
          const result = reply(message.params ?? {}, message.id);
          if (result !== undefined) write(JSON.stringify({ jsonrpc: '2.0', id: CONFIG.id ? CONFIG.id(message.id) : message.id, result }));
        }
      }
    });`,
  );
  return file;
}

describe('the check of an extension server', () => {
  it('passes the reference server in every line', async () => {
    const lines = await check(SERVER, {}, ['--artifacts', folder]);
    expect(idsOf(lines, 'fail')).toEqual([]);
    expect(idsOf(lines, 'skip')).toEqual([]);
    expect(lines.length).toBeGreaterThanOrEqual(25);
  });

  it('finds no fault with references where no folder was named for them, and says so', async () => {
    const lines = await check(SERVER, { artifactRoots: [] }, ['--artifacts', folder]);
    expect(idsOf(lines, 'fail')).toEqual([]);
    expect(idsOf(lines, 'skip')).toEqual(['envelope', 'envelope.refused']);
    expect(lines.find(({ id }) => id === 'envelope')?.detail).toContain('--artifact-root');
  });

  it('passes a server with a single tool, and says what it could not look at', async () => {
    const lines = await check(await broken({}));
    expect(idsOf(lines, 'fail')).toEqual([]);
    expect(idsOf(lines, 'skip')).toEqual(['results.error', 'results.large', 'envelope', 'envelope.refused', 'cancel']);
  });

  const name = (text: string): Record<string, string> => ({
    'tools/list': `{ tools: [TOOL, { ...TOOL, name: ${JSON.stringify(text)} }] }`,
  });
  const cases: readonly [id: string, what: string, replies: Readonly<Record<string, string>>, more?: string][] = [
    ['handshake', 'a handshake without a server name', { initialize: `{ protocolVersion: '2025-03-26', capabilities: { tools: {} } }` }],
    [
      'handshake',
      'a handshake with an unknown version',
      { initialize: `{ protocolVersion: '1', capabilities: { tools: {} }, serverInfo: {} }` },
    ],
    ['listing', 'pages without an end', { 'tools/list': `{ tools: [TOOL], nextCursor: 'again' }` }],
    ['listing', 'no tools at all', { 'tools/list': '{ tools: [] }' }],
    ['names', 'a name with two underscores', name('a__b')],
    ['names', 'a name with a space', name('a b')],
    ['names.once', 'one name twice', name('echo')],
    ['descriptions', 'a tool without a description', { 'tools/list': `{ tools: [{ ...TOOL, description: '' }] }` }],
    ['schemas', 'a schema that is no object', { 'tools/list': `{ tools: [{ ...TOOL, inputSchema: { type: 'array' } }] }` }],
    [
      'schemas',
      'a schema with a broken pattern',
      { 'tools/list': `{ tools: [{ ...TOOL, inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } }] }` },
    ],
    ['ping', 'a ping that says more', { ping: '{ pong: true }' }],
    ['requests.unknown', 'a result for an unknown method', {}, `REPLIES['odek/no-such-method'] = () => ({});`],
    ['requests.tool', 'a result for an unknown tool', { 'tools/call': `{ content: [] }` }],
    [
      'calls.unknown-arguments',
      'a refusal of unknown arguments',
      { 'tools/call': `{ content: [], isError: params.name !== 'echo' || 'odek_unknown' in params.arguments }` },
    ],
    [
      'notifications',
      'an answer to a notification',
      {},
      `process.stdin.on('data', (t) => { if (String(t).includes('odek_unknown"') && String(t).includes('notifications')) write('{"jsonrpc":"2.0","id":"stray","result":{}}'); });`,
    ],
    ['framing.crlf', 'a frame that is lost when it ends with CRLF', {}, `CONFIG.ending = /(?<!\\r)\\n/;`],
    ['framing.separators', 'lines split at other separators', {}, `CONFIG.ending = /[\\n\\u2028\\u2029\\u0085]/;`],
    ['framing.garbage', 'an end at the first line that is no JSON', {}, 'CONFIG.strict = true;'],
    ['requests.id', 'ids that become numbers', {}, 'CONFIG.id = (id) => Number.parseInt(id) || 0;'],
    ['stdout', 'words on standard output', {}, `write('listening…');`],
    ['stderr', 'a flood on standard error', {}, `process.stderr.write('x'.repeat(2 * 1024 * 1024));`],
    [
      'results.error',
      'a failure that is not told',
      {
        'tools/list': `{ tools: [TOOL, { ...TOOL, name: 'error_result' }] }`,
        'tools/call': `{ content: [], isError: !['echo', 'error_result'].includes(params.name) }`,
      },
    ],
    [
      'cancel',
      'a server that does one thing at a time',
      { 'tools/list': `{ tools: [TOOL, { ...TOOL, name: 'slow' }] }` },
      `const before = REPLIES['tools/call']; REPLIES['tools/call'] = (params) => { if (params.name === 'slow') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500); return before(params); };`,
    ],
    [
      'limits',
      'a line over 10 MiB',
      {
        'tools/list': `{ tools: [TOOL, { ...TOOL, name: 'error_result' }] }`,
        'tools/call': `params.name === 'error_result' ? (write(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { a: 'x'.repeat(11 * 1024 * 1024) } })), { content: [], isError: true }) : { content: [], isError: params.name !== 'echo' }`,
      },
    ],
    ['end', 'a process that stays when its input ends', {}, 'setInterval(() => {}, 1000);'],
    ['end', 'an exit code', {}, `process.stdin.on('end', () => process.exit(7));`],
  ];

  it.each(cases)('fails %s for %s', async (id, _what, replies, more) => {
    const lines = await check(await broken(replies, more), { patienceMs: 1_000 });
    const line = lines.find((each) => each.id === id);
    expect(line?.verdict, JSON.stringify(lines, undefined, 1)).toBe('fail');
    expect(line?.detail).not.toBe('');
  });

  it.each([
    ['outside of the roots', `{ schema: 'odek.artifact-ref/v1', id: 'a', uri: 'file:///etc/passwd', media_type: 'text/plain' }`],
    [
      'that has a digest of other bytes',
      `{ schema: 'odek.artifact-ref/v1', id: 'a', uri: 'file://' + process.cwd() + '/broken.mjs', media_type: 'text/plain', sha256: '0'.repeat(64) }`,
    ],
    ['without a media type', `{ schema: 'odek.artifact-ref/v1', id: 'a', uri: 'file://' + process.cwd() + '/broken.mjs' }`],
    ['over another scheme', `{ schema: 'odek.artifact-ref/v1', id: 'a', uri: 'https://example.test/a', media_type: 'text/plain' }`],
  ])('fails envelope for an artifact %s', async (_what, ref) => {
    const text = `JSON.stringify({ schema: 'odek.tool-result/v1', text: 'x', artifacts: [${ref}] })`;
    const lines = await check(
      await broken({ 'tools/call': `{ content: [{ type: 'text', text: ${text} }], isError: params.name !== 'echo' }` }),
      {
        call: { tool: 'echo', input: {} },
      },
    );
    expect(lines.find(({ id }) => id === 'envelope')?.verdict).toBe('fail');
  });

  it('fails the handshake for a command that is not there, and ends', async () => {
    const lines = await check('x', { command: join(folder, 'nothing') });
    expect(lines.find(({ id }) => id === 'handshake')).toMatchObject({ verdict: 'fail', detail: expect.stringContaining('ENOENT') });
  });

  it('has a section of the page of the contract for each line', async () => {
    const page = await readFile(new URL('../../../docs/extensions.md', import.meta.url), 'utf8');
    const anchors = new Set(
      [...page.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        (title ?? '')
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-'),
      ),
    );
    const lines = await check(SERVER, {}, ['--artifacts', folder]);
    expect(lines.map(({ section }) => section).filter((section) => !anchors.has(section))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { CANONICAL_MCP_SCHEMA } from '../../../core/bundles/manifest.ts';
import { parseMcpFile, withPlaces } from '../../../core/bundles/mcp-file.ts';

const strict = { mcpSchemas: [CANONICAL_MCP_SCHEMA], lenient: false, hasFile: (path: string) => path === 'bin/server' };
const file = (servers: unknown, more: object = {}): string =>
  JSON.stringify({ $schema: CANONICAL_MCP_SCHEMA, mcpServers: servers, ...more });
const GOOD = { type: 'stdio', command: 'node' };

describe('mcp.json', () => {
  it('gives each kind of server that odek speaks', () => {
    const { servers, problems } = parseMcpFile(
      file({
        local: {
          type: 'stdio',
          command: './bin/server',
          args: [`\${PLUGIN_DATA}/x`],
          env: { A: `\${PLUGIN_ROOT}` },
          cwd: `\${PLUGIN_DATA}/work`,
        },
        bare: GOOD,
        remote: { type: 'streamable-http', url: 'https://mcp.example.com/mcp', headers: {} },
        loop: { type: 'streamable-http', url: 'http://127.0.0.1:8080/mcp' },
      }),
      strict,
    );
    expect(problems).toEqual([]);
    expect(servers).toEqual([
      {
        name: 'local',
        transport: 'stdio',
        command: './bin/server',
        args: [`\${PLUGIN_DATA}/x`],
        env: { A: `\${PLUGIN_ROOT}` },
        cwd: `\${PLUGIN_DATA}/work`,
      },
      { name: 'bare', transport: 'stdio', command: 'node', args: [], env: {}, cwd: './' },
      { name: 'remote', transport: 'http', url: 'https://mcp.example.com/mcp' },
      { name: 'loop', transport: 'http', url: 'http://127.0.0.1:8080/mcp' },
    ]);
  });

  it.each<[string, string, string]>([
    ['no JSON', '{', 'it is not JSON'],
    ['a list', '[]', 'must be an object'],
    ['no schema', JSON.stringify({ mcpServers: {} }), '$schema must be'],
    [
      'a schema of another version',
      JSON.stringify({ $schema: 'https://agent-plugins.org/schemas/1.1.0/mcp.schema.json', mcpServers: {} }),
      '$schema must be',
    ],
    ['another field', file({}, { inputs: [] }), 'has the field "inputs"'],
    ['servers that are a list', file([]), 'mcpServers must be an object'],
    ['65 servers', file(Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`s${at}`, GOOD]))), 'has 65 servers, the limit is 64'],
  ])('is left out as a whole for %s', (_, text, told) => {
    const { servers, problems } = parseMcpFile(text, strict);
    expect(servers).toEqual([]);
    expect(problems).toEqual([expect.objectContaining({ severity: 'disabled', where: 'mcp.json', text: expect.stringContaining(told) })]);
  });

  it.each<[string, unknown, string]>([
    ['is no object', 'npx', 'must be an object'],
    ['has no type', { command: 'node' }, 'type must be'],
    ['has an unknown type', { type: 'websocket', url: 'wss://x' }, 'type must be'],
    ['has a field of the other kind', { ...GOOD, url: 'https://x' }, 'has the field "url"'],
    ['has no command', { type: 'stdio' }, 'command must be a text'],
    ['has a command line as its command', { ...GOOD, command: 'npx server' }, 'bare name'],
    ['has an absolute command', { ...GOOD, command: '/bin/sh' }, 'bare name'],
    ['has a placeholder as its command', { ...GOOD, command: `\${PLUGIN_ROOT}/x` }, 'bare name'],
    ['leads out', { ...GOOD, command: './../x' }, 'leads out'],
    ['starts a file that is not there', { ...GOOD, command: './bin/other' }, 'has no file'],
    ['has arguments that are a text', { ...GOOD, args: 'x' }, 'args must be'],
    ['has 65 arguments', { ...GOOD, args: Array.from({ length: 65 }, () => 'x') }, 'args must be'],
    ['has an argument with NUL', { ...GOOD, args: ['\0'] }, 'args must be'],
    ['has a variable that is a number', { ...GOOD, env: { A: 1 } }, 'env must be'],
    ['sets a variable of odek', { ...GOOD, env: { PLUGIN_ROOT: '/' } }, 'env sets PLUGIN_ROOT'],
    ['sets it in other letters', { ...GOOD, env: { plugin_data: '/' } }, 'env sets plugin_data'],
    ['works in an absolute folder', { ...GOOD, cwd: '/tmp' }, 'cwd must begin'],
    ['works in a relative folder without ./', { ...GOOD, cwd: 'data' }, 'cwd must begin'],
    ['works outside', { ...GOOD, cwd: './../x' }, 'leads out'],
    ['works outside of its data', { ...GOOD, cwd: `\${PLUGIN_DATA}/../x` }, 'leads out'],
    ['works in a folder that only begins alike', { ...GOOD, cwd: `\${PLUGIN_ROOT}x` }, 'cwd must begin'],
    ['has no url', { type: 'streamable-http' }, 'url must be'],
    ['has a relative url', { type: 'streamable-http', url: '/mcp' }, 'url must be'],
    ['has a url of another scheme', { type: 'streamable-http', url: 'ftp://x' }, 'http or https'],
    ['has a user in its url', { type: 'streamable-http', url: 'https://a:b@x.example' }, 'neither a user'],
    ['has a fragment', { type: 'streamable-http', url: 'https://x.example/#' }, 'fragment'],
    ['is reached in the clear', { type: 'streamable-http', url: 'http://x.example' }, 'must be https'],
    ['only looks like this machine', { type: 'streamable-http', url: 'http://127.0.0.1.evil.example' }, 'must be https'],
    ['sets headers', { type: 'streamable-http', url: 'https://x.example', headers: { 'X-A': 'b' } }, 'sets headers'],
    ['speaks the old transport', { type: 'sse', url: 'https://x.example' }, 'old HTTP+SSE'],
  ])('leaves out a server that %s, and keeps its neighbour', (_, server, told) => {
    const { servers, problems } = parseMcpFile(file({ bad: server, good: GOOD }), strict);
    expect(servers.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toEqual([
      expect.objectContaining({ severity: 'disabled', where: 'mcp.json: "bad"', text: expect.stringContaining(told) }),
    ]);
  });

  it.each(['', 'a b', 'a__b', 'x'.repeat(65), 'a/b'])('leaves out a server called %j', (name) => {
    expect(parseMcpFile(file({ [name]: GOOD }), strict).servers).toEqual([]);
  });

  it('may lack schema and type in a bundle of the reference host, and there alone', () => {
    const text = JSON.stringify({
      mcpServers: { a: { command: 'node', extensions: { 'net.codewhale': {} } }, b: { url: 'https://x.example' } },
    });
    expect(parseMcpFile(text, { ...strict, lenient: true }).servers.map(({ transport }) => transport)).toEqual(['stdio', 'http']);
    expect(parseMcpFile(text, strict).servers).toEqual([]);
  });

  it('has its placeholders replaced once, and nothing else', () => {
    const places = { root: `\${PLUGIN_DATA}`, data: '/data' };
    expect(withPlaces(`\${PLUGIN_ROOT}:\${PLUGIN_DATA}:\${HOME}:$PLUGIN_ROOT`, places)).toBe(`\${PLUGIN_DATA}:/data:\${HOME}:$PLUGIN_ROOT`);
  });
});

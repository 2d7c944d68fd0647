// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of configuration files hold such references.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const operator = (mcp_servers: object) => home.global({ mcp_servers });
const project = (mcp_servers: object) => home.project({ mcp_servers });
const servers = async (env: Record<string, string> = {}) => (await home.load({ env })).config.mcp_servers;
const warnings = async () => (await home.load()).warnings.filter((text) => text.includes('mcp_servers'));

describe('an entry', () => {
  it('says what a login has to know beforehand, which a project cannot, and hides the secret', async () => {
    const oauth = { oauth_client_id: 'mine', oauth_secret_env: 'MCP_CLIENT', oauth_scopes: ['read', 'write'], oauth_port: 7777 };
    await operator({ a: { url: 'https://mcp.example.com/rpc', ...oauth } });
    await project({ b: { url: 'https://other.example.com/rpc', ...oauth } });
    const { config, warnings: told } = await home.load({ env: { MCP_CLIENT: 'hunter2222' } });
    expect(config.mcp_servers.a?.oauth).toEqual({ client_id: 'mine', client_secret: 'hunter2222', scopes: ['read', 'write'], port: 7777 });
    expect(config.mcp_servers.b?.oauth).toBeUndefined();
    expect(told.filter((text) => text.includes('a project cannot set it'))).toHaveLength(4);
    expect(config.secrets).toContain('hunter2222');
  });

  it.each([
    ['oauth_client_id', 'with blank', /printable characters/],
    ['oauth_secret_env', 'CLIENT', /begins with MCP_/],
    ['oauth_scopes', ['with blank'], /a scope/],
    ['oauth_port', 80, /1024/],
  ])('is refused for a wrong %s', async (key, value, text) => {
    await operator({ a: { url: 'https://mcp.example.com/rpc', [key]: value } });
    await expect(servers()).rejects.toThrow(text);
  });

  it('has the documented defaults', async () => {
    await operator({ files: { command: 'npx', args: ['-y', 'server'] } });
    expect(await servers()).toEqual({
      files: {
        origin: 'operator',
        command: 'npx',
        args: ['-y', 'server'],
        env: {},
        stripped_env: [],
        protocol: '2025-03-26',
        timeout_seconds: 30,
        max_response_bytes: 10 * 1024 * 1024,
        max_result_chars: 200_000,
        artifact_roots: [],
        auto_approve: false,
        approve: 'register',
      },
    });
    expect(await warnings()).toEqual([]);
  });

  it('is read from a block that another program wrote, as it is', async () => {
    await home.global({
      mcpServers: {
        playwright: { type: 'stdio', command: 'npx', args: ['@playwright/mcp@latest'], env: {}, disabled: false, autoApprove: ['x'] },
        remote: { type: 'http', url: 'https://mcp.example.com/rpc?team=1' },
      },
    });
    const { config, warnings: told } = await home.load();
    expect(Object.keys(config.mcp_servers)).toEqual(['playwright', 'remote']);
    expect(config.mcp_servers.remote).toMatchObject({ url: 'https://mcp.example.com/rpc?team=1', protocol: 'auto', args: [], env: {} });
    expect(config.mcp_servers.playwright).toMatchObject({ auto_approve: false });
    expect(told).toEqual([]);
  });

  it('cannot stand under both names in one file', async () => {
    await home.global({ mcp_servers: {}, mcpServers: {} });
    await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value', message: expect.stringContaining('has both') });
  });

  it('may be in the operator’s file under one name and in the project’s under the other', async () => {
    await home.global({ mcpServers: { a: { command: 'a' } } });
    await project({ b: { command: 'b' } });
    expect(Object.entries(await servers()).map(([name, { origin }]) => [name, origin])).toEqual([
      ['a', 'operator'],
      ['b', 'project'],
    ]);
  });

  it.each([
    ['a name of two underscores', { a__b: { command: 'x' } }, 'without "__"'],
    ['a name with a dot', { 'a.b': { command: 'x' } }, 'letters, digits'],
    ['a name of 65 characters', { ['n'.repeat(65)]: { command: 'x' } }, '1 to 64'],
    ['an empty command', { a: { command: ' ' } }, 'mcp_servers.a.command'],
    ['a command with NUL', { a: { command: 'x\0y' } }, 'without NUL'],
    ['arguments that are no list', { a: { command: 'x', args: '-y' } }, 'mcp_servers.a.args'],
    ['an argument that is a number', { a: { command: 'x', args: [1] } }, 'mcp_servers.a.args'],
    ['a variable that is a number', { a: { command: 'x', env: { PORT: 1 } } }, 'mcp_servers.a.env'],
    ['a variable with = in its name', { a: { command: 'x', env: { 'A=B': '1' } } }, 'mcp_servers.a.env'],
    ['a time limit of one and a half seconds', { a: { command: 'x', timeout_seconds: 1.5 } }, 'whole number from 1 to 3600'],
    ['messages over 64 MiB', { a: { command: 'x', max_response_bytes: 67_108_865 } }, '67108864'],
    ['a relative artifact folder', { a: { command: 'x', artifact_roots: ['out'] } }, 'absolute'],
    ['an address of another kind', { a: { url: 'ftp://example.com/' } }, 'http or https'],
    ['an address without a host', { a: { url: '/rpc' } }, 'absolute'],
    ['an address with a fragment', { a: { url: 'https://example.com/#x' } }, 'fragment'],
    ['a token of another name', { a: { url: 'https://example.com/', token_env: 'OPENAI_API_KEY' } }, 'MCP_'],
    ['a token in lower case', { a: { url: 'https://example.com/', token_env: 'MCP_token' } }, 'MCP_'],
    ['a version that is none', { a: { command: 'x', protocol: '1.0' } }, '2025-03-26'],
    ['another way to approve', { a: { command: 'x', approve: 'never' } }, 'register'],
  ])('is refused for %s', async (_, block, said) => {
    await operator(block);
    await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value', message: expect.stringContaining(said) });
  });

  it('is refused for an address with a password, which is not told', async () => {
    await operator({ a: { url: 'https://me:hunter22@example.com/' } });
    await expect(home.load()).rejects.toMatchObject({ message: expect.not.stringContaining('hunter22') });
  });

  it('is held within its bounds where a bound clamps, with a warning', async () => {
    await operator({ a: { command: 'x', timeout_seconds: 4000, max_result_chars: 2_000_000 } });
    expect(await servers()).toMatchObject({ a: { timeout_seconds: 3600, max_result_chars: 1_000_000 } });
    expect(await warnings()).toEqual([
      expect.stringContaining('mcp_servers.a.timeout_seconds 4000 is over the greatest value; 3600 counts'),
      expect.stringContaining('mcp_servers.a.max_result_chars 2000000 is over the greatest value; 1000000 counts'),
    ]);
  });

  it('is raised to what the notice of a cut needs', async () => {
    await operator({ a: { command: 'x', max_result_chars: 10 } });
    const { a } = await servers();
    expect(a?.max_result_chars).toBeGreaterThan(300);
    expect(a?.max_result_chars).toBeLessThan(500);
    expect(await warnings()).toEqual([expect.stringContaining('mcp_servers.a.max_result_chars 10 has no room')]);
  });

  it('drops blank artifact folders and keeps the others', async () => {
    await operator({ a: { command: 'x', artifact_roots: ['', '  ', '/var/out'] } });
    expect(await servers()).toMatchObject({ a: { artifact_roots: ['/var/out'] } });
  });

  it('means an address where both are given, and nothing of the command', async () => {
    await operator({ a: { url: 'https://example.com/rpc', command: 'x', args: ['y'], env: { A: 'b' } } });
    const { a } = await servers();
    expect(a).toMatchObject({ url: 'https://example.com/rpc', args: [], env: {} });
    expect(a).not.toHaveProperty('command');
  });

  it('is off where it says so, in either spelling', async () => {
    await operator({ a: { command: 'x', enabled: false }, b: { command: 'x', disabled: true } });
    expect(await servers()).toEqual({});
  });

  it('says what to do about headers, which are not sent', async () => {
    await operator({ a: { url: 'https://example.com/', headers: { Authorization: 'Bearer hunter22' } } });
    expect(await warnings()).toEqual([expect.stringMatching(/a\.headers is ignored: a bearer token goes into token_env/)]);
  });

  it.each(['httpUrl', 'serverUrl'])('has its address also where another program calls it %s', async (key) => {
    await operator({ a: { [key]: 'https://example.com/rpc' } });
    expect(await servers()).toMatchObject({ a: { url: 'https://example.com/rpc', protocol: 'auto' } });
    await project({ b: { [key]: 'https://name:word@example.com/rpc' } });
    await expect(servers()).rejects.toThrow('mcp_servers.b.url');
  });

  it.each([
    ['cwd', '/srv', 'runs in the folder that odek is started in'],
    ['timeout', 60_000, 'timeout_seconds'],
    ['excludeTools', ['rm'], 'tools.disabled'],
  ])('says what to do about %s, which does nothing here', async (key, value, told) => {
    await operator({ a: { command: 'x', [key]: value } });
    expect(await warnings()).toEqual([expect.stringMatching(new RegExp(`mcp_servers\\.a\\.${key} is ignored: .*${told}`))]);
  });

  it('is refused when the value is no object', async () => {
    await operator({ a: 'npx' });
    await expect(home.load()).rejects.toMatchObject({ message: expect.stringContaining('mcp_servers.a must be an object') });
  });
});

describe('references and secrets', () => {
  it('are replaced in command, arguments and address, and never in env', async () => {
    await operator({ a: { command: '${TOOLS}/x', args: ['$TOOLS'], env: { WHERE: '${TOOLS}' } }, b: { url: 'https://${HOST}/' } });
    const { a, b } = await servers({ TOOLS: '/opt', HOST: 'example.com' });
    expect(a).toMatchObject({ command: '/opt/x', args: ['/opt'], env: { WHERE: '${TOOLS}' } });
    expect(b).toMatchObject({ url: 'https://example.com/' });
  });

  it('removes every variable whose name says secret, keeps the names, and knows the values as secrets', async () => {
    const names = ['GITHUB_TOKEN', 'my-api-key', 'Db_Passwd', 'AWS_ACCESS_KEY_ID', 'X_PRIVATE-KEY', 'SESSION_COOKIE', 'HTTP_AUTHORIZATION'];
    const env = { ...Object.fromEntries(names.map((name) => [name, 'hunter22'])), LOG_LEVEL: 'debug', GONE: '' };
    await operator({ a: { command: 'x', env } });
    const { config } = await home.load();
    expect(config.mcp_servers.a).toMatchObject({ env: { LOG_LEVEL: 'debug', GONE: '' }, stripped_env: names });
    expect(config.secrets).toContain('hunter22');
  });

  it('takes a token from secrets.env or the environment and knows it as a secret', async () => {
    await home.secrets('MCP_FILED=from-the-file\n');
    await operator({ a: { url: 'https://a.example/', token_env: 'MCP_FILED' }, b: { url: 'https://b.example/', token_env: 'MCP_SET' } });
    const { config } = await home.load({ env: { MCP_SET: 'from-the-environment' } });
    expect(config.mcp_servers).toMatchObject({ a: { token: 'from-the-file' }, b: { token: 'from-the-environment' } });
    expect(config.secrets).toEqual(expect.arrayContaining(['from-the-file', 'from-the-environment']));
  });

  it('warns of a token that is not there', async () => {
    await operator({ a: { url: 'https://a.example/', token_env: 'MCP_NOWHERE' } });
    expect(await warnings()).toEqual([expect.stringContaining('token_env names MCP_NOWHERE, which is not set')]);
  });

  it('lets a project name no variable that holds a secret', async () => {
    await home.secrets('PRIVATE_THING=hunter22\n');
    await project({ a: { command: 'x', args: ['${PRIVATE_THING}'] } });
    expect(await servers()).toMatchObject({ a: { args: [''] } });
  });
});

describe('a project', () => {
  it('cannot approve its own servers or change how they are approved', async () => {
    await project({ a: { command: 'x', auto_approve: true, approve: 'call' } });
    expect(await servers()).toMatchObject({ a: { origin: 'project', auto_approve: false, approve: 'register' } });
    expect(await warnings()).toEqual([
      expect.stringContaining('mcp_servers.a.auto_approve is ignored: a project cannot set it'),
      expect.stringContaining('mcp_servers.a.approve is ignored: a project cannot set it'),
    ]);
  });

  it.each([
    ['command', { command: 'evil' }],
    ['args', { args: ['other'] }],
    ['env', { env: { A: '2' } }],
    ['timeout_seconds', { timeout_seconds: 60 }],
    ['max_response_bytes', { max_response_bytes: 2048 }],
    ['max_result_chars', { max_result_chars: 5000 }],
    ['artifact_roots', { artifact_roots: ['/tmp'] }],
  ])('that changes the %s of an operator’s server loses its auto_approve', async (_, change) => {
    const entry = { command: 'good', args: ['one'], env: { A: '1' } };
    await operator({ a: { ...entry, auto_approve: true } });
    await project({ a: { ...entry, ...change } });
    expect(await servers()).toMatchObject({ a: { origin: 'project', auto_approve: false } });
    expect(await warnings()).toEqual([expect.stringContaining("mcp_servers.a replaces the operator's")]);
  });

  it('that repeats an operator’s server exactly leaves it the operator’s', async () => {
    await operator({ a: { command: 'good', args: ['one'], auto_approve: true } });
    await project({ a: { command: 'good', args: ['one'] } });
    expect(await servers()).toMatchObject({ a: { origin: 'operator', auto_approve: true } });
    expect(await warnings()).toEqual([]);
  });

  it('cannot take away the question at each call that the operator wants for a name', async () => {
    await operator({ a: { command: 'good', approve: 'call' } });
    await project({ a: { command: 'other' } });
    expect(await servers()).toMatchObject({ a: { origin: 'project', approve: 'call' } });
  });

  it('may turn a server off and not on', async () => {
    await operator({ a: { command: 'x' }, b: { command: 'x', enabled: false } });
    await project({ a: { enabled: false }, b: { command: 'x' } });
    expect(await servers()).toEqual({});
    expect(await warnings()).toEqual([expect.stringContaining('mcp_servers.b stays off')]);
  });

  it('is not blessed by an operator’s entry without a command', async () => {
    await operator({ a: { auto_approve: true } });
    await project({ a: { command: 'x' } });
    expect(await servers()).toMatchObject({ a: { origin: 'project', auto_approve: false } });
    expect(await warnings()).toEqual([expect.stringContaining('mcp_servers.a is dropped: it has neither a command nor a url')]);
  });
});

import { describe, expect, it } from 'vitest';
import type { McpServerConfig } from '../../../hosts/config/types.ts';
import { mcpServerOf, strippedNote, targetOf } from '../../../hosts/mcp-client/servers.ts';

const CONFIG: McpServerConfig = {
  origin: 'operator',
  command: 'npx',
  args: ['-y', 'thing'],
  env: { A: 'b' },
  stripped_env: [],
  protocol: '2025-03-26',
  timeout_seconds: 30,
  max_response_bytes: 1024,
  max_result_chars: 5000,
  artifact_roots: ['/out'],
  auto_approve: false,
  approve: 'register',
};
const same = (text: string): string => text;

describe('a configured server', () => {
  it('runs in the working directory, with its times in milliseconds', () => {
    expect(mcpServerOf('a', CONFIG, '/work')).toEqual({
      name: 'a',
      origin: 'operator',
      transport: 'stdio',
      command: 'npx',
      args: ['-y', 'thing'],
      env: { A: 'b' },
      cwd: '/work',
      protocol: '2025-03-26',
      timeoutMs: 30_000,
      maxResponseBytes: 1024,
      maxResultChars: 5000,
      artifactRoots: ['/out'],
      autoApprove: false,
      approve: 'register',
    });
  });

  it('with an address has the name of its token variable and never the token', () => {
    const server = mcpServerOf('a', { ...CONFIG, url: 'https://a.example/', token_env: 'MCP_A', token: 'hunter2222' }, '/work');
    expect(server).toMatchObject({ transport: 'http', url: 'https://a.example/', tokenEnv: 'MCP_A' });
    expect(JSON.stringify(server)).not.toContain('hunter2222');
  });
});

describe('the target of a server', () => {
  const target = (args: readonly string[]): string => targetOf(mcpServerOf('a', { ...CONFIG, args }, '/'), same);

  it.each([
    [['--api-key', 'hunter2222', 'x'], 'npx --api-key (hidden) x'],
    [['--token=hunter2222'], 'npx --token=(hidden)'],
    [['--auth', '--verbose'], 'npx --auth --verbose'],
    [['-y', 'thing'], 'npx -y thing'],
  ])('hides what looks like a secret: %j', (args, expected) => {
    expect(target(args)).toBe(expected);
  });

  it('is shown without control characters and without its query', () => {
    expect(target(['a\u001b[2Jb\nc'])).toBe('npx a\\x1b[2Jb c');
    expect(targetOf(mcpServerOf('a', { ...CONFIG, url: 'https://a.example/rpc?key=hunter2222' }, '/'), same)).toBe(
      'https://a.example/rpc?…',
    );
  });

  it('goes through the redactor', () => {
    expect(targetOf(mcpServerOf('a', CONFIG, '/'), (text) => text.replace('thing', '[REDACTED]'))).toBe('npx -y [REDACTED]');
  });
});

describe('variables that a server does not get', () => {
  it('are named with the ways out', () => {
    expect(strippedNote('a', { stripped_env: ['GH_TOKEN', 'API_KEY'] })).toMatch(/"a" does not get GH_TOKEN, API_KEY: .*token_env/);
    expect(strippedNote('a', { stripped_env: [] })).toBeUndefined();
  });
});

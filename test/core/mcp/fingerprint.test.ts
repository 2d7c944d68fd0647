import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, framedHash, framedList, MAX_SCHEMA_DEPTH } from '../../../core/mcp/canonical.ts';
import { digestOf, executionFingerprint, serverApprovalKey, toolApprovalKey } from '../../../core/mcp/fingerprint.ts';
import type { McpHttpServer, McpServer, McpStdioServer } from '../../../ports/mcp.ts';
import { fakeMcpServer } from '../../fakes/mcp.ts';
import { definition, hash } from './fixture.ts';

const STDIO = fakeMcpServer({
  name: 'ci',
  command: 'npx',
  args: ['a', 'b'],
  env: { A: '1', B: '2' },
  artifactRoots: ['/art'],
}) as McpStdioServer;
const { command, args, env, cwd, ...common } = STDIO;
const HTTP: McpHttpServer = { ...common, transport: 'http', url: 'https://example.test/rpc', tokenEnv: 'MCP_T' };

/** The same value with its keys in another order, at every level. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reordered(member)]),
  );
}

describe('canonical JSON', () => {
  it('is the same whatever the order of keys, and means the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keeps a property called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":2}}'))).toBe('{"__proto__":{"x":2},"b":1}');
  });

  it('refuses what is nested too deeply, and survives what is nested as deeply as it may be', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
    expect(canonicalJson(nested(MAX_SCHEMA_DEPTH))).toContain('"a"');
    expect(() => canonicalJson(nested(MAX_SCHEMA_DEPTH + 1))).toThrow(
      expect.objectContaining({ code: 'mcp_definition_refused', limit: MAX_SCHEMA_DEPTH }),
    );
  });
});

describe('framed fields', () => {
  it('never collide: two different lists have two different hashes', () => {
    const field = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '\0', '1:', '"', '\ud800', '\ufffd', '2:"a"'));
    fc.assert(
      fc.property(fc.array(field), fc.array(field), (left, right) => {
        const isSame = left.length === right.length && left.every((each, at) => each === right[at]);
        expect(framedHash(left, hash) === framedHash(right, hash)).toBe(isSame);
        expect(framedHash([framedList(left), 'x'], hash) === framedHash([framedList(right), 'x'], hash)).toBe(isSame);
      }),
    );
  });

  it('tell apart where one list ends and the next one begins, and NUL bytes', () => {
    const pairs: readonly (readonly [readonly string[], readonly string[]])[] = [
      [
        ['ab', 'c'],
        ['a', 'bc'],
      ],
      [['a\0b'], ['a', 'b']],
      [['\ud800'], ['\ufffd']],
      [[''], []],
    ];
    for (const [left, right] of pairs) expect(framedHash(left, hash)).not.toBe(framedHash(right, hash));
  });
});

describe('the key of a server', () => {
  const changes: Readonly<Record<string, McpServer>> = {
    name: { ...STDIO, name: 'other' },
    command: { ...STDIO, command: 'uvx' },
    args: { ...STDIO, args: ['a b'] },
    'order of args': { ...STDIO, args: ['b', 'a'] },
    'value in env': { ...STDIO, env: { A: '1', B: '3' } },
    'name in env': { ...STDIO, env: { A: '1', C: '2' } },
    timeout_seconds: { ...STDIO, timeoutMs: 31_000 },
    max_response_bytes: { ...STDIO, maxResponseBytes: 1 },
    max_result_chars: { ...STDIO, maxResultChars: 1 },
    artifact_roots: { ...STDIO, artifactRoots: ['/art', '/'] },
    transport: HTTP,
    url: { ...HTTP, url: 'https://example.test/other' },
    token_env: { ...HTTP, tokenEnv: 'MCP_U' },
  };

  it.each(Object.entries(changes))('changes with the %s', (_, changed) => {
    const others = Object.values(changes).filter((each) => each !== changed);
    const key = serverApprovalKey(changed, '/p', hash);
    expect([serverApprovalKey(STDIO, '/p', hash), ...others.map((each) => serverApprovalKey(each, '/p', hash))]).not.toContain(key);
  });

  it('changes with the project, and not with the order of env or with what is no part of the launch', () => {
    const key = serverApprovalKey(STDIO, '/p', hash);
    expect(serverApprovalKey(STDIO, '/q', hash)).not.toBe(key);
    expect(serverApprovalKey({ ...STDIO, env: { B: '2', A: '1' } }, '/p', hash)).toBe(key);
    expect(serverApprovalKey({ ...STDIO, autoApprove: true, approve: 'call', protocol: 'auto', origin: 'project' }, '/p', hash)).toBe(key);
  });
});

describe('the key of a tool', () => {
  const base = definition({ annotations: { readOnlyHint: false }, outputSchema: { type: 'object' } });
  const key = toolApprovalKey(STDIO, '/p', base, hash);

  it.each([
    ['description', { description: 'Makes a report!' }],
    ['name', { name: 'report2' }],
    ['input schema', { inputSchema: { type: 'object', properties: { more: { type: 'string' } } } }],
    ['output schema', { outputSchema: { type: 'object', title: 'x' } }],
    ['annotations', { annotations: { readOnlyHint: true } }],
  ])('changes with its %s', (_, facts) => {
    expect(toolApprovalKey(STDIO, '/p', { ...base, ...facts }, hash)).not.toBe(key);
  });

  it('changes with the project and with how its server is started', () => {
    expect(toolApprovalKey(STDIO, '/q', base, hash)).not.toBe(key);
    expect(toolApprovalKey({ ...STDIO, args: [] }, '/p', base, hash)).not.toBe(key);
    expect(toolApprovalKey({ ...STDIO, name: 'other' }, '/p', base, hash)).not.toBe(key);
    expect(toolApprovalKey(HTTP, '/p', base, hash)).not.toBe(key);
  });

  it('does not change when only the order of keys does', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', title: 't' }, b: {} } };
    const once = definition({ inputSchema: schema, annotations: { a: 1, b: 2 } });
    const again = definition({ inputSchema: reordered(schema) as typeof schema, annotations: { b: 2, a: 1 } });
    expect(toolApprovalKey(STDIO, '/p', again, hash)).toBe(toolApprovalKey(STDIO, '/p', once, hash));
  });

  it('is another one than the key of its server', () => {
    expect(key).not.toBe(serverApprovalKey(STDIO, '/p', hash));
    expect(key).toMatch(/^[0-9a-f]{64}$/);
  });

  it('tells the size of the schema and its hash as a person is shown them', () => {
    expect(digestOf(definition({ inputSchema: { type: 'object', description: 'ä' } }), hash)).toMatchObject({
      schemaBytes: 36,
      schemaSha256: hash.sha256('{"description":"ä","type":"object"}'),
    });
  });
});

describe('the execution fingerprint', () => {
  it('follows command, arguments, environment and limits, and neither name nor project', () => {
    const print = executionFingerprint(STDIO, hash);
    expect(executionFingerprint({ ...STDIO, name: 'other', origin: 'project' }, hash)).toBe(print);
    for (const changed of [
      { command: 'x' },
      { args: [] },
      { env: {} },
      { timeoutMs: 1 },
      { maxResponseBytes: 1 },
      { maxResultChars: 1 },
      { artifactRoots: [] },
    ]) {
      expect(executionFingerprint({ ...STDIO, ...changed }, hash)).not.toBe(print);
    }
  });
});

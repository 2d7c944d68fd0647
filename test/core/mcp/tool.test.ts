import { describe, expect, it } from 'vitest';
import { createArtifactDesk } from '../../../core/artifacts/desk.ts';
import { resultLimit, truncationNotice } from '../../../core/mcp/result-limit.ts';
import { createMcpTool, McpToolError } from '../../../core/mcp/tool.ts';
import { CancelledError } from '../../../ports/errors.ts';
import type { McpToolDefinition } from '../../../ports/mcp.ts';
import { type McpCallResult, type McpContent, McpError } from '../../../ports/mcp.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { createMemoryArtifactFiles, createMemoryArtifactLedger } from '../../fakes/artifacts.ts';
import { checkedTool, SERVER } from './fixture.ts';

const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const ref = (facts: object = {}) => ({
  schema: 'odek.artifact-ref/v1',
  id: 'r-1',
  uri: 'file:///art/r.xml',
  media_type: 'application/xml',
  ...facts,
});
const envelope = (facts: object = {}) => JSON.stringify({ schema: 'odek.tool-result/v1', text: 'Done.', artifacts: [ref()], ...facts });

function result(content: readonly McpContent[] | string, facts: Partial<McpCallResult> = {}): McpCallResult {
  return { content: typeof content === 'string' ? [{ type: 'text', text: content }] : content, isError: false, bytes: 100, ...facts };
}

async function setUp(answer: McpCallResult | Error, facts: Partial<McpToolDefinition> = {}, server = SERVER) {
  const files = createMemoryArtifactFiles();
  files.put('/art/r.xml', 'abc');
  const calls: unknown[] = [];
  const connection = {
    call: async (tool: string, input: unknown) => {
      calls.push([tool, input]);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const artifacts = createArtifactDesk({ files, ledger: createMemoryArtifactLedger() });
  const tool = createMcpTool(server, await checkedTool(facts), { connection, artifacts });
  const exec = { signal: new AbortController().signal, callId: 'c', args: {}, workspace: '/w', dataDir: '/d', sessionId: 's-1' };
  const call = async (input: object = {}): Promise<ToolResult> => (await tool.spec.execute(input as never, exec)) as ToolResult;
  return { tool, call, calls, files };
}

const callWith = async (answer: McpCallResult | Error, facts?: Partial<McpToolDefinition>) => (await setUp(answer, facts)).call();

describe('a tool of an MCP server', () => {
  it('calls the server with its own name and the arguments, and gives back the text', async () => {
    const { call, calls, tool } = await setUp(result('all good'));
    expect(await call({ a: 1 })).toEqual({ content: 'all good', failed: false, artifacts: [] });
    expect(calls).toEqual([['report', { a: 1 }]]);
    expect(tool.spec).toMatchObject({ name: 'ci__report', maxResultChars: 200_000, timeoutMs: 45_000 });
    expect(tool.mark).toMatchObject({ server: 'ci', tool: 'report', approve: 'register' });
  });

  it('joins its text parts, and tells of each other part in one line', async () => {
    const content: McpContent[] = [
      { type: 'text', text: 'one' },
      { type: 'image', mimeType: 'image/png', bytes: 12_345 },
      { type: 'audio', mimeType: 'audio/\u202emp3\n', bytes: 7 },
      { type: 'resource_link', name: 'a', uri: 'https://x.test/\u2028a' },
      { type: 'resource', uri: 'mem://b', mimeType: 'text/plain', text: 'inside' },
      { type: 'text', text: 'two' },
    ];
    expect((await callWith(result(content))).content.split('\n')).toEqual([
      'one',
      '[image · image/png · 12345 bytes]',
      '[audio · audio/ mp3 · 7 bytes]',
      '[resource link · a · https://x.test/ a]',
      '[resource · mem://b · text/plain]',
      'inside',
      'two',
    ]);
  });

  it('gives its structured content where it has no text, and says so where it has nothing', async () => {
    expect((await callWith(result([], { structured: { n: 1 } }))).content).toBe('{"n":1}');
    expect((await callWith(result('text', { structured: { n: 1 } }))).content).toBe('text');
    expect((await callWith(result([]))).content).toBe('(no output)');
  });

  it('is told to have failed when the server says so, and its text still counts', async () => {
    expect(await callWith(result('no such job', { isError: true }))).toEqual({ content: 'no such job', failed: true, artifacts: [] });
  });

  it('tells of structured content that breaks the output schema, and gives the result all the same', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    expect((await callWith(result('text', { structured: { n: 1 } }), { outputSchema })).content).toBe('text');
    const { content, failed } = await callWith(result('text', { structured: {} }), { outputSchema });
    expect(content).toMatch(/^text\n\[odek: the structured result does not keep to the tool's output schema: .*"n".*\]$/);
    expect(failed).toBe(false);
  });

  it('fails as its connection fails', async () => {
    const error = new McpError('mcp_timeout', 'too late', { server: 'ci', tool: 'report', limit: 1 });
    await expect(callWith(error)).rejects.toBe(error);
    const cancelled = new CancelledError();
    await expect(callWith(cancelled)).rejects.toBe(cancelled);
  });

  it.each([
    ['removed', 'mcp_tool_removed', 'no longer has this tool'],
    ['changed', 'mcp_tool_changed', 'describes this tool in another way'],
  ] as const)('is not called any more once it was %s', async (why, code, text) => {
    const { call, calls, tool } = await setUp(result('x'));
    tool.retire(why);
    tool.retire('changed');
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(McpToolError);
    expect(error).toMatchObject({ code, server: 'ci', tool: 'report', message: expect.stringContaining(text) });
    expect(calls).toEqual([]);
  });
});

describe('a result with artifacts', () => {
  it('gives the text of the envelope, and a line for each artifact without path and content', async () => {
    const { content, artifacts } = await callWith(
      result(envelope({ later: 1, artifacts: [ref({ summary: 'All\u202e results', later: 1 })] })),
    );
    expect(content).toBe('Done.');
    expect(artifacts).toEqual([`[artifact r-1 · application/xml · 3 bytes · sha256:${ABC.slice(0, 12)} · All results]`]);
  });

  it.each([
    ['artifact_refused', 'the odek.tool-result/v1 envelope is malformed JSON', envelope().slice(0, -2)],
    ['artifact_refused', 'the odek.tool-result/v1 envelope has no text', JSON.stringify({ schema: 'odek.tool-result/v1' })],
    [
      'artifact_refused',
      'a result has 65 artifacts, the limit is 64',
      envelope({ artifacts: Array.from({ length: 65 }, (_, at) => ref({ id: `r${at}` })) }),
    ],
    ['artifact_refused', 'artifact "r-1": the file has 3 bytes, its size_bytes says 4', envelope({ artifacts: [ref({ size_bytes: 4 })] })],
    ['artifact_refused', 'artifact "r-1": the SHA-256 of the file is not', envelope({ artifacts: [ref({ sha256: 'a'.repeat(64) })] })],
    ['artifact_missing', 'artifact "r-1": there is no such file', envelope({ artifacts: [ref({ uri: 'file:///art/none' })] })],
    ['artifact_outside_roots', 'artifact "r-1": the file lies outside', envelope({ artifacts: [ref({ uri: 'file:///etc/passwd' })] })],
  ])('is refused as a whole (%s: %s), naming server, tool and rule', async (code, text, answer) => {
    const error = await callWith(result(answer)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining(`MCP server "ci", tool "report": the result is refused: ${text}`),
    });
    expect((error as Error).message).not.toMatch(/\/art|passwd/);
  });

  it('is refused when two of its envelopes use one id', async () => {
    const content = [envelope(), envelope()].map((text) => ({ type: 'text', text }) as const);
    await expect(callWith(result(content))).rejects.toMatchObject({ code: 'artifact_refused' });
  });

  it('is refused where its server has no folder for artifacts, or only blank ones', async () => {
    for (const artifactRoots of [[], ['', '  ']]) {
      const { call } = await setUp(result(envelope()), {}, { ...SERVER, artifactRoots });
      await expect(call()).rejects.toMatchObject({
        code: 'artifact_outside_roots',
        message: expect.stringContaining('artifact_roots are empty'),
      });
    }
  });

  it('is refused where nothing keeps artifacts', async () => {
    const tool = createMcpTool(SERVER, await checkedTool(), { connection: { call: async () => result(envelope()) } });
    const exec = { signal: new AbortController().signal, callId: 'c', args: {}, workspace: '/w', dataDir: '/d', sessionId: 's-1' };
    await expect(tool.spec.execute({} as never, exec)).rejects.toMatchObject({ code: 'artifact_refused' });
  });
});

describe('the limit of a result', () => {
  it('is told in its exact form', () => {
    expect(truncationNotice('log-analyzer', 'summarize', 250_000, 200_000)).toBe(
      '[odek: result truncated — server "log-analyzer" tool "summarize" produced 250000 chars, exceeding the configured max_result_chars=200000; the full result is available via the retained artifact references, if any]',
    );
    expect(truncationNotice('a', 'b', 1, 2)).not.toMatch(/[<>]/);
  });

  it('is at most a million, and has room for the notice of every tool and 64 characters', () => {
    expect(resultLimit('ci', 200_000)).toEqual({ chars: 200_000 });
    expect(resultLimit('ci', 1_000_000)).toEqual({ chars: 1_000_000 });
    expect(resultLimit('ci', 1_000_001)).toEqual({ chars: 1_000_000, warning: expect.stringContaining('1000001') });
    const { chars, warning } = resultLimit('ci', 10);
    expect(warning).toContain('max_result_chars 10');
    expect(chars).toBe(truncationNotice('ci', 'x'.repeat(64), 999_999_999, 1_000_000).length + 64);
    expect(resultLimit('ci', chars)).toEqual({ chars });
  });
});

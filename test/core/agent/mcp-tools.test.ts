import { afterEach, describe, expect, it } from 'vitest';
import { createArtifactDesk } from '../../../core/artifacts/desk.ts';
import { truncationNotice } from '../../../core/mcp/result-limit.ts';
import { createMcpTool, type McpTool } from '../../../core/mcp/tool.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import type { ApprovalRequest, DangerPolicy } from '../../../ports/approval.ts';
import { type McpCallResult, McpError, type McpServer, type McpToolDefinition } from '../../../ports/mcp.ts';
import type { ToolSpec } from '../../../ports/plugin.ts';
import { createMemoryArtifactFiles, createMemoryArtifactLedger } from '../../fakes/artifacts.ts';
import { checkedTool, SERVER } from '../mcp/fixture.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions, toolResults } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const PLAIN: DangerPolicy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' };
const envelope = (text: string) =>
  JSON.stringify({
    schema: 'odek.tool-result/v1',
    text,
    artifacts: [{ schema: 'odek.artifact-ref/v1', id: 'r-1', uri: 'file:///art/r', media_type: 'text/plain', summary: 'The report' }],
  });

interface Given extends HarnessOptions {
  readonly answer?: string | Error;
  readonly server?: Partial<McpServer>;
  readonly definition?: Partial<McpToolDefinition>;
  readonly arguments?: unknown;
  readonly calls?: number;
}

async function run(given: Given) {
  const files = createMemoryArtifactFiles();
  files.put('/art/r', 'abc');
  const inputs: unknown[] = [];
  const connection = {
    async call(_tool: string, input: unknown): Promise<McpCallResult> {
      inputs.push(input);
      if (given.answer instanceof Error) throw given.answer;
      return { content: [{ type: 'text', text: given.answer ?? 'fine' }], isError: false, bytes: 1 };
    },
  };
  const artifacts = createArtifactDesk({ files, ledger: createMemoryArtifactLedger() });
  const tool: McpTool = createMcpTool({ ...SERVER, ...given.server } as McpServer, await checkedTool(given.definition), {
    connection,
    artifacts,
  });
  await harness?.close();
  harness = await createHarness({
    mcpTools: [tool],
    steps: (_request, number) =>
      number <= (given.calls ?? 1) ? { calls: [{ name: 'ci__report', arguments: given.arguments ?? {} }] } : { text: 'ok' },
    ...given,
    settings: { danger: PLAIN, ...given.settings },
  });
  await harness.run();
  const completed = harness.wire().filter(({ type }) => type === 'tool_call_completed');
  return { text: toolResults(harness.requests[1] ?? [])[0] ?? '', inputs, completed, harness };
}

describe('a call of an MCP tool', () => {
  it('needs nobody where its registration was approved, though its class is unknown', async () => {
    const { inputs, harness: ran } = await run({ arguments: { a: 1 } });
    expect(inputs).toEqual([{ a: 1 }]);
    const started = ran.wire().find(({ type }) => type === 'tool_call_started');
    expect(started).toMatchObject({ tool: 'ci__report', data: { args_summary: { class: 'unknown' } } });
  });

  it.each(['deny', 'read_only', 'allow'] as const)('needs nobody where nobody can be asked and the rule is %s', async (nonInteractive) => {
    expect((await run({ settings: { danger: { ...PLAIN, nonInteractive } } })).inputs).toHaveLength(1);
  });

  it('is denied where the operator denies everything', async () => {
    const { inputs, text } = await run({ settings: { danger: { ...PLAIN, action: 'deny' } } });
    expect(inputs).toEqual([]);
    expect(text).toContain('operation denied by configuration: ci__report');
    expect(text).toContain('dangerous.action is "deny"');
  });

  it('asks each time where its server is set so, whatever the person trusts', async () => {
    const asked: ApprovalRequest[] = [];
    const approver = {
      decide: async (request: ApprovalRequest) => {
        asked.push(request);
        return { decision: 'approve', by: 'test' } as const;
      },
    };
    const { inputs } = await run({ server: { approve: 'call' }, approver, calls: 3 });
    expect(inputs).toHaveLength(3);
    expect(asked.map(({ items, allowTrust }) => [items[0].tool, items[0].class, allowTrust])).toEqual(
      Array.from({ length: 3 }, () => ['ci__report', 'unknown', false]),
    );
  });

  it.each(['deny', 'read_only', 'allow'] as const)(
    'is denied where its server is set to ask, nobody is there and the rule is %s',
    async (nonInteractive) => {
      const { inputs, text } = await run({ server: { approve: 'call' }, settings: { danger: { ...PLAIN, nonInteractive } } });
      expect(inputs).toEqual([]);
      expect(text).toContain('operation denied (non-interactive mode): ci__report');
      expect(text).toContain('approve: "register"');
    },
  );

  it('asks where its server is set so, also where the operator allows what is unknown', async () => {
    const approver = { decide: async () => ({ decision: 'deny', by: 'test' }) as const };
    const danger = { ...PLAIN, classes: { unknown: 'allow' } } as const;
    expect((await run({ server: { approve: 'call' }, approver, settings: { danger } })).text).toContain('operation denied by user');
  });

  it('has its arguments checked against the schema of the server, not against the one of the model', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer', not: { const: 7 } } }, required: ['n'] };
    expect((await run({ definition: { inputSchema }, arguments: { n: 7 } })).inputs).toEqual([]);
    expect((await run({ definition: { inputSchema }, arguments: { n: 8 } })).inputs).toEqual([{ n: 8 }]);
    const { text } = await run({ definition: { inputSchema }, arguments: { n: 'x' } });
    expect(text).toContain('invalid arguments for tool "ci__report"');
  });

  it('needs an object where nothing can check its arguments', async () => {
    const inputSchema = { $schema: 'https://example.test/none', type: 'object' };
    expect((await run({ definition: { inputSchema }, arguments: [1] })).text).toContain('must be a JSON object');
    expect((await run({ definition: { inputSchema }, arguments: { any: 1 } })).inputs).toEqual([{ any: 1 }]);
  });
});

describe('the result of an MCP tool', () => {
  it('is wrapped as what its server says, errors too', async () => {
    expect((await run({})).text).toMatch(/<untrusted_content_[0-9a-f]{16} source="mcp:ci:report">\nfine\n/);
    const error = new McpError('mcp_server_exited', 'it ended', { server: 'ci', tool: 'report' });
    expect((await run({ answer: error })).text).toMatch(/source="mcp:ci:report">\nerror: it ended\n/);
    expect((await run({ answer: new TypeError('boom') })).text).toMatch(
      /source="mcp:ci:report">\nerror: tool "ci__report" panicked: boom\n/,
    );
  });

  it('that came too late is a missed deadline in the events', async () => {
    const { harness: ran } = await run({ answer: new McpError('mcp_timeout', 'too late', { server: 'ci', tool: 'report', limit: 5 }) });
    expect(ran.wire().find(({ type }) => type === 'tool_call_failed')).toMatchObject({ data: { error_class: 'deadline_exceeded' } });
  });

  it('tells of its artifacts inside the wrapper, and counts them in the events', async () => {
    const { text, completed } = await run({ answer: envelope('See r-1.') });
    expect(text).toMatch(
      /source="mcp:ci:report">\nSee r-1\.\n\[artifact r-1 · text\/plain · 3 bytes · sha256:ba7816bf8f01 · The report\]\n<\//,
    );
    expect(completed).toMatchObject([{ data: { artifact_count: 1 } }]);
  });

  it('that is refused fails, with none of its text', async () => {
    const { text, harness: ran } = await run({ answer: envelope('See r-1.').replace('/art/r', '/etc/r') });
    expect(text).toContain('error: MCP server "ci", tool "report": the result is refused: artifact "r-1"');
    expect(text).not.toContain('See r-1.');
    expect(ran.types()).toContain('tool_call_failed');
  });

  it('over the limit keeps its beginning and every artifact, and the notice in its exact form within the limit', async () => {
    const { text } = await run({ answer: envelope('word '.repeat(2000)), server: { maxResultChars: 1000 } });
    const notice = truncationNotice('ci', 'report', 10_000, 1000);
    const body = /report">\n([\s\S]*)\n\[artifact r-1/.exec(text)?.[1] ?? '';
    expect(body.length).toBe(1000);
    expect(body).toMatch(/^(word )+wo?r?d?\n\n/);
    expect(body.endsWith(notice)).toBe(true);
  });

  it('is redacted before it is cut, so that no part of a secret is left', async () => {
    const secret = 'canary-4f9a1b77c2d8e6aa';
    for (const length of [290, 295, 300, 305, 400_000]) {
      const { text } = await run({
        answer: `${'x'.repeat(length)}${secret}${'y'.repeat(1000)}`,
        server: { maxResultChars: 600 },
        secrets: [secret],
      });
      expect(text).toContain('exceeding the configured max_result_chars=600');
      expect(text).not.toContain('canary-4');
    }
  });
});

describe('what is only for MCP tools', () => {
  const claiming = { mcp: { server: 'ci', tool: 'x', approve: 'register' }, registration: 'mcp' };

  it('is not given to a plugin that claims it', async () => {
    const tool = {
      ...fakeTool('mine', async () => ({ content: 'text', artifacts: ['[artifact fake]'] }) as never),
      ...claiming,
    } as ToolSpec;
    const { effects: _, ...bare } = tool;
    harness = await createHarness({
      tools: [bare as ToolSpec],
      settings: { danger: PLAIN },
      approver: { decide: async () => ({ decision: 'approve', by: 'test' }) },
      steps: [{ calls: [{ name: 'mine', arguments: {} }] }, { text: 'ok' }],
    });
    await harness.run();
    expect(toolResults(harness.requests[1] ?? [])[0]).toContain('operation denied by configuration');
  });

  it('is not believed of the result of another tool', async () => {
    harness = await createHarness({
      tools: [fakeTool('mine', async () => ({ content: 'text', artifacts: ['[artifact fake]'] }) as never)],
      steps: [{ calls: [{ name: 'mine', arguments: {} }] }, { text: 'ok' }],
    });
    await harness.run();
    expect(toolResults(harness.requests[1] ?? [])[0]).not.toContain('[artifact fake]');
    expect(harness.wire().find(({ type }) => type === 'tool_call_completed')).toMatchObject({ data: { artifact_count: 0 } });
  });

  it('has names that no plugin can take, and takes none of theirs', async () => {
    const registry = createToolRegistry();
    const tool = createMcpTool(SERVER, await checkedTool(), { connection: { call: () => Promise.reject(new Error('not called')) } });
    const plain = fakeTool('mine', async () => '');
    expect(() => registry.registrar('p').register({ ...plain, name: 'ci__report' })).toThrow(
      expect.objectContaining({ code: 'invalid_tool_name' }),
    );
    expect(() => registry.registerMcp({ ...tool, spec: { ...tool.spec, name: 'shell' } })).toThrow(
      expect.objectContaining({ code: 'invalid_tool_name' }),
    );
    const undo = registry.registerMcp(tool);
    expect(registry.holderOf('ci__report')).toBe('tool "report" of the MCP server "ci"');
    expect(() => registry.registerMcp(tool)).toThrow(expect.objectContaining({ code: 'tool_name_taken' }));
    undo();
    expect(registry.holderOf('ci__report')).toBeUndefined();
    registry.registrar('p').register(plain);
    expect(registry.holderOf('mine')).toBe('the plugin "p"');
    expect(createToolRegistry({ reserved: { plan: 'plan-tool' } }).holderOf('plan')).toBe('the plugin "plan-tool"');
  });
});

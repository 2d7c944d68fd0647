import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { type CheckedTool, checkDefinitions } from '../../../core/mcp/definition.ts';
import { mcpToolNames } from '../../../core/mcp/names.ts';
import { createMcpApprovals, leftOutText, notApproved } from '../../../hosts/mcp-client/approvals.ts';
import type { ConsentRequest } from '../../../hosts/mcp-client/consent.ts';
import { McpApprovalError, type McpApprovalStore } from '../../../ports/mcp-approval.ts';
import { fakeMcpServer } from '../../fakes/mcp.ts';
import { createMemoryApprovals } from '../../fakes/mcp-approvals.ts';

const hash = createSha256();
const validator = createSchemaValidator();
const signal = new AbortController().signal;
const small = fakeMcpServer({ name: 's' });
const foreign = fakeMcpServer({ name: 'f', origin: 'project' });

async function checkedTools(...described: readonly (readonly [name: string, description: string])[]): Promise<readonly CheckedTool[]> {
  const definitions = described.map(([name, description]) => ({ name, description, inputSchema: { type: 'object' } }));
  const names = mcpToolNames(
    's',
    definitions.map(({ name }) => name),
    { holderOf: () => undefined },
    hash,
  );
  return (await checkDefinitions(small, definitions, names, { hash, validator })).tools;
}

function place(options: {
  readonly store?: McpApprovalStore;
  readonly project?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly answer?: readonly number[];
}) {
  const asked: ConsentRequest[] = [];
  const told: string[] = [];
  const { store = createMemoryApprovals(), project = '/work', env = {}, answer } = options;
  const consent =
    answer &&
    (async (request: ConsentRequest) => {
      asked.push(request);
      return answer;
    });
  const approvals = createMcpApprovals({ store, hash, project, env, consent, now: () => 0, warn: (text) => void told.push(text) });
  return { approvals, asked, told };
}

const namesOf = (tools: readonly CheckedTool[]): readonly string[] => tools.map(({ name }) => name.tool);

describe('what a person granted', () => {
  it('counts in the same folder alone', async () => {
    const store = createMemoryApprovals();
    const tools = await checkedTools(['one', 'x']);
    await place({ store, answer: [1] }).approvals.admitTools(small, tools, { signal });
    expect(namesOf((await place({ store }).approvals.admitTools(small, tools, { signal })).admitted)).toEqual(['one']);
    expect(namesOf((await place({ store, project: '/other' }).approvals.admitTools(small, tools, { signal })).admitted)).toEqual([]);
  });

  it('is not asked for again, and the rest is, each under a number of its own', async () => {
    const store = createMemoryApprovals();
    const tools = await checkedTools(['one', 'x'], ['two', 'x'], ['three', 'x']);
    await place({ store, answer: [2] }).approvals.admitTools(small, tools, { signal });
    const { approvals, asked } = place({ store, answer: [2] });
    const { admitted, left } = await approvals.admitTools(small, tools, { signal });
    expect(asked[0]).toMatchObject({ count: 2, question: 'Approve all 2?' });
    expect([namesOf(admitted), namesOf(left)]).toEqual([['two', 'three'], ['one']]);
  });

  it('is compared with the last approval of that name, whatever came between', async () => {
    const store = createMemoryApprovals();
    for (const text of ['first', 'second']) {
      await place({ store, answer: [1] }).approvals.admitTools(small, await checkedTools(['one', text]), { signal });
    }
    const { approvals, asked } = place({ store, answer: [] });
    await approvals.admitTools(small, await checkedTools(['one', 'third']), { signal });
    expect(asked[0]?.card).toContain('second');
    expect(asked[0]?.card).not.toContain('first');
  });

  it('counts for now where it cannot be kept, which is told', async () => {
    const plain = createMemoryApprovals();
    const store: McpApprovalStore = {
      ...plain,
      add: () => Promise.reject(new McpApprovalError('mcp_approvals_unwritable', 'the disk is full')),
    };
    const { approvals, told } = place({ store, answer: [1] });
    expect(namesOf((await approvals.admitTools(small, await checkedTools(['one', 'x']), { signal })).admitted)).toEqual(['one']);
    expect(await approvals.admitServers([foreign], signal)).toEqual([]);
    expect(told).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('asked for again next time: the disk is full')));
  });

  it('is no record that somebody wrote by hand without its digest', async () => {
    const store = createMemoryApprovals();
    await store.add('tools', [{ key: 'f'.repeat(64), project: '/work', server: 's', tool: 'one', approvedAt: '' }]);
    expect(namesOf((await place({ store }).approvals.admitTools(small, await checkedTools(['one', 'x']), { signal })).admitted)).toEqual(
      [],
    );
  });
});

describe('what needs no person', () => {
  it.each([
    ['an operator’s server starts', small, {}, 'operator'],
    ['one with auto_approve starts', fakeMcpServer({ name: 's', autoApprove: true }), {}, 'auto_approve'],
    ['every server starts with ODEK_APPROVE_MCP=1', foreign, { ODEK_APPROVE_MCP: '1' }, 'ODEK_APPROVE_MCP'],
    ['no other value of it means yes', foreign, { ODEK_APPROVE_MCP: 'true' }, undefined],
  ])('%s', async (_, server, env, expected) => {
    expect(await place({ env }).approvals.serverGrant(server)).toBe(expected);
  });

  it('keeps nothing and asks nothing', async () => {
    const store = createMemoryApprovals();
    const { approvals, asked } = place({ store, env: { ODEK_APPROVE_MCP: '1' }, answer: [] });
    await approvals.admitServers([foreign], signal);
    const { admitted } = await approvals.admitTools(foreign, await checkedTools(['one', 'x']), { signal });
    expect([namesOf(admitted), asked, await store.list('tools'), await store.list('servers')]).toEqual([['one'], [], [], []]);
  });
});

describe('words about what is not approved', () => {
  it('name the ways out that there are', async () => {
    const [tool] = await checkedTools(['one', 'x']);
    expect(notApproved([foreign], true).message).toContain('mcp_servers.f.enabled: false');
    expect(notApproved([foreign], false).message).toContain('odek mcp approve f');
    expect(leftOutText(small, [], false)).toBeUndefined();
    expect(leftOutText(small, tool ? [tool] : [], false)).toContain('ODEK_APPROVE_MCP=1');
    expect(leftOutText(small, tool ? [tool] : [], true)).toBe('MCP server "s": not approved, and left out: one');
  });
});

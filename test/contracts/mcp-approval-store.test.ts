import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileApprovals } from '../../adapters/mcp-approvals/files.ts';
import { brokenApprovalStores, memoryApprovalsHarness } from './mcp-approval-store.broken.ts';
import { type McpApprovalStoreHarness, mcpApprovalStoreSuite } from './mcp-approval-store.suite.ts';

const inFiles: McpApprovalStoreHarness = {
  async make() {
    const folder = await mkdtemp(join(tmpdir(), 'odek-approvals-'));
    return {
      open: (warn) => createFileApprovals({ folder, warn }),
      damage: (layer) => writeFile(join(folder, layer === 'tools' ? 'mcp_tool_approvals.json' : 'mcp_approvals.json'), '{"version":1,'),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

const subjects = { 'the store in files': inFiles, 'the store in memory': memoryApprovalsHarness() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an approval store`, () => {
    for (const { id, sentence, run } of mcpApprovalStoreSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an approval store', () => {
  it.each(brokenApprovalStores)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = mcpApprovalStoreSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken store for each of its cases', () => {
    const caught = new Set(brokenApprovalStores.map(({ caughtBy }) => caughtBy));
    expect(mcpApprovalStoreSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});

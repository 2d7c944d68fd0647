import assert from 'node:assert/strict';
import type { McpApprovalLayer, McpApprovalRecord, McpApprovalStore } from '../../ports/mcp-approval.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A place where approvals are kept. */
export interface ApprovalPlace {
  /** Another store over the place, as another process would have one. */
  open(warn: (text: string) => void): McpApprovalStore;
  /** Makes what is kept of a layer something that nobody can understand. */
  damage(layer: McpApprovalLayer): Promise<void>;
  close(): Promise<void>;
}

export interface McpApprovalStoreHarness {
  /** An empty place. */
  make(): Promise<ApprovalPlace>;
}

const record = (digit: number | string, fields: Readonly<Record<string, unknown>> = {}): McpApprovalRecord => ({
  key: String(digit).padStart(64, '0'),
  ...fields,
});

const quiet = (): void => {};

function approvals(id: string, sentence: string, test: (place: ApprovalPlace) => Promise<void>): ContractCase<McpApprovalStoreHarness> {
  return {
    id: `mcp-approval-store/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link McpApprovalStore}. */
export const mcpApprovalStoreSuite: ContractSuite<McpApprovalStoreHarness> = {
  port: 'McpApprovalStore',
  cases: [
    approvals('list', '`list` gives every record in the order of adding, also to another store over the same place', async (place) => {
      const store = place.open(quiet);
      assert.deepEqual(await store.list('tools'), []);
      await store.add('tools', [record(2, { tool: 'b', kept: { deep: [1, null] } }), record(1)]);
      await store.add('tools', [record(0)]);
      const expected = [record(2, { tool: 'b', kept: { deep: [1, null] } }), record(1), record(0)];
      assert.deepEqual(await store.list('tools'), expected);
      assert.deepEqual(await place.open(quiet).list('tools'), expected);
    }),
    approvals('replace', '`add` replaces a record of the same key', async (place) => {
      const store = place.open(quiet);
      await store.add('tools', [record(1, { tool: 'old' }), record(2)]);
      await store.add('tools', [record(1, { tool: 'new' })]);
      assert.deepEqual(await store.list('tools'), [record(2), record(1, { tool: 'new' })]);
    }),
    approvals('remove', '`remove` takes exactly the records of the keys and tells how many there were', async (place) => {
      const store = place.open(quiet);
      await store.add('servers', [record(1), record(2), record(3)]);
      assert.equal(await store.remove('servers', [record(1).key, record(3).key, record(9).key]), 2);
      assert.deepEqual(await store.list('servers'), [record(2)]);
      assert.equal(await store.remove('servers', [record(1).key]), 0);
    }),
    approvals('layers', 'the two layers know nothing of each other', async (place) => {
      const store = place.open(quiet);
      await store.add('servers', [record(1)]);
      await store.add('tools', [record(2)]);
      assert.equal(await store.remove('tools', [record(1).key]), 0);
      assert.deepEqual([await store.list('servers'), await store.list('tools')], [[record(1)], [record(2)]]);
    }),
    approvals('together', 'stores that change the same place at the same time lose nothing of each other', async (place) => {
      const stores = Array.from({ length: 8 }, () => place.open(quiet));
      await Promise.all(
        stores.map(async (store, at) => {
          for (let each = 0; each < 5; each += 1) await store.add('tools', [record(at * 10 + each)]);
        }),
      );
      const keys = (await place.open(quiet).list('tools')).map(({ key }) => Number(key)).sort((a, b) => a - b);
      assert.deepEqual(
        keys,
        Array.from({ length: 40 }, (_, at) => Math.floor(at / 5) * 10 + (at % 5)),
      );
    }),
    approvals(
      'damage',
      'what cannot be understood approves nothing: it is set aside with a warning, and adding works again',
      async (place) => {
        await place.open(quiet).add('tools', [record(1)]);
        await place.damage('tools');
        const told: string[] = [];
        const store = place.open((text) => void told.push(text));
        assert.deepEqual(await store.list('tools'), []);
        assert.equal(told.length, 1);
        await store.add('tools', [record(2)]);
        assert.deepEqual(await place.open(quiet).list('tools'), [record(2)]);
      },
    ),
  ],
};

import type { McpApprovalLayer, McpApprovalRecord, McpApprovalStore } from '../../ports/mcp-approval.ts';
import { type ApprovalsPlace, createMemoryApprovals } from '../fakes/mcp-approvals.ts';
import type { McpApprovalStoreHarness } from './mcp-approval-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: McpApprovalStore, place: ApprovalsPlace, warn: (text: string) => void) => Partial<McpApprovalStore>;

/** Approvals in memory, with or without a fault. */
export function memoryApprovalsHarness(fault: Fault = () => ({})): McpApprovalStoreHarness {
  return {
    async make() {
      const place: ApprovalsPlace = new Map();
      return {
        open(warn) {
          const plain = createMemoryApprovals(place, warn);
          return { ...plain, ...fault(plain, place, warn) };
        },
        damage: async (layer) => void place.set(layer, 'damaged'),
        close: async () => {},
      };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<McpApprovalStoreHarness> => ({
  name,
  caughtBy: `mcp-approval-store/${caughtBy}`,
  harness: memoryApprovalsHarness(fault),
});

const held = (place: ApprovalsPlace, layer: McpApprovalLayer): readonly McpApprovalRecord[] => {
  const records = place.get(layer) ?? [];
  return records === 'damaged' ? [] : records;
};

/** Stores that each break one sentence. */
export const brokenApprovalStores: readonly BrokenAdapter<McpApprovalStoreHarness>[] = [
  broken('keeps what it added to itself', 'list', () => createMemoryApprovals()),
  broken('keeps the old record beside the new', 'replace', (_, place) => ({
    add: async (layer, records) => void place.set(layer, [...held(place, layer), ...records]),
  })),
  broken('removes everything', 'remove', (plain, place) => ({
    remove: async (layer, keys) => {
      const count = await plain.remove(layer, keys);
      if (count > 0) place.delete(layer);
      return count;
    },
  })),
  broken('removes from both layers', 'layers', (plain) => ({
    remove: async (_, keys) => (await plain.remove('servers', keys)) + (await plain.remove('tools', keys)),
  })),
  broken('writes what it read before others wrote', 'together', (plain, place) => ({
    add: async (layer, records) => {
      const before = await plain.list(layer);
      await new Promise((resolve) => setImmediate(resolve));
      place.set(layer, [...before, ...records]);
    },
  })),
  broken('says nothing of damage', 'damage', (_, place) => createMemoryApprovals(place, () => {})),
];

import type { McpApprovalLayer, McpApprovalRecord, McpApprovalStore } from '../../ports/mcp-approval.ts';

/** What several stores share, as a folder on a disk would be shared. */
export type ApprovalsPlace = Map<McpApprovalLayer, readonly McpApprovalRecord[] | 'damaged'>;

/** Approvals in memory. */
export function createMemoryApprovals(place: ApprovalsPlace = new Map(), warn: (text: string) => void = () => {}): McpApprovalStore {
  const held = (layer: McpApprovalLayer): readonly McpApprovalRecord[] => {
    const records = place.get(layer) ?? [];
    if (records !== 'damaged') return records;
    place.delete(layer);
    warn(`the ${layer} are damaged`);
    return [];
  };
  return {
    list: async (layer) => held(layer),
    async add(layer, records) {
      const keys = new Set(records.map(({ key }) => key));
      place.set(layer, [...held(layer).filter(({ key }) => !keys.has(key)), ...records]);
    },
    async remove(layer, keys) {
      const before = held(layer);
      const after = before.filter(({ key }) => !keys.includes(key));
      place.set(layer, after);
      return before.length - after.length;
    },
  };
}

import { OdekError } from './errors.ts';

/** `servers`: projects' servers that may start. `tools`: tools that may be registered. */
export type McpApprovalLayer = 'servers' | 'tools';

/** One approval: JSON of at most 256 KiB. `key` identifies everything that was approved. */
export interface McpApprovalRecord {
  /** 64 lower-case hex digits. */
  readonly key: string;
  readonly [field: string]: unknown;
}

/**
 * What persons approved of MCP servers, kept over runs. At most 10,000 records a layer; the oldest go first.
 *
 * Contract (the `mcp-approval-store` suite):
 * - `list` gives every record that was added and not removed, in the order of adding, also to another store over the same place.
 * - `add` replaces a record of the same key.
 * - `remove` takes exactly the records of the keys and resolves with how many there were.
 * - The two layers know nothing of each other.
 * - Stores that change the same place at the same time lose nothing of each other.
 * - What cannot be understood approves nothing: it is set aside with a warning, and adding works again.
 */
export interface McpApprovalStore {
  list(layer: McpApprovalLayer): Promise<readonly McpApprovalRecord[]>;
  /** Rejects with {@link McpApprovalError} when it cannot be kept. */
  add(layer: McpApprovalLayer, records: readonly McpApprovalRecord[]): Promise<void>;
  remove(layer: McpApprovalLayer, keys: readonly string[]): Promise<number>;
}

export type McpApprovalErrorCode = 'mcp_approvals_busy' | 'mcp_approvals_unwritable';

/** An approval could not be written. `value` is the file. */
export class McpApprovalError extends OdekError {
  constructor(code: McpApprovalErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

import type { Hash } from '../../ports/hash.ts';
import type { McpServer, McpToolDefinition } from '../../ports/mcp.ts';
import { type DefinitionDigest, digestOf, serverApprovalKey, toolApprovalKey } from './fingerprint.ts';

/** A project's server that a person let start. */
export interface McpServerApproval {
  /** See `serverApprovalKey`. */
  readonly key: string;
  readonly project: string;
  readonly server: string;
  /** ISO 8601, UTC. */
  readonly approvedAt: string;
}

/** A tool that a person let in, with enough of its definition to show later what has changed. */
export interface McpToolApproval {
  /** See `toolApprovalKey`. */
  readonly key: string;
  readonly project: string;
  readonly server: string;
  readonly tool: string;
  readonly approvedAt: string;
  readonly digest: DefinitionDigest;
  /** Absent when it takes more than {@link MAX_KEPT_CHARS}; the hashes are there always. */
  readonly definition?: McpToolDefinition;
}

/** Characters of a definition as JSON that an approval keeps. */
export const MAX_KEPT_CHARS = 64 * 1024;

export interface ApprovalPlace {
  /** Absolute path of the project's folder. */
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly hash: Hash;
}

export function serverApproval(server: McpServer, { project, now, hash }: ApprovalPlace): McpServerApproval {
  return { key: serverApprovalKey(server, project, hash), project, server: server.name, approvedAt: new Date(now).toISOString() };
}

export function toolApproval(server: McpServer, definition: McpToolDefinition, { project, now, hash }: ApprovalPlace): McpToolApproval {
  const isSmall = JSON.stringify(definition).length <= MAX_KEPT_CHARS;
  return {
    key: toolApprovalKey(server, project, definition, hash),
    project,
    server: server.name,
    tool: definition.name,
    approvedAt: new Date(now).toISOString(),
    digest: digestOf(definition, hash),
    ...(isSmall && { definition }),
  };
}

/** An approval as it was read from a file; undefined for anything else. Unknown fields are ignored. */
export function parseServerApproval(value: unknown): McpServerApproval | undefined {
  if (!isObject(value)) return undefined;
  const { key, project, server, approvedAt } = value;
  if (!isKey(key) || !areTexts(project, server, approvedAt)) return undefined;
  return { key, project: project as string, server: server as string, approvedAt: approvedAt as string };
}

/** As {@link parseServerApproval}. A definition that is none is left out; the key alone counts. */
export function parseToolApproval(value: unknown): McpToolApproval | undefined {
  const base = parseServerApproval(value);
  if (base === undefined || !isObject(value)) return undefined;
  const { tool, digest, definition } = value;
  if (typeof tool !== 'string' || !isDigest(digest)) return undefined;
  const { schemaSha256, schemaBytes, sha256 } = digest;
  const kept = { ...base, tool, digest: { schemaSha256, schemaBytes, sha256 } };
  return isDefinition(definition) ? { ...kept, definition } : kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function isDigest(value: unknown): value is DefinitionDigest {
  return isObject(value) && isKey(value.schemaSha256) && isKey(value.sha256) && Number.isSafeInteger(value.schemaBytes);
}

function isDefinition(value: unknown): value is McpToolDefinition {
  if (!isObject(value) || !areTexts(value.name, value.description) || !isObject(value.inputSchema)) return false;
  return [value.outputSchema, value.annotations].every((part) => part === undefined || isObject(part));
}

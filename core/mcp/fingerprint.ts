import type { Hash } from '../../ports/hash.ts';
import type { McpServer, McpToolDefinition } from '../../ports/mcp.ts';
import { utf8Length } from '../results/utf8.ts';
import { canonicalJson, framedHash, framedList } from './canonical.ts';

/** Changes with what is hashed: keys of another layout match nothing, and odek asks again. */
const LAYOUT = 'odek.mcp-key/1';

/** What identifies a tool's definition. */
export interface DefinitionDigest {
  /** Of the canonical JSON of `inputSchema`, 64 hex digits. */
  readonly schemaSha256: string;
  /** UTF-8 bytes of that JSON. */
  readonly schemaBytes: number;
  /** Of everything a definition says: name, description, both schemas, annotations. */
  readonly sha256: string;
}

/** @throws {OdekError} `mcp_definition_refused` for a schema that is nested too deeply */
export function digestOf(definition: McpToolDefinition, hash: Hash): DefinitionDigest {
  const schema = canonicalJson(definition.inputSchema);
  const schemaSha256 = hash.sha256(schema);
  const { name, description, outputSchema, annotations } = definition;
  const fields = [name, description, schemaSha256, optionalJson(outputSchema), optionalJson(annotations)];
  return { schemaSha256, schemaBytes: utf8Length(schema), sha256: framedHash(fields, hash) };
}

function optionalJson(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}

/** How a server is reached: command, arguments and environment, or URL and token variable. */
function launchFields(server: McpServer): readonly string[] {
  if (server.transport === 'http') return ['http', server.url, framedList(server.tokenEnv === undefined ? [] : [server.tokenEnv])];
  const env = Object.entries(server.env).sort(([a], [b]) => (a < b ? -1 : 1));
  return ['stdio', server.command, framedList(server.args), framedList(env.flat())];
}

function limitFields({ timeoutMs, maxResponseBytes, maxResultChars, artifactRoots }: McpServer): readonly string[] {
  return [String(timeoutMs), String(maxResponseBytes), String(maxResultChars), framedList(artifactRoots)];
}

/** The key under which the start of a project's server is approved. `project` is the absolute path of its folder. */
export function serverApprovalKey(server: McpServer, project: string, hash: Hash): string {
  return framedHash([LAYOUT, 'server', project, server.name, ...launchFields(server), ...limitFields(server)], hash);
}

/**
 * The key under which one tool is approved: server and project as in {@link serverApprovalKey}, and the
 * whole definition.
 *
 * @throws {OdekError} `mcp_definition_refused` for a schema that is nested too deeply
 */
export function toolApprovalKey(server: McpServer, project: string, definition: McpToolDefinition, hash: Hash): string {
  const { sha256 } = digestOf(definition, hash);
  const place = [LAYOUT, 'tool', project, server.name, definition.name];
  return framedHash([...place, ...launchFields(server), ...limitFields(server), sha256], hash);
}

/** What `auto_approve` is bound to: a server that is started in another way, or with other limits, is not the one it was said of. */
export function executionFingerprint(server: McpServer, hash: Hash): string {
  return framedHash([LAYOUT, 'execution', ...launchFields(server), ...limitFields(server)], hash);
}

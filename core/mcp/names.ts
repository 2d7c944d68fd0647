import { ConfigError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';

/** Stands between a server's name and the name of its tool. */
const SEPARATOR = '__';
/** Characters of a server's name, and of a tool's. */
const MAX_NAME_CHARS = 64;
/** Characters that every model API takes for the name of a tool. */
const MAX_MODEL_NAME = 64;
const MARK_CHARS = 8;
const SHOWN_CHARS = 80;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export type McpRegistrationErrorCode = 'mcp_invalid_name' | 'mcp_name_taken';

/** A name that ends the start. `rule` says which rule it breaks. */
export class McpRegistrationError extends ConfigError {
  readonly server: string;
  readonly tool: string | undefined;
  readonly rule: string;

  constructor(
    code: McpRegistrationErrorCode,
    message: string,
    details: { server: string; tool?: string; rule: string; value?: unknown; limit?: unknown },
  ) {
    super(code, message, details);
    this.server = details.server;
    this.tool = details.tool;
    this.rule = details.rule;
  }
}

/** How a tool of a server is called. */
export interface McpToolName {
  readonly server: string;
  readonly tool: string;
  /** `<server>__<tool>`, up to 130 characters: what people see. */
  readonly qualified: string;
  /**
   * The name in the registry, in filters and for the model. It is `qualified` up to 64 characters, which
   * is what every model API takes; a longer one keeps the beginnings of both names and ends in eight hex
   * digits of its hash, always the same for the same tool.
   */
  readonly registered: string;
}

function brokenRule(name: string): string | undefined {
  if (!NAME.test(name)) return `1 to ${MAX_NAME_CHARS} of A-Z a-z 0-9 _ -`;
  return name.includes(SEPARATOR) ? `no "${SEPARATOR}", which stands between server and tool` : undefined;
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_CHARS ? `${name.slice(0, SHOWN_CHARS)}…` : name);
}

/** @throws {McpRegistrationError} `mcp_invalid_name` */
export function checkServerName(server: string): void {
  const rule = brokenRule(server);
  if (rule === undefined) return;
  throw new McpRegistrationError('mcp_invalid_name', `MCP server name ${shown(server)} is not allowed: ${rule}`, {
    server: server.slice(0, SHOWN_CHARS),
    rule,
    value: server.slice(0, SHOWN_CHARS),
    limit: MAX_NAME_CHARS,
  });
}

/** @throws {McpRegistrationError} `mcp_invalid_name` */
export function mcpToolName(server: string, tool: string, hash: Hash): McpToolName {
  checkServerName(server);
  const rule = brokenRule(tool);
  if (rule !== undefined) {
    throw new McpRegistrationError('mcp_invalid_name', `MCP server "${server}": tool name ${shown(tool)} is not allowed: ${rule}`, {
      server,
      tool: tool.slice(0, SHOWN_CHARS),
      rule,
      value: tool.slice(0, SHOWN_CHARS),
      limit: MAX_NAME_CHARS,
    });
  }
  const qualified = server + SEPARATOR + tool;
  return { server, tool, qualified, registered: registeredName(server, tool, qualified, hash) };
}

function registeredName(server: string, tool: string, qualified: string, hash: Hash): string {
  if (qualified.length <= MAX_MODEL_NAME) return qualified;
  const room = MAX_MODEL_NAME - SEPARATOR.length - MARK_CHARS - 1;
  const serverChars = Math.min(server.length, Math.max(Math.floor(room / 2), room - tool.length));
  const head = server.slice(0, serverChars) + SEPARATOR + tool.slice(0, room - serverChars);
  return `${head}_${hash.sha256(qualified).slice(0, MARK_CHARS)}`;
}

export interface TakenNames {
  /** Who has the name, for example `the built-in tool "shell"`; undefined when it is free. */
  holderOf(registered: string): string | undefined;
}

/**
 * The names of all tools of one server.
 *
 * @throws {McpRegistrationError} `mcp_invalid_name` for the first bad name, `mcp_name_taken` for one that
 * a built-in tool, a reserved name, another server or another tool of this one has
 */
export function mcpToolNames(server: string, tools: readonly string[], taken: TakenNames, hash: Hash): readonly McpToolName[] {
  checkServerName(server);
  const own = new Map<string, string>();
  return tools.map((tool) => {
    const name = mcpToolName(server, tool, hash);
    const sibling = own.get(name.registered);
    const holder = taken.holderOf(name.registered) ?? (sibling === undefined ? undefined : `tool "${sibling}" of the same server`);
    if (holder !== undefined) {
      throw new McpRegistrationError(
        'mcp_name_taken',
        `MCP server "${server}": tool "${tool}" would be registered as "${name.registered}", a name that ${holder} has`,
        { server, tool, rule: 'one tool a name', value: name.registered },
      );
    }
    own.set(name.registered, tool);
    return name;
  });
}

/** The label of everything that comes from a tool of a server. */
export function mcpSource(server: string, tool: string): string {
  return `mcp:${server}:${tool}`;
}

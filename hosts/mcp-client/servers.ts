import { displayText } from '../../core/approvals/display.ts';
import type { McpServer } from '../../ports/mcp.ts';
import type { McpServerConfig, ResolvedConfig } from '../config/types.ts';

const SECRET_FLAG = /^--?[\w-]*(key|token|secret|passw|auth|credential|cookie)[\w-]*$/i;
const HIDDEN = '(hidden)';
const MAX_TARGET_CHARS = 500;

/** A configured server as the port has it. `workspace` is the absolute path of the folder it runs in. */
export function mcpServerOf(name: string, config: McpServerConfig, workspace: string): McpServer {
  const common = {
    name,
    origin: config.origin,
    protocol: config.protocol,
    timeoutMs: config.timeout_seconds * 1000,
    maxResponseBytes: config.max_response_bytes,
    maxResultChars: config.max_result_chars,
    artifactRoots: config.artifact_roots,
    autoApprove: config.auto_approve,
    approve: config.approve,
  };
  if (config.url !== undefined) {
    return { ...common, transport: 'http', url: config.url, ...(config.token_env !== undefined && { tokenEnv: config.token_env }) };
  }
  return { ...common, transport: 'stdio', command: config.command ?? '', args: config.args, env: config.env, cwd: workspace };
}

/** Every configured server, in the order of the configuration. */
export function mcpServersOf({ mcp_servers }: Pick<ResolvedConfig, 'mcp_servers'>, workspace: string): readonly McpServer[] {
  return Object.entries(mcp_servers).map(([name, config]) => mcpServerOf(name, config, workspace));
}

/** A server's command line or address, safe to show: without what looks like a secret. */
export function targetOf(server: McpServer, redact: (text: string) => string): string {
  const text = server.transport === 'http' ? addressOf(server.url) : [server.command, ...withoutSecrets(server.args)].join(' ');
  return displayText(redact(text), MAX_TARGET_CHARS).replaceAll(/\s+/g, ' ');
}

/** Queries hold keys often, and names nobody needs. */
function addressOf(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

function withoutSecrets(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const [flag = '', ...value] = arg.split('=');
    if (value.length > 0 && SECRET_FLAG.test(flag)) return `${flag}=${HIDDEN}`;
    return SECRET_FLAG.test(args[index - 1] ?? '') && !arg.startsWith('-') ? HIDDEN : arg;
  });
}

/** The variables that a server does not get because their names say secret, and the ways out; undefined where there are none. */
export function strippedNote(name: string, { stripped_env }: Pick<McpServerConfig, 'stripped_env'>): string | undefined {
  if (stripped_env.length === 0) return undefined;
  const names = stripped_env.map((each) => displayText(each)).join(', ');
  return (
    `MCP server "${name}" does not get ${names}: a variable with such a name never reaches a server. ` +
    "Ways out: the server's own configuration file, an argument, or for a server with a url token_env"
  );
}

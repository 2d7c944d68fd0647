import { spawn } from 'node:child_process';
import type { LoginRequest } from '../../../adapters/mcp/oauth/index.ts';
import { displayText } from '../../../core/approvals/display.ts';
import { ConfigError } from '../../../ports/errors.ts';
import type { McpHttpServer, McpServer } from '../../../ports/mcp.ts';
import { notApproved } from '../../mcp-client/approvals.ts';
import { messageOf } from '../../mcp-client/connect-all.ts';
import { EXIT } from '../exit-codes.ts';
import type { McpWork } from './work.ts';

/** `odek mcp login <server>`: shows the way to the login page, waits for the browser to come back, and keeps the tokens. */
export async function logInAt(work: McpWork, name: string): Promise<number> {
  const server = overHttp(work.server(name));
  const { consent, signal } = work;
  if (consent === undefined) {
    throw new ConfigError('mcp_nobody_to_ask', `a login is done by a person: run odek mcp login ${name} at a terminal`);
  }
  const refused = await work.approvals({ open: false }).admitServers([server], signal);
  if (refused.length > 0) throw notApproved(refused, true);
  if (server.origin === 'project') {
    const card = `This project's MCP server "${name}" at ${work.target(server)} wants you to log in, and gets what the login grants.`;
    const chosen = await consent({ card, count: 1, question: 'Log in at it?' }, signal);
    if (chosen.length === 0) return EXIT.failed;
  }
  const oauth = await work.oauth(async (request) => show(work, request));
  const state = await oauth.login(server, signal);
  work.out(`Logged in at ${name}${state.scope === undefined ? '' : `, for ${displayText(state.scope, 500)}`}.`);
  return EXIT.ok;
}

/** What is known of a login at a server, as one line; empty for none. */
export async function loginText(work: McpWork, server: McpServer): Promise<string> {
  if (server.transport !== 'http') return '';
  if (server.tokenEnv !== undefined) return 'token_env';
  const state = await (await work.oauth()).state(server).catch((error: unknown) => {
    work.warn(messageOf(error));
    return undefined;
  });
  if (state === undefined) return '';
  const { until, renewable } = state;
  if (until === undefined) return 'logged in';
  const time = new Date(until).toISOString();
  if (until > work.clock.now()) return `logged in until ${time}${renewable ? ', then renewed' : ''}`;
  return renewable ? `to be renewed since ${time}` : `ended ${time}`;
}

/** The configured server as one that is reached over HTTP and without a token of its own. Throws `ConfigError`. */
export function overHttp(server: McpServer): McpHttpServer {
  const { name } = server;
  if (server.transport !== 'http') {
    throw new ConfigError('mcp_login_pointless', `the MCP server "${name}" is a command; only servers with a url have a login`, {
      value: name,
    });
  }
  if (server.tokenEnv !== undefined) {
    const text = `the MCP server "${name}" gets the token in ${server.tokenEnv}; take token_env out of its entry to log in instead`;
    throw new ConfigError('mcp_login_pointless', text, { value: name });
  }
  return server;
}

async function show(work: McpWork, { server, url, host, tokenHost, scope }: LoginRequest): Promise<void> {
  work.out(
    `${server.name} sends you to ${displayText(host, 300)} to log in${scope === undefined ? '' : `, for ${displayText(scope, 500)}`}:`,
  );
  if (tokenHost !== host) work.out(`What you grant there goes to ${displayText(tokenHost, 300)}: log in only if you know that host too.`);
  work.out('');
  work.out(url);
  work.out('');
  work.out('Waiting for the browser, five minutes at most. It has to run on this machine.');
  openBrowser(url);
}

/** Only where there is a desktop: elsewhere the address is on the terminal. */
function openBrowser(url: string): void {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const opener = { darwin: 'open', linux: DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined }[process.platform as string];
  if (opener === undefined || process.stdout.isTTY !== true) return;
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

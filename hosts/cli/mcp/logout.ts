import { EXIT } from '../exit-codes.ts';
import { overHttp } from './login.ts';
import type { McpWork } from './work.ts';

/** `odek mcp logout <server>`: forgets the login, and tells the authorization server. */
export async function logOutOf(work: McpWork, name: string): Promise<number> {
  const server = overHttp(work.server(name));
  const { had, revoked } = await (await work.oauth()).logout(server, work.signal);
  if (!had) {
    work.warn(`nobody is logged in at the MCP server "${name}"`);
    return EXIT.failed;
  }
  work.out(`Logged out of ${name}.`);
  if (!revoked) work.warn('the authorization server did not take the tokens back; they are forgotten here');
  return EXIT.ok;
}

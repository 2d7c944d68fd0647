import { parseServerApproval, parseToolApproval } from '../../../core/mcp/approval.ts';
import { EXIT } from '../exit-codes.ts';
import type { McpWork } from './work.ts';

/** `odek mcp revoke <server> [tool]`: takes back what was approved in this folder, also of a server that is no longer configured. */
export async function revokeServer(work: McpWork, name: string, tool: string | undefined): Promise<number> {
  const { store, project, out } = work;
  const tools = (await store.list('tools')).map(parseToolApproval).filter((record) => record !== undefined);
  const servers = (await store.list('servers')).map(parseServerApproval).filter((record) => record !== undefined);
  const isOwn = (record: { readonly project: string; readonly server: string }): boolean =>
    record.project === project && record.server === name;
  const toolKeys = tools.filter((record) => isOwn(record) && (tool === undefined || record.tool === tool)).map(({ key }) => key);
  const serverKeys = tool === undefined ? servers.filter(isOwn).map(({ key }) => key) : [];
  const gone = { tools: await store.remove('tools', toolKeys), servers: await store.remove('servers', serverKeys) };
  if (gone.tools + gone.servers === 0) {
    work.warn(`nothing of the MCP server "${name}"${tool === undefined ? '' : `, tool "${tool}",`} was approved in ${project}`);
    return EXIT.failed;
  }
  if (gone.servers > 0) out(`The start of ${name} is no longer approved.`);
  if (gone.tools > 0) out(`Approvals of tools taken back: ${gone.tools}.`);
  if (work.servers.some((server) => server.name === name && server.autoApprove)) {
    work.warn(`"${name}" has auto_approve in ${work.config.state.configFile}, which approves everything of it`);
  }
  return EXIT.ok;
}

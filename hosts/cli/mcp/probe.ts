import { displayText } from '../../../core/approvals/display.ts';
import type { McpConnection, McpServer } from '../../../ports/mcp.ts';
import { notApproved } from '../../mcp-client/approvals.ts';
import { messageOf } from '../../mcp-client/connect-all.ts';
import { strippedNote } from '../../mcp-client/servers.ts';
import { EXIT } from '../exit-codes.ts';
import { loginText } from './login.ts';
import type { McpWork } from './work.ts';

interface ProbedTool {
  readonly tool: string;
  readonly registered?: string;
  /** `approved`, `not approved`, `left out by tools.enabled or tools.disabled`, or why a start refuses it. */
  readonly state: string;
  readonly refused: boolean;
}

/** `odek mcp probe <server>`: connects, lists, and shows what a start would make of it. Nothing is registered and nothing approved but the start. */
export async function probeServer(work: McpWork, name: string): Promise<number> {
  const { signal, clock } = work;
  const server = work.server(name);
  const refused = await work.approvals({ open: true }).admitServers([server], signal);
  if (refused.length > 0) throw notApproved(refused, work.consent !== undefined);
  const connection = await connected(work, server);
  try {
    const before = clock.monotonic();
    const list = await connection.listTools(signal);
    const listMs = Math.round(clock.monotonic() - before);
    const { tools, fault, warnings } = await probedTools(work, server, list);
    const facts = { ...factsOf(work, connection, listMs), login: await loginText(work, server) };
    const notes = [...list.warnings, ...warnings, ...(fault === undefined ? [] : [`it would end a start: ${fault}`])];
    if (work.json) work.out(JSON.stringify({ ...facts, tools, notes }, null, 2));
    else show(work, facts, tools, notes);
    return fault === undefined && !tools.some((tool) => tool.refused) ? EXIT.ok : EXIT.failed;
  } finally {
    await connection.close();
  }
}

/** A server that does not start may have lacked what it was not given. */
async function connected(work: McpWork, server: McpServer): Promise<McpConnection> {
  try {
    return await (await work.connector()).connect(server, work.signal);
  } catch (error) {
    const config = work.config.mcp_servers[server.name];
    const note = config === undefined ? undefined : strippedNote(server.name, config);
    if (note !== undefined) work.warn(note);
    throw error;
  }
}

async function probedTools(
  work: McpWork,
  server: McpServer,
  list: Awaited<ReturnType<McpConnection['listTools']>>,
): Promise<{ readonly tools: readonly ProbedTool[]; readonly fault?: string; readonly warnings: readonly string[] }> {
  try {
    const { tools, refused, unwanted, warnings } = await work.checked(server, list);
    const { admitted } = await work.approvals({ open: true }).admitTools(server, tools, { signal: work.signal, ask: false });
    const states = [
      ...tools.map((tool) => ({
        tool: tool.name.tool,
        registered: tool.name.registered,
        state: admitted.includes(tool) ? 'approved' : 'not approved',
        refused: false,
      })),
      ...refused.map(({ tool, reason }) => ({ tool, state: `refused: ${reason}`, refused: true })),
      ...unwanted.map((tool) => ({ tool, state: 'left out by tools.enabled or tools.disabled', refused: false })),
    ];
    const order = new Map(list.tools.map(({ name }, at) => [name, at]));
    // A refusal is told with its tool.
    const others = warnings.filter((warning) => !refused.some(({ reason }) => warning.endsWith(reason)));
    return { tools: states.sort((a, b) => (order.get(a.tool) ?? 0) - (order.get(b.tool) ?? 0)), warnings: others };
  } catch (error) {
    const tools = list.tools.map(({ name }) => ({ tool: displayText(name, 80), state: 'not looked at', refused: false }));
    return { tools, fault: messageOf(error), warnings: [] };
  }
}

function factsOf(work: McpWork, { server, report }: McpConnection, listMs: number) {
  const { protocolVersion, serverName, serverVersion, connectMs, noiseLines, stderrTail } = report();
  return {
    server: server.name,
    from: server.origin,
    target: work.target(server),
    protocol: protocolVersion,
    offered: server.protocol,
    calls_itself: displayText(`${serverName} ${serverVersion}`, 200),
    connect_ms: Math.round(connectMs),
    list_ms: listMs,
    noise_lines: noiseLines,
    stripped_env: work.config.mcp_servers[server.name]?.stripped_env ?? [],
    stderr: displayText(stderrTail),
  };
}

function show(
  work: McpWork,
  facts: ReturnType<typeof factsOf> & { readonly login: string },
  tools: readonly ProbedTool[],
  notes: readonly string[],
): void {
  const { out } = work;
  out(`server    ${facts.server} (${facts.from})`);
  out(`target    ${facts.target}`);
  out(`is        ${facts.calls_itself}`);
  out(`protocol  ${facts.protocol} (asked for ${facts.offered})`);
  out(`time      connected in ${facts.connect_ms} ms, listed in ${facts.list_ms} ms`);
  if (facts.login !== '') out(`login     ${facts.login}`);
  if (facts.noise_lines > 0) out(`noise     ${facts.noise_lines} lines on standard output are no messages`);
  const stripped = strippedNote(facts.server, facts);
  if (stripped !== undefined) out(`env       ${stripped}`);
  out(`tools     ${tools.length}`);
  const width = Math.max(0, ...tools.map(({ tool }) => tool.length));
  for (const { tool, registered, state } of tools) {
    const other = registered === undefined || registered === `${facts.server}__${tool}` ? '' : ` (the model calls it ${registered})`;
    out(`  ${tool.padEnd(width)}  ${state}${other}`);
  }
  for (const note of notes) out(`note      ${note}`);
}

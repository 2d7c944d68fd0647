import { ConfigError } from '../../../ports/errors.ts';
import { leftOutText } from '../../mcp-client/approvals.ts';
import { type ConnectedServer, connectAll, messageOf } from '../../mcp-client/connect-all.ts';
import { EXIT } from '../exit-codes.ts';
import type { McpWork } from './work.ts';

/** `odek mcp approve [server]`: asks about everything that a start would ask about, one server or all, and keeps the answers. Fails for a server that ends up with nothing. */
export async function approveServers(work: McpWork, name: string | undefined): Promise<number> {
  const { servers, signal, warn } = work;
  if (work.consent === undefined) {
    throw new ConfigError('mcp_nobody_to_ask', 'odek mcp approve needs a terminal: approvals are given by a person');
  }
  const wanted = name === undefined ? servers : [work.server(name)];
  const approvals = work.approvals({ open: false });
  const refused = await approvals.admitServers(wanted, signal);
  for (const { name: each } of refused) work.out(`${each}: not approved`);
  const { connected, failed } = await connectAll({
    servers: wanted.filter((server) => !refused.includes(server)),
    connector: await work.connector(),
    abortOnFailure: false,
    signal,
  });
  for (const { error } of failed) warn(messageOf(error));
  let without = 0;
  try {
    for (const each of connected) without += (await approveTools(work, approvals, each)) ? 0 : 1;
  } finally {
    await Promise.allSettled(connected.map(({ connection }) => connection.close()));
  }
  return refused.length + failed.length + without === 0 ? EXIT.ok : EXIT.failed;
}

/** Resolves with whether the server has anything to offer that is approved, or nothing to offer at all. */
async function approveTools(
  work: McpWork,
  approvals: ReturnType<McpWork['approvals']>,
  { server, list }: ConnectedServer,
): Promise<boolean> {
  const { tools, warnings } = await work.checked(server, list);
  for (const warning of [...list.warnings, ...warnings]) work.warn(warning);
  const { admitted, left } = await approvals.admitTools(server, tools, { signal: work.signal });
  const told = leftOutText(server, left, true);
  if (told !== undefined) work.warn(told);
  work.out(`${server.name}: ${admitted.length} of ${tools.length} tools approved`);
  return admitted.length > 0 || left.length === 0;
}

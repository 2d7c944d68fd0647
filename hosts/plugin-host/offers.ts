import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMcpFile } from '../../core/bundles/mcp-file.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { Hash } from '../../ports/hash.ts';
import type { McpServer } from '../../ports/mcp.ts';
import { bundleServer } from '../bundles/servers.ts';
import { isReviewed } from './services.ts';

const SKILL_FILE = 'SKILL.md';
const MAX_SKILLS = 128;

/**
 * A server that code registered, read by the rules of `mcp.json`; text says why it is not taken. Code decides this when it runs, so
 * that no review could show it: it starts no program outside of its process, and reaches no host but those that a review named.
 */
export function serverOf(
  bundle: ActiveBundle,
  name: string,
  definition: Readonly<Record<string, unknown>>,
  hash: Hash,
): McpServer | string {
  const { source, dataDir, name: plugin } = bundle;
  const text = JSON.stringify({ mcpServers: { [name]: definition } });
  const { servers, problems } = parseMcpFile(text, { mcpSchemas: [], lenient: true, hasFile: (path) => existsSync(join(source, path)) });
  const [server] = servers;
  if (server === undefined)
    return `the server "${name}" cannot be used: ${problems.map(({ text: why }) => why).join('; ') || 'its definition is not valid'}`;
  if (server.transport === 'stdio')
    return `the server "${name}" would start a program that no review showed; put it into mcp.json, whose command lines a review shows`;
  const { hostServices, networkHosts } = bundle.capabilities;
  const url = new URL(server.url);
  if (!hostServices.includes('network') || !isReviewed(url, networkHosts))
    return `the server "${name}" is at ${url.host}, which no review named; put it into mcp.json, or name the host in capabilities.network_hosts and ask for "network"`;
  return bundleServer(server, { plugin, root: source, data: dataDir }, hash);
}

/** Why a folder of a reviewed bundle is no root of skills; undefined when it is one. */
export async function skillRootFault({ source }: ActiveBundle, path: string): Promise<string | undefined> {
  let folder = source;
  for (const part of path.split('/')) {
    folder = join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true) return `the bundle has no folder "${path}"`;
  }
  const children = await readdir(folder, { withFileTypes: true });
  const skills = children.filter(
    (each) => each.isDirectory() && !each.name.startsWith('.') && existsSync(join(folder, each.name, SKILL_FILE)),
  );
  if (skills.length === 0) return `the folder "${path}" holds no skill: there is no <skill>/${SKILL_FILE} in it`;
  return skills.length > MAX_SKILLS ? `the folder "${path}" holds ${skills.length} skills, the limit is ${MAX_SKILLS}` : undefined;
}

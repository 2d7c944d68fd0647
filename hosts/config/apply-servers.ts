import { keptOAuthSecrets } from '../mcp-client/oauth-secrets.ts';
import type { Entry } from './layer.ts';
import { type McpServerEntry, type McpServersInput, resolveMcpServers } from './mcp-servers.ts';
import { isServer, type Merged, SERVERS } from './merge.ts';
import type { ConfigValue, StatePaths } from './types.ts';

/** What the two files say, and what is needed to read it. */
export interface ServerLayers extends Pick<McpServersInput, 'lookup' | 'secret' | 'warn'> {
  readonly operator: readonly Entry[];
  readonly project: readonly Entry[];
  /** Without `home` no login is kept anywhere. */
  readonly state: Pick<StatePaths, 'configFile' | 'projectFile'> & Partial<Pick<StatePaths, 'home'>>;
}

/** Puts the servers that count in place of what the files say, each whole from one of them. */
export function applyServers({ values, sources }: Merged, { operator, project, state, ...reading }: ServerLayers): void {
  for (const key of [...values.keys()].filter((each) => isServer({ key: each }))) {
    values.delete(key);
    sources.delete(key);
  }
  const servers = resolveMcpServers({
    operator: serversOf(operator),
    project: serversOf(project),
    operatorFile: state.configFile,
    projectFile: state.projectFile,
    ...reading,
  });
  const { home } = state;
  if (home !== undefined && Object.values(servers).some(({ url, token_env }) => url !== undefined && token_env === undefined)) {
    for (const kept of keptOAuthSecrets(home)) reading.secret(kept);
  }
  for (const [name, server] of Object.entries(servers)) {
    values.set(`${SERVERS}${name}`, server as unknown as ConfigValue);
    sources.set(`${SERVERS}${name}`, server.origin === 'operator' ? 'global' : 'project');
  }
}

function serversOf(entries: readonly Entry[]): readonly McpServerEntry[] {
  return entries.filter(isServer).map(({ key, value }) => ({ name: key.slice(SERVERS.length), value: value as McpServerEntry['value'] }));
}

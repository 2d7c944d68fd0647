import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import type { LoginRequest, McpOAuth } from '../../../adapters/mcp/oauth/index.ts';
import { createFileApprovals } from '../../../adapters/mcp-approvals/files.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { type CheckedDefinitions, checkDefinitions } from '../../../core/mcp/definition.ts';
import { mcpToolNames } from '../../../core/mcp/names.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import type { Clock } from '../../../ports/clock.ts';
import { ConfigError } from '../../../ports/errors.ts';
import type { McpServer, McpToolList } from '../../../ports/mcp.ts';
import type { McpApprovalStore } from '../../../ports/mcp-approval.ts';
import type { ResolvedConfig } from '../../config/types.ts';
import { createMcpApprovals, type McpApprovals } from '../../mcp-client/approvals.ts';
import type { Consent } from '../../mcp-client/consent.ts';
import type { OpenConnector } from '../../mcp-client/open-connector.ts';
import { mcpServersOf, targetOf } from '../../mcp-client/servers.ts';
import { isWanted } from '../../tool-filter.ts';
import type { CommandContext } from '../command.ts';
import { warner } from '../host.ts';
import { suggestion } from '../nearest.ts';
import { terminalConsent } from '../operator-consent.ts';
import { sanitise } from '../render/sanitise.ts';

/** What the commands about MCP servers share. */
export interface McpWork {
  readonly config: ResolvedConfig;
  readonly servers: readonly McpServer[];
  /** Absolute: approvals hold in this folder. */
  readonly project: string;
  readonly store: McpApprovalStore;
  readonly consent: Consent | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly json: boolean;
  out(line: string): void;
  warn(text: string): void;
  /** The configured server of this name. Throws `ConfigError` `unknown_server`. */
  server(name: string): McpServer;
  target(server: McpServer): string;
  /** Approvals as a start would see them; `open: false` leaves `ODEK_APPROVE_MCP` out. */
  approvals(options: { readonly open: boolean }): McpApprovals;
  /** What serves to connect; made when it is first asked for. */
  connector(): Promise<OpenConnector>;
  /** Logins at servers; `show` is what lets one begin. */
  oauth(show?: (request: LoginRequest) => Promise<void>): Promise<McpOAuth>;
  /** The checks of a start over one listing, of the tools that the operator wants. Throws for a name that would end a start. */
  checked(server: McpServer, list: McpToolList): Promise<CheckedDefinitions & { readonly unwanted: readonly string[] }>;
  close(): Promise<void>;
}

export async function openMcpWork(context: CommandContext, config: ResolvedConfig, signal: AbortSignal): Promise<McpWork> {
  const clock = createSystemClock();
  const hash = createSha256();
  const validator = createSchemaValidator();
  const redactor = createRedactor(config.secrets);
  const consent = await terminalConsent(clock);
  const warn = warner(context);
  const project = context.cwd;
  const servers = mcpServersOf(config, project);
  const store = createFileApprovals({ folder: config.state.home, warn });
  let connector: Promise<OpenConnector> | undefined;
  const closings: (() => Promise<void>)[] = [];
  return {
    ...{ config, servers, project, store, consent, clock, signal, warn },
    json: context.args.flags.json === true,
    out: (line) => void context.io.stdout.write(`${context.args.flags.json === true ? line : sanitise(line)}\n`),
    server(name) {
      const found = servers.find((each) => each.name === name);
      if (found !== undefined) return found;
      const names = servers.map((each) => each.name);
      throw new ConfigError('unknown_server', `no MCP server "${name}" is configured${suggestion(name, names)}`, {
        value: name,
        limit: names,
      });
    },
    target: (server) => targetOf(server, redactor.text),
    approvals: ({ open }) => {
      const env = open ? context.env : {};
      return createMcpApprovals({ store, hash, project, env, consent, now: clock.now, warn });
    },
    connector() {
      connector ??= import('../../mcp-client/connector.ts').then(({ openConnector }) =>
        openConnector({ config, env: context.env, workspace: project }, redactor, warn),
      );
      return connector;
    },
    async oauth(show) {
      const [{ openGuardedClients }, { openMcpOAuth }] = await Promise.all([
        import('../../mcp-client/connector.ts'),
        import('../../mcp-client/oauth.ts'),
      ]);
      const clients = openGuardedClients({ config, env: context.env });
      closings.push(clients.close);
      return openMcpOAuth({ config, workspace: project, http: clients.to, redactor, ...(show && { show }) });
    },
    async checked(server, { tools }) {
      const all = tools.map(({ name }) => name);
      const names = mcpToolNames(server.name, all, { holderOf: () => undefined }, hash);
      const wanted = names.map(({ registered, qualified }) => isWanted(config.tools, [registered, qualified]));
      const result = await checkDefinitions(
        server,
        tools.filter((_, at) => wanted[at]),
        names.filter((_, at) => wanted[at]),
        { hash, validator },
      );
      return { ...result, unwanted: all.filter((_, at) => !wanted[at]) };
    },
    async close() {
      await (await connector)?.close();
      await Promise.all(closings.map((close) => close()));
    },
  };
}

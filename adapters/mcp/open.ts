import { hasCode } from '../../ports/errors.ts';
import type { McpConnection, McpServer } from '../../ports/mcp.ts';
import { openConnection } from './connection.ts';
import { createHttpTransport } from './http.ts';
import type { Eras, McpConnectorOptions } from './options.ts';
import { openSession, type Session } from './session.ts';
import { createStdioTransport, type OdekTransport } from './stdio.ts';

/** Connects to one server, over the transport that it names. */
export function connectTo(server: McpServer, options: McpConnectorOptions, eras: Eras, signal: AbortSignal): Promise<McpConnection> {
  reportStripped(server, options);
  return openConnection({ server, open: (onToolsChanged, life) => openLife({ server, options, eras, onToolsChanged }, life) }, signal);
}

interface Life {
  readonly server: McpServer;
  readonly options: McpConnectorOptions;
  readonly eras: Eras;
  readonly onToolsChanged: () => void;
}

/**
 * One life of a server. With `auto`, a server known to be old is not asked again; one that ends because it was
 * asked is started once more and begun with as an old one.
 */
async function openLife(life: Life, signal: AbortSignal): Promise<Session> {
  const { server, eras } = life;
  if (server.protocol !== 'auto') return begin(life, server.protocol, signal);
  const key = keyOf(server);
  if (eras.get(key) === 'legacy') {
    try {
      return await begin(life, 'legacy', signal);
    } catch (error) {
      if (!hasCode(error, 'mcp_handshake_failed')) throw error;
      eras.set(key, undefined);
    }
  }
  const session = await begin(life, 'auto', signal).catch((error) => {
    if (server.transport !== 'stdio' || !hasCode(error, 'mcp_server_exited')) throw error;
    return begin(life, 'legacy', signal);
  });
  if (eras.get(key) !== session.era) eras.set(key, session.era);
  return session;
}

function begin({ server, options, onToolsChanged }: Life, choice: McpServer['protocol'] | 'legacy', signal: AbortSignal): Promise<Session> {
  return openSession({ server, transport: transportOf(server, options), choice, version: options.version, onToolsChanged }, signal);
}

function transportOf(server: McpServer, options: McpConnectorOptions): OdekTransport {
  if (server.transport === 'http') {
    return createHttpTransport(server, { http: options.http(server), authorization: options.authorization?.(server) });
  }
  const { childEnvironment, trees, redaction, observer, closeGraceMs } = options;
  return createStdioTransport(server, {
    childEnvironment,
    trees,
    redaction,
    onStderr: (line) => observer?.stderr?.(server, line),
    onNoise: (line) => observer?.noise?.(server, line),
    ...(closeGraceMs === undefined ? {} : { closeGraceMs }),
  });
}

function reportStripped(server: McpServer, { childEnvironment, observer }: McpConnectorOptions): void {
  if (server.transport !== 'stdio' || observer?.stripped === undefined) return;
  const given = childEnvironment(server.env);
  const names = Object.keys(server.env).filter((name) => server.env[name] !== '' && !(name in given));
  if (names.length > 0) observer.stripped(server, names);
}

/** What makes it the same server as before, as far as its protocol goes. */
function keyOf(server: McpServer): string {
  return JSON.stringify(server.transport === 'http' ? ['http', server.url] : ['stdio', server.command, server.args, server.cwd]);
}

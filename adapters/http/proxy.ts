import { request as httpRequest } from 'node:http';
import type { AgentOptions } from 'node:https';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { ConfigError } from '../../ports/errors.ts';
import { HttpError } from '../../ports/http.ts';

const TUNNEL_TIMEOUT_MS = 15_000;

/** Parses `http://[user:password@]host:port`. Throws {@link ConfigError} `invalid_proxy`; the text holds no password. */
export function parseProxy(proxy: string): URL {
  const url = URL.parse(proxy);
  if (url === null || url.protocol !== 'http:' || url.hostname === '') {
    throw new ConfigError('invalid_proxy', 'a proxy must be an http://host:port URL', {
      value: url?.protocol ?? '(not a URL)',
      limit: 'http:',
    });
  }
  return url;
}

/** The header that carries the proxy's credentials, if it has any. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

type Connected = (error: Error | null, socket?: Duplex) => void;

/** An agent for https that reaches its host through a CONNECT tunnel. */
export function createTunnelAgent(proxy: URL, options: AgentOptions): HttpsAgent {
  const agent = new HttpsAgent(options);
  agent.createConnection = (target: unknown, connected?: unknown): Duplex | undefined => {
    openTunnel(proxy, target as { host: string; port: number; servername?: string }, connected as Connected);
    return undefined;
  };
  return agent;
}

function openTunnel(proxy: URL, target: { host: string; port: number; servername?: string }, connected: Connected): void {
  const authority = `${target.host}:${target.port}`;
  const request = httpRequest({
    host: proxy.hostname,
    port: proxy.port || 80,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    timeout: TUNNEL_TIMEOUT_MS,
  });
  request.once('connect', (response, socket) => {
    socket.setTimeout(0);
    if (response.statusCode === 200) {
      connected(null, tlsConnect({ ...target, socket }));
      return;
    }
    socket.destroy();
    connected(
      new HttpError('network', `the proxy answered ${response.statusCode} for ${authority}`, { value: response.statusCode, limit: 200 }),
    );
  });
  request.once('timeout', () => request.destroy(new HttpError('network', 'the proxy did not answer', { limit: TUNNEL_TIMEOUT_MS })));
  request.once('error', (error) => connected(error));
  request.end();
}

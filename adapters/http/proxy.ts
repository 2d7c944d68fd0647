import type { Agent } from 'node:http';
import { request as httpRequest } from 'node:http';
import type { AgentOptions } from 'node:https';
import { Agent as HttpsAgent } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { ConfigError } from '../../ports/errors.ts';
import { HttpError } from '../../ports/http.ts';
import type { Connect, Open } from './connection.ts';

const TUNNEL_TIMEOUT_MS = 15_000;

/** Parses `http://[user:password@]host:port`. Throws {@link ConfigError} `invalid_proxy`; the text holds no password. */
function parseProxy(proxy: string): URL {
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
function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** Plain requests handed to the proxy with their whole URL. */
export function forwarding(address: string, agent: Agent): Open {
  const proxy = parseProxy(address);
  return (target) => {
    const headers = target.headers as Record<string, string>;
    const authority = authorityOf(String(target.host), Number(target.port));
    return httpRequest({
      ...target,
      agent,
      host: hostOf(proxy),
      port: proxy.port || 80,
      path: `http://${authority.replace(/:80$/, '')}${target.path}`,
      headers: { ...headers, host: authority.replace(/:80$/, ''), ...proxyHeaders(proxy) },
    });
  };
}

/** Opens each connection as a tunnel to the very address that was checked: the proxy resolves nothing. */
export function connectThrough(address: string): Connect {
  const proxy = parseProxy(address);
  return (target) => openTunnel(proxy, authorityOf(target.address, target.port), 'the address asked for');
}

type Connected = (error: Error | null, socket?: Duplex) => void;

/** An agent for https that reaches its host through a CONNECT tunnel. */
export function createTunnelAgent(address: string, options: AgentOptions): HttpsAgent {
  const proxy = parseProxy(address);
  const agent = new HttpsAgent(options);
  agent.createConnection = (options: unknown, connected?: unknown): Duplex | undefined => {
    const target = options as { host: string; port: number; servername?: string };
    const authority = authorityOf(target.host, target.port);
    openTunnel(proxy, authority, authority).then(
      (socket) => (connected as Connected)(null, tlsConnect({ ...target, socket })),
      (error: Error) => (connected as Connected)(error),
    );
    return undefined;
  };
  return agent;
}

/** `shown` stands for the target in an error. */
function openTunnel(proxy: URL, authority: string, shown: string): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const request = httpRequest({
    host: hostOf(proxy),
    port: proxy.port || 80,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    timeout: TUNNEL_TIMEOUT_MS,
  });
  request.once('connect', (response, socket) => {
    socket.setTimeout(0);
    if (response.statusCode === 200) {
      resolve(socket);
      return;
    }
    socket.destroy();
    reject(new HttpError('network', `the proxy answered ${response.statusCode} for ${shown}`, { value: response.statusCode, limit: 200 }));
  });
  request.once('timeout', () => request.destroy(new HttpError('network', 'the proxy did not answer', { limit: TUNNEL_TIMEOUT_MS })));
  request.once('error', reject);
  request.end();
  return promise;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function authorityOf(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

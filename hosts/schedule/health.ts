import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../../ports/errors.ts';

/** What `GET /health` answers: 200 with `ok`, else 503. Field names are those of the wire. */
export interface Health {
  /** `conflict`: another process has what this one needs. `unreachable`: the service does not answer. */
  readonly status: 'starting' | 'ok' | 'draining' | 'conflict' | 'unreachable';
  readonly uptime_seconds?: number;
  readonly running?: number;
}

export interface HealthEndpoint {
  /** Where it listens, `host:port`. */
  readonly address: string;
  /** Only this machine can reach it. */
  readonly isLocal: boolean;
  close(): Promise<void>;
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
const MAX_CONNECTIONS = 32;
const TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** `host:port`, IPv6 in brackets. */
function placeOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(at + 1)) };
}

/** Answers `GET /health` at `host:port`, and nothing else. Rejects with `ConfigError` `health_unavailable`, which names `key`. */
export async function serveHealth(address: string, look: () => Health, key = 'schedules.health_addr'): Promise<HealthEndpoint> {
  const { host, port } = placeOf(address);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: TIMEOUT_MS, keepAliveTimeout: 1 }, (request, response) => {
    const isHealth = request.method === 'GET' && request.url?.split('?')[0] === '/health';
    const health = look();
    const status = !isHealth ? 404 : health.status === 'ok' ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' });
    response.end(isHealth ? JSON.stringify(health) : '{"error":"not found"}');
    request.resume();
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void =>
      reject(
        new ConfigError('health_unavailable', `${key} ${address} cannot be listened at: ${cause.message}`, {
          value: address,
          cause,
        }),
      );
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      server.on('error', () => {});
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    isLocal: LOOPBACK.test(host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

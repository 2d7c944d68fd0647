import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CancelledError } from '../../../ports/errors.ts';

const PATH = '/callback';
const MAX_URL_CHARS = 16 * 1024;

/** Waits on this machine for the browser to come back. */
export interface Loopback {
  readonly redirectUri: string;
  readonly port: number;
  /**
   * What the browser brought with exactly this `state`. Others are turned away and do not count. Rejects with
   * `CancelledError` when `signal` fires.
   */
  wait(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
}

/** Listens on 127.0.0.1, at the first of `ports` that is free; 0 is any. */
export async function openLoopback(ports: readonly number[]): Promise<Loopback> {
  const arrivals = new Set<(url: URL, response: ServerResponse) => boolean>();
  const server = createServer({ maxHeaderSize: MAX_URL_CHARS }, (request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    if (request.method !== 'GET' || url?.pathname !== PATH) return answer(response, 404, 'There is nothing here.');
    if (![...arrivals].some((arrive) => arrive(url, response))) answer(response, 400, 'This is not the login that odek waits for.');
  });
  await listenOnce(server, ports);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    redirectUri: `http://127.0.0.1:${port}${PATH}`,
    wait(state, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      const abort = (): void => reject(new CancelledError());
      const arrive = ({ searchParams }: URL, response: ServerResponse): boolean => {
        if (!isSame(searchParams.get('state') ?? '', state)) return false;
        answer(response, 200, 'odek has what it needs. You can close this page.');
        resolve(searchParams);
        return true;
      };
      arrivals.add(arrive);
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      return promise.finally(() => {
        arrivals.delete(arrive);
        signal.removeEventListener('abort', abort);
      });
    },
    close() {
      server.close();
      // The page that is still written gets out first.
      setTimeout(() => server.closeAllConnections(), 500).unref();
    },
  };
}

async function listenOnce(server: Server, ports: readonly number[]): Promise<void> {
  for (const [index, port] of ports.entries()) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          server.off('error', reject);
          resolve();
        });
      });
      return;
    } catch (error) {
      if (index === ports.length - 1) throw error;
    }
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'",
    connection: 'close',
  });
  response.end(`${text}\n`);
}

import type { LookupAddress } from 'node:dns';
import type { Agent } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { TcpNetConnectOpts } from 'node:net';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connect, Open } from './connection.ts';

export interface LineOptions {
  /** `direct`: the client connects by itself. `forward`: a proxy resolves names. `pinned`: a proxy connects to the address that was checked. */
  readonly via: { readonly kind: 'direct' } | { readonly kind: 'forward' | 'pinned'; readonly proxy: string };
  /** Replaces the system's way to connect. */
  readonly connect?: Connect | undefined;
  /** PEM certificates trusted beside the system's. */
  readonly certificates?: string | undefined;
}

export interface Lines {
  (url: URL): Promise<Open>;
  close(): void;
}

const AGENT_OPTIONS = { keepAlive: true, scheduling: 'lifo', maxSockets: 64, maxFreeSockets: 8 } as const;

/** The two agents; TLS and proxy code is loaded when first needed, as it costs a third of a start. A kept connection serves the name it was made for and no other. */
export function createLines({ via, connect, certificates }: LineOptions): Lines {
  let plain: Promise<Open> | undefined;
  let secure: Promise<Open> | undefined;
  const agents: Agent[] = [];
  const opener = async (): Promise<Connect | undefined> =>
    via.kind === 'pinned' ? (await import('./proxy.ts')).connectThrough(via.proxy) : connect;

  const openSecure = async (): Promise<Open> => {
    const { Agent: HttpsAgent, request } = await import('node:https');
    const tls = certificates === undefined ? AGENT_OPTIONS : { ...AGENT_OPTIONS, ca: await trustedWith(certificates) };
    const dial = await opener();
    let agent: Agent;
    if (via.kind === 'forward') agent = (await import('./proxy.ts')).createTunnelAgent(via.proxy, tls);
    else {
      agent = new HttpsAgent(tls);
      if (dial) {
        const { connect: tlsConnect } = await import('node:tls');
        dialWith(agent, dial, (target, socket) => tlsConnect({ ...target, socket }));
      }
    }
    agents.push(agent);
    return (target) => request({ ...target, agent });
  };
  const openPlain = async (): Promise<Open> => {
    const agent = new HttpAgent(AGENT_OPTIONS);
    agents.push(agent);
    if (via.kind === 'forward') return (await import('./proxy.ts')).forwarding(via.proxy, agent);
    const dial = await opener();
    if (dial) dialWith(agent, dial, (_target, socket) => socket);
    return (target) => httpRequest({ ...target, agent });
  };
  const lines = (url: URL): Promise<Open> => {
    if (url.protocol === 'http:') {
      plain ??= openPlain();
      return plain;
    }
    secure ??= openSecure();
    return secure;
  };
  return Object.assign(lines, { close: () => agents.forEach((agent) => void agent.destroy()) });
}

type Connected = (error: Error | null, socket?: Duplex) => void;
type Target = TcpNetConnectOpts & { readonly host: string };

/** Makes an agent open its connections with `dial`, to the first address that the request's own lookup admits. */
function dialWith(agent: Agent, dial: Connect, finish: (target: Target, socket: Duplex) => Duplex): void {
  agent.createConnection = (options: unknown, connected?: unknown): undefined => {
    const target = options as Target;
    const done = connected as Connected;
    addressOf(target)
      .then((address) => dial({ address, port: Number(target.port) }))
      .then(
        (socket) => done(null, finish(target, socket)),
        (error: Error) => done(error),
      );
    return undefined;
  };
}

/** A literal address was checked with the URL; a name is resolved and checked by `lookup`. */
function addressOf({ host, lookup }: Target): Promise<string> {
  if (isIP(host) !== 0 || lookup === undefined) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => {
      const first = (addresses as LookupAddress[] | undefined)?.[0];
      if (error || first === undefined) reject(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }));
      else resolve(first.address);
    });
  });
}

async function trustedWith(certificates: string): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, certificates];
}

import { proxyVariable } from '../adapters/http/proxy-variable.ts';
import { isInternalHost } from '../ports/public-address.ts';
import type { ResolvedConfig } from './config/types.ts';

/** `network.proxy` when it says to connect directly, whatever the environment names. */
const DIRECT = 'none';

type Network = Pick<ResolvedConfig, 'network'>;

/** The proxy for an endpoint that the operator configured. One on this machine or in its network is reached directly. */
export function endpointProxy({ network: { proxy } }: Network, url: URL | null): { readonly proxy?: string } {
  if (proxy === undefined || proxy === DIRECT || url === null || isInternalHost(url.hostname)) return {};
  return { proxy };
}

/** What the client of the tools is told of proxies: the operator's, or that the environment names one that nobody chose. */
export function guardedProxy({ config, env }: { readonly config: Network; readonly env: Readonly<Record<string, string | undefined>> }): {
  readonly proxy?: string;
  readonly environmentProxy?: string;
} {
  const { proxy } = config.network;
  if (proxy === DIRECT) return {};
  if (proxy !== undefined) return { proxy };
  const variable = proxyVariable(env);
  return variable === undefined ? {} : { environmentProxy: variable };
}

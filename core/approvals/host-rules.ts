import { isInternalHost } from '../../ports/public-address.ts';
import type { Finding } from './path-rules.ts';

/** `host:port` entries that the operator admitted by name. */
export type ReachableHosts = readonly string[];

/**
 * The classes of reaching a host, `host[:port]` as a URL has it: it is network traffic, and a write to the
 * system where the host is this machine or in its network, unless the operator admitted exactly that host
 * and port.
 */
export function judgeHost(host: string, isUpload: boolean, reachable: ReachableHosts): readonly Finding[] {
  const traffic: Finding = isUpload
    ? { class: 'network_upload', reason: `it may change something at ${host}`, refused: false }
    : { class: 'network_egress', reason: `it reaches ${host}`, refused: false };
  return leadsInside(host, reachable)
    ? [{ class: 'system_write', reason: `${host} is this machine or in its network`, refused: false }, traffic]
    : [traffic];
}

/** Whether a host, with or without a port, is internal and not admitted. What is no host at all is not. */
export function leadsInside(host: string, reachable: ReachableHosts): boolean {
  const url = URL.parse(`http://${host}`);
  if (url === null || url.host !== host.toLowerCase().replace(/:80$/, '') || !isInternalHost(url.hostname)) return false;
  const ports = url.port === '' ? (host.endsWith(':80') ? ['80'] : ['80', '443']) : [url.port];
  return !ports.some((port) => reachable.includes(`${url.hostname}:${port}`));
}

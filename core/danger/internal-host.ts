import { isInternalHost } from '../../ports/public-address.ts';

/**
 * Whether a host, with or without a port and in whatever spelling, is this machine or in its network, and
 * not admitted: `reachable` has `host:port` entries. What is no host at all is not.
 */
export function leadsInside(host: string, reachable: readonly string[]): boolean {
  const url = /[\s/?#@\\]/.test(host) ? null : URL.parse(`http://${host}`);
  if (url === null || !isInternalHost(url.hostname)) return false;
  const ports = url.port === '' && !/:\d+$/.test(host) ? ['80', '443'] : [url.port || '80'];
  return !ports.some((port) => reachable.includes(`${url.hostname}:${port}`));
}

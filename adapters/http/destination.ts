import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { ConfigError } from '../../ports/errors.ts';
import { HttpError } from '../../ports/http.ts';
import { isPublicAddress } from './addresses.ts';

/** Resolves a name to all its addresses; rejects like `dns.promises.lookup`. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Where a request may go. `resolve` is what the socket uses, so a check and a connect see the same answer. */
export interface Destination {
  /** As the caller named it, with the port; safe to show. */
  readonly host: string;
  readonly resolve: Resolve;
}

/** Judges a URL. Throws {@link HttpError} `invalid_url` or `host_refused`. */
export type DestinationRule = (url: URL) => Destination;

/** `host:port` of a URL in the form that allow lists use: lower-case, IPv6 in brackets, the scheme's port when none is given. */
export function hostPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

/** Only the listed hosts, on any network. */
export function operatorRule(allowHosts: readonly string[], resolve: Resolve): DestinationRule {
  const allowed = parseAllowHosts(allowHosts);
  return (url) => {
    const host = hostPort(url);
    if (!allowed.has(host)) throw refused(host, `is not a configured host (${[...allowed].join(', ') || 'none is configured'})`);
    return { host, resolve };
  };
}

/** Public addresses, and the listed hosts on any network. Every address of a name must be public. */
export function guardedRule(allowHosts: readonly string[], resolve: Resolve): DestinationRule {
  const allowed = parseAllowHosts(allowHosts);
  return (url) => {
    const host = hostPort(url);
    if (allowed.has(host)) return { host, resolve };
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw refused(host, 'is not a public address');
    return { host, resolve: async (hostname) => publicOnly(host, await resolve(hostname)) };
  };
}

function publicOnly(host: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  if (addresses.length === 0 || !addresses.every((entry) => isPublicAddress(entry.address))) {
    throw refused(host, 'does not lead to public addresses only');
  }
  return addresses;
}

function refused(host: string, why: string): HttpError {
  return new HttpError('host_refused', `${host} ${why}`, { value: host });
}

function parseAllowHosts(entries: readonly string[]): ReadonlySet<string> {
  return new Set(entries.map(parseAllowHost));
}

function parseAllowHost(entry: string): string {
  const match = /^([^/@\s]+):(\d{1,5})$/.exec(entry);
  const url = match === null ? null : URL.parse(`http://${entry}`);
  if (url === null || Number(match?.[2]) > 65_535) {
    throw new ConfigError('invalid_allow_host', `an allowed host must be "host:port"; got ${JSON.stringify(entry)}`, {
      value: entry,
      limit: 'host:port',
    });
  }
  return `${url.hostname}:${Number(match?.[2])}`;
}

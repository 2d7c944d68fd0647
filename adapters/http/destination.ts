import type { LookupAddress } from 'node:dns';
import { ConfigError } from '../../ports/errors.ts';
import { HttpError } from '../../ports/http.ts';
import { isInternalHost, isPublicAddress } from '../../ports/public-address.ts';

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

/** Ports of services that take lines of text for commands: what a page asks there could be one. */
const FOREIGN_PORTS: ReadonlySet<string> = new Set(
  '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3306 3389 3659 4045 4190 5060 5061 5432 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 9200 11211 27017'.split(
    ' ',
  ),
);

/** Public addresses, and the listed hosts on any network. Every address of a name must be public. */
export function guardedRule(allowHosts: readonly string[], resolve: Resolve): DestinationRule {
  const allowed = parseAllowHosts(allowHosts);
  return (url) => {
    const host = hostPort(url);
    if (allowed.has(host)) return { host, resolve };
    if (isInternalHost(url.hostname)) throw refused(host, 'is not a public address');
    if (FOREIGN_PORTS.has(url.port)) throw refused(host, 'is not asked: the port belongs to a service that is no web server');
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

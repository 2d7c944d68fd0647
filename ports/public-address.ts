/** `[bits of the network, prefix length]`; what is not plain unicast on the public internet (IANA special-purpose registries). */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Inside 2000::/3, which is all of IPv6 that is routed publicly: special and Teredo, documentation, 6to4. */
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
const LOCAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'home.arpa'];

const V4_BITS = 32;
const V6_BITS = 128;
const V6_GROUPS = 8;
const refusedV4 = REFUSED_V4.map(([network, prefix]) => [v4Bits(network) ?? 0n, prefix] as const);
const refusedV6 = REFUSED_V6.map(([network, prefix]) => [v6Bits(network) ?? 0n, prefix] as const);
const publicV6 = [v6Bits('2000::') ?? 0n, 3] as const;

/**
 * True for an address on the public internet, in the usual notation. Anything else is false: loopback,
 * private, link-local, shared, reserved and multicast networks, IPv4 inside IPv6, an address with a zone,
 * and what is no address.
 */
export function isPublicAddress(address: string): boolean {
  const v4 = v4Bits(address);
  if (v4 !== undefined) return !refusedV4.some((network) => isIn(v4, network, V4_BITS));
  const v6 = v6Bits(address);
  return v6 !== undefined && isIn(v6, publicV6, V6_BITS) && !refusedV6.some((network) => isIn(v6, network, V6_BITS));
}

/**
 * Whether the host name of a URL, as the URL parser gives it, means this machine or the network it is in:
 * an address that is not public, or a name that no public server has. What any other name leads to is
 * known only once it is resolved.
 */
export function isInternalHost(hostname: string): boolean {
  const name = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (name.includes(':') || v4Bits(name) !== undefined) return !isPublicAddress(name);
  return !name.includes('.') || LOCAL_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}

function isIn(bits: bigint, [network, prefix]: readonly [bigint, number], width: number): boolean {
  const rest = BigInt(width - prefix);
  return bits >> rest === network >> rest;
}

function v4Bits(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1);
  if (parts === undefined || parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return undefined;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function v6Bits(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = [groupsOf(halves[0] ?? ''), groupsOf(halves[1] ?? '')];
  if (head === undefined || tail === undefined) return undefined;
  const missing = V6_GROUPS - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...new Array<bigint>(missing).fill(0n), ...tail].reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** The 16-bit groups of one side of `::`; the last two may be an IPv4 address. */
function groupsOf(text: string): readonly bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  for (const part of text.split(':')) {
    const v4 = v4Bits(part);
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups.length <= V6_GROUPS ? groups : undefined;
}

import { leadsInside } from '../danger/internal-host.ts';
import type { Finding } from './path-rules.ts';

/**
 * The classes of reaching a host, `host[:port]` as a URL has it: it is network traffic, and a write to the
 * system where the host is this machine or in its network, unless the operator admitted exactly that host
 * and port.
 */
export function judgeHost(host: string, isUpload: boolean, reachable: readonly string[]): readonly Finding[] {
  const traffic: Finding = isUpload
    ? { class: 'network_upload', reason: `it may change something at ${host}`, refused: false }
    : { class: 'network_egress', reason: `it reaches ${host}`, refused: false };
  return leadsInside(host, reachable)
    ? [{ class: 'system_write', reason: `${host} is this machine or in its network`, refused: false }, traffic]
    : [traffic];
}

import type { BundleCapabilities, BundleScope } from '../../ports/bundle.ts';
import type { Hash } from '../../ports/hash.ts';
import { canonicalJson, framedHash, framedList } from '../mcp/canonical.ts';
import type { BundleMcpDefinition } from './mcp-file.ts';

/** Raised whenever what a trusted bundle may do changes, so that everything is reviewed anew. */
export const POLICY_VERSION = 1;

const CONTENT_DOMAIN = 'odek bundle content 1';
const TOKEN = /^([0-9a-f]{64})\.([0-9a-f]{64})$/;

/** One file of a bundle. */
export interface BundleFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Of its bytes, 64 hex digits. */
  readonly sha256: string;
}

/** What every file of a bundle is, whatever order they are listed in. */
export function contentHash(files: readonly BundleFile[], hash: Hash): string {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  return framedHash([CONTENT_DOMAIN, ...sorted.map(({ path, size, sha256 }) => framedList([path, String(size), sha256]))], hash);
}

/** Everything a review shows beside the bytes. */
export interface BundleAsks {
  readonly name: string;
  readonly scope: BundleScope;
  /** The project's folder, of a workspace bundle. */
  readonly workspace?: string;
  readonly native: readonly string[];
  /** Modules of node and of the host that the code imports. */
  readonly imports: readonly string[];
  readonly capabilities: BundleCapabilities;
  readonly mcpServers: readonly BundleMcpDefinition[];
  readonly skills: readonly string[];
}

/** What the bundle would be allowed, at this place and under this version of the rules. */
export function capabilityHash(asks: BundleAsks, hash: Hash, policy: number = POLICY_VERSION): string {
  return framedHash([`odek bundle capabilities, policy ${policy}`, canonicalJson(asks)], hash);
}

export function trustToken(content: string, capability: string): string {
  return `${content}.${capability}`;
}

/** The two halves of a token; undefined for anything else. */
export function parseToken(text: string): { readonly content: string; readonly capability: string } | undefined {
  const [, content, capability] = TOKEN.exec(text) ?? [];
  return content === undefined || capability === undefined ? undefined : { content, capability };
}

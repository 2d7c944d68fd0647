import type { Hash } from '../../ports/hash.ts';
import { canonicalArguments } from './evidence.ts';

/** Argument texts over this many UTF-16 units are compared as written. */
const MAX_CANONICAL_CHARS = 16_384;

/** Digest of a tool's name and its canonical arguments: equal for calls that ask for the same. */
export function callFingerprint(hash: Hash, tool: string, argumentsText: string): string {
  const canonical = argumentsText.length > MAX_CANONICAL_CHARS ? undefined : canonicalArguments(argumentsText);
  return hash.sha256(`${tool}\0${canonical ?? argumentsText}`);
}

const POLLING: ReadonlySet<string> = new Set(['bg_status', 'bg_output']);

/** Tools that ask how a background job stands; repeating them is their purpose. */
export function isPolling(tool: string): boolean {
  return POLLING.has(tool);
}

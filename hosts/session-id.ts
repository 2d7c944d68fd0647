import type { Ids } from '../ports/ids.ts';

const RANDOM_BYTES = 16;

/** A new session's id: `YYYYMMDD-` (UTC) and 32 hex digits. */
export function newSessionId(now: number, ids: Ids): string {
  return `${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}-${ids.hex(RANDOM_BYTES)}`;
}

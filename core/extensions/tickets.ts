import type { Clock } from '../../ports/clock.ts';
import type { OwnerRef } from '../../ports/extension-host.ts';
import type { Ids } from '../../ports/ids.ts';
import { MAX_CORE_CALLS, MAX_CORE_CALLS_AT_ONCE } from './core-calls.ts';

/** What a ticket may still be used for. */
export type TicketUse = 'core' | 'files' | 'network' | 'model';

/** The row behind a ticket. `call` is the caller's own object of the tool call. */
export interface TicketRow<Call> {
  readonly owner: OwnerRef;
  readonly call: Call;
}

export type Presented<Call> =
  | { readonly kind: 'good'; readonly row: TicketRow<Call>; readonly done: () => void }
  /** All uses of this kind are used up, or too many are under way. */
  | { readonly kind: 'limit'; readonly text: string }
  /** `endHost`: this was one bad presentation too many. */
  | { readonly kind: 'refused'; readonly endHost: boolean };

/** The tickets of one host process. What is presented is opaque; all it means is here. */
export interface Tickets<Call> {
  /** `expiresMs`: milliseconds after which it is worth nothing, whatever the call does. */
  issue(owner: OwnerRef, call: Call, expiresMs: number): { readonly ticket: string; end(): void };
  present(ticket: string, owner: OwnerRef, use: TicketUse): Presented<Call>;
}

const TICKET_BYTES = 24;
/** A ticket of a call that has just ended is refused without counting. */
const GRACE_MS = 10_000;
const BAD_WINDOW_MS = 60_000;
const MAX_BAD = 8;
const MAX_ENDED = 1024;

interface Live<Call> extends TicketRow<Call> {
  readonly expiresAt: number;
  readonly used: Map<TicketUse, number>;
  readonly active: Map<TicketUse, number>;
}

export function createTickets<Call>({ ids, clock }: { readonly ids: Ids; readonly clock: Pick<Clock, 'monotonic'> }): Tickets<Call> {
  const live = new Map<string, Live<Call>>();
  const ended = new Map<string, number>();
  let bad: number[] = [];

  const refuse = (ticket: string): Presented<Call> => {
    const now = clock.monotonic();
    const endedAt = ended.get(ticket);
    if (endedAt !== undefined && now - endedAt < GRACE_MS) return { kind: 'refused', endHost: false };
    bad = [...bad.filter((at) => now - at < BAD_WINDOW_MS), now];
    return { kind: 'refused', endHost: bad.length >= MAX_BAD };
  };

  const end = (ticket: string): void => {
    if (!live.delete(ticket)) return;
    ended.set(ticket, clock.monotonic());
    const [oldest] = ended.keys();
    if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
  };

  return {
    issue(owner, call, expiresMs) {
      const ticket = ids.hex(TICKET_BYTES);
      live.set(ticket, { owner, call, expiresAt: clock.monotonic() + expiresMs, used: new Map(), active: new Map() });
      return { ticket, end: () => end(ticket) };
    },
    present(ticket, owner, use) {
      const row = live.get(ticket);
      if (row === undefined || row.owner.owner_token !== owner.owner_token) return refuse(ticket);
      if (clock.monotonic() > row.expiresAt) {
        end(ticket);
        return refuse(ticket);
      }
      const used = row.used.get(use) ?? 0;
      if (used >= MAX_CORE_CALLS) return { kind: 'limit', text: `this call has made ${used} calls of this kind, which is the limit` };
      const active = row.active.get(use) ?? 0;
      if (active >= MAX_CORE_CALLS_AT_ONCE)
        return { kind: 'limit', text: `${active} calls of this kind are under way, which is the limit` };
      row.used.set(use, used + 1);
      row.active.set(use, active + 1);
      return { kind: 'good', row, done: () => void row.active.set(use, (row.active.get(use) ?? 1) - 1) };
    },
  };
}

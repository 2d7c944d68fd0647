import type { ApprovalRequest, CardClass } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';

/** This many approvals of one class within the window, and the next one has to cost the person more. */
export const FRICTION_COUNT = 3;
export const FRICTION_WINDOW_MS = 60_000;

/** Remembers approvals by class, so that a person does not wave them through. */
export interface Friction {
  applies(request: Pick<ApprovalRequest, 'class' | 'items'>): boolean;
  /** The request was approved now. */
  count(request: Pick<ApprovalRequest, 'class' | 'items'>): void;
}

/** A card of several calls counts for itself and once for each class on it. */
function classesOf({ class: cls, items }: Pick<ApprovalRequest, 'class' | 'items'>): ReadonlySet<CardClass> {
  return new Set([cls, ...items.map((item) => item.class)]);
}

export function createFriction(clock: Pick<Clock, 'monotonic'>): Friction {
  const approvedAt = new Map<CardClass, readonly number[]>();
  const recent = (cls: CardClass): readonly number[] =>
    (approvedAt.get(cls) ?? []).filter((at) => clock.monotonic() - at < FRICTION_WINDOW_MS);
  return {
    applies: (request) => [...classesOf(request)].some((cls) => recent(cls).length >= FRICTION_COUNT),
    count(request) {
      for (const cls of classesOf(request)) approvedAt.set(cls, [...recent(cls), clock.monotonic()].slice(-FRICTION_COUNT));
    },
  };
}

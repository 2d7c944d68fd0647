import type { StepStatus } from './state.ts';

/** Consecutive transitions to blocked that call for another approach. */
const BLOCKED_STREAK = 3;

export interface BlockedStreak {
  /** Takes the statuses that steps took on, in order. True when the third blocked one in a row is among them; the count then starts anew. */
  observe(transitions: readonly StepStatus[]): boolean;
  /** The last transition was to blocked. */
  lastBlocked(): boolean;
  /** Forgets the count; after a `create`. */
  clear(): void;
}

/** `done` and `in_progress` end a streak; `pending` is neutral. */
export function createBlockedStreak(): BlockedStreak {
  let count = 0;
  let last: StepStatus | undefined;
  return {
    observe(transitions) {
      let fired = false;
      for (const status of transitions) {
        last = status;
        if (status === 'done' || status === 'in_progress') count = 0;
        if (status === 'blocked') count++;
        if (count < BLOCKED_STREAK) continue;
        fired = true;
        count = 0;
      }
      return fired;
    },
    lastBlocked: () => last === 'blocked',
    clear() {
      count = 0;
      last = undefined;
    },
  };
}

import { ConfigError, hasCode, isOdekError } from '../../ports/errors.ts';
import type { RunOutcome } from '../../ports/run.ts';

/** DECISIONS 6. */
export const EXIT = { ok: 0, failed: 1, setup: 3, budget: 4, cancelled: 130 } as const;

const BY_OUTCOME: Readonly<Record<RunOutcome, number>> = {
  answer: EXIT.ok,
  partial: EXIT.ok,
  failed: EXIT.failed,
  budget: EXIT.budget,
  cancelled: EXIT.cancelled,
};

export function exitCodeOfOutcome(outcome: RunOutcome): number {
  return BY_OUTCOME[outcome];
}

/** The exit code of an error that ended a command. */
export function exitCodeOfError(error: unknown): number {
  if (hasCode(error, 'cancelled')) return EXIT.cancelled;
  if (hasCode(error, 'budget_exceeded')) return EXIT.budget;
  return isConfigError(error) ? EXIT.setup : EXIT.failed;
}

/** True for a configuration error of any copy of the package. */
export function isConfigError(error: unknown): boolean {
  return error instanceof ConfigError || (isOdekError(error) && error.name === 'ConfigError');
}

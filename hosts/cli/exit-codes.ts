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

/** Errors of sessions and jobs that stop a command before any run begins: usage or setup, not a failed task. */
const SETUP_CODES = new Set([
  'session_not_found',
  'session_exists',
  'session_busy',
  'invalid_session_id',
  'database_corrupt',
  'database_newer',
  'read_only_filesystem',
  'permission_denied',
  'store_error',
  'nothing_to_continue',
  'job_not_found',
  'job_name_taken',
  'job_running',
  'invalid_job',
  'invalid_cron',
  'invalid_timezone',
  'too_many_schedules',
  'scheduler_running',
  'plugin_not_found',
  'plugin_exists',
  'plugin_not_trusted',
  'plugin_token_mismatch',
  'plugin_state_busy',
  'plugin_state_unwritable',
]);

/** The exit code of an error that ended a command. */
export function exitCodeOfError(error: unknown): number {
  if (hasCode(error, 'cancelled')) return EXIT.cancelled;
  if (hasCode(error, 'budget_exceeded')) return EXIT.budget;
  return isConfigError(error) || (isOdekError(error) && SETUP_CODES.has(error.code)) ? EXIT.setup : EXIT.failed;
}

/** True for a configuration error of any copy of the package. */
function isConfigError(error: unknown): boolean {
  return error instanceof ConfigError || (isOdekError(error) && error.name === 'ConfigError');
}

import { isOdekError } from '../../ports/errors.ts';
import type { ErrorClass } from '../../ports/event.ts';

const BY_CODE: Readonly<Record<string, ErrorClass>> = {
  cancelled: 'context_canceled',
  deadline_exceeded: 'deadline_exceeded',
  tool_failed: 'tool_error',
  tool_error: 'tool_error',
  plugin_failed: 'tool_error',
};

/**
 * The class of a failure in events, from the error's code alone; its text is never read. `otherwise`
 * is the class of everything else: `tool_error` where a tool call failed.
 */
export function errorClass(error: unknown, otherwise: ErrorClass = 'error'): ErrorClass {
  if (!isOdekError(error) || !Object.hasOwn(BY_CODE, error.code)) return otherwise;
  return BY_CODE[error.code] ?? otherwise;
}

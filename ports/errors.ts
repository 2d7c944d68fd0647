/**
 * The error family every part of odek uses. An error is recognised by its brand and its `code`,
 * never by its message and never by `instanceof` (two copies of a package must agree).
 */

const BRAND = Symbol.for('odek.error');

/** What an {@link OdekError} tells beside its message. */
export interface ErrorDetails {
  /** The offending value, already safe to show. */
  readonly value?: unknown;
  /** The bound that was crossed. */
  readonly limit?: unknown;
  readonly cause?: unknown;
}

/** Base of all typed errors. `code` is stable lower-snake text; messages may change. */
export class OdekError extends Error {
  readonly code: string;
  readonly value: unknown;
  readonly limit: unknown;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.value = details.value;
    this.limit = details.limit;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** True for any odek error, whichever copy of the package made it. */
export function isOdekError(error: unknown): error is OdekError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** True when `error` is an odek error with this `code`. */
export function hasCode(error: unknown, code: string): error is OdekError {
  return isOdekError(error) && error.code === code;
}

/** Setup is wrong: a flag, a key, a file, a missing credential. Hosts exit with 3. */
export class ConfigError extends OdekError {}

/** An operation ended because its `AbortSignal` fired. `code` is always `cancelled`. */
export class CancelledError extends OdekError {
  constructor(message = 'cancelled', details: ErrorDetails = {}) {
    super('cancelled', message, details);
  }
}

/** An operation ran past its time limit. `code` is always `deadline_exceeded`; `limit` is in milliseconds. */
export class DeadlineError extends OdekError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('deadline_exceeded', message, details);
  }
}

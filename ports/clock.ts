/**
 * Time and waiting. Core has no other source of either.
 *
 * Contract:
 * - `monotonic` never goes backwards; its origin is arbitrary.
 * - `sleep` resolves after at least `ms`, and rejects with `CancelledError` when `signal` fires, also when it fired before.
 * - `after` calls `run` once unless its disposer was called first; the timer does not keep the process alive.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds, for durations. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  after(ms: number, run: () => void): () => void;
}

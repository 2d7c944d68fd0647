import type { ChatError } from '../../ports/chat.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';

/** What one attempt came to. */
export interface ApiFault {
  readonly error: ChatError;
  readonly retry: boolean;
  /** Whether the service may have done it all the same. */
  readonly arrived: 'no' | 'perhaps';
  /** No answer came at all: another address may have one. */
  readonly network: boolean;
}

/** Before the second, third, fourth and fifth attempt, in milliseconds. */
const PAUSES_MS = [1000, 2000, 4000, 8000] as const;
/** A wait that the service asks for beyond this is the caller's to decide. */
const MAX_ASKED_MS = 60_000;

export interface Attempts<T> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Tried once. */
  readonly once: boolean;
  attempt(number: number): Promise<T>;
  /** Judges what `attempt` rejected with. */
  judge(error: unknown): ApiFault;
}

/**
 * At most five attempts, 1, 2, 4 and 8 s apart, or as far as the service asks, up to 60 s. `repeat` of the
 * result: an attempt that was given up may have arrived as well.
 */
export async function inAttempts<T>({
  clock,
  signal,
  once,
  attempt,
  judge,
}: Attempts<T>): Promise<{ readonly value: T; readonly repeat: boolean }> {
  let repeat = false;
  for (let number = 0; ; number += 1) {
    if (signal.aborted) throw new CancelledError();
    try {
      return { value: await attempt(number), repeat };
    } catch (error) {
      if (signal.aborted) throw new CancelledError();
      const fault = judge(error);
      const pause = PAUSES_MS[number];
      const asked = fault.error.retryAfterMs ?? 0;
      if (!fault.retry || once || pause === undefined || asked > MAX_ASKED_MS) throw fault.error;
      repeat ||= fault.arrived === 'perhaps';
      await clock.sleep(Math.max(pause, asked), signal);
    }
  }
}

import type { RunEvent } from '../../../ports/event.ts';
import type { RunResult } from '../../../ports/run.ts';

/**
 * What shows one run to a person. It reads the run's events and changes nothing about it.
 *
 * - `onEvent` never throws on any event of the union, in any order.
 * - `finish` is called once, after the last event; it shows the result, with the error where there is
 *   one, and resolves when everything has been written. It rejects with `output_failed` when the
 *   answer could not be written; a reader that went away (`| head -1`) is no failure.
 * - `close` ends the view without a result, at any time, more than once: whatever is redrawn in
 *   place is taken off the screen. After `finish` it does nothing.
 */
export interface RunView {
  onEvent(event: RunEvent): void;
  finish(result: RunResult): Promise<void>;
  close(): void;
}

import type { Clock } from '../../ports/clock.ts';
import type { RunEvent, RunEventBody } from '../../ports/event.ts';

export type Emit = (body: RunEventBody) => void;

/** Stamps events with run, session and time, and keeps a throwing listener away from the run. */
export function createEmitter(listener: (event: RunEvent) => void, clock: Clock, runId: string, sessionId: string): Emit {
  return (body) => {
    try {
      listener({ ...body, runId, sessionId, at: clock.now() });
    } catch {
      // A view or sink that fails must not change what the run does.
    }
  };
}

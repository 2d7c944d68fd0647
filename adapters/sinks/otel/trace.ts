import type { WireEvent } from '../../../ports/event.ts';
import type { Span } from './model.ts';
import { ATTRIBUTE, providerName } from './names.ts';
import { beginRun, follow, interruptRun, NOTHING, type RunTrace, type Traced, timeOf } from './run-trace.ts';

/** Turns the events of any number of runs, interleaved or not, into spans and measurements. */
export interface Tracer {
  /** Never throws, whatever the event holds. */
  take(event: WireEvent): Traced;
  /** Ends what is still open, at `now`, marked as interrupted. */
  endAll(now: number): Traced;
}

/** Runs that are followed at a time; beyond that the oldest is ended. */
const MAX_RUNS = 64;

/** `provider` is odek's id of the provider; events do not name it. */
export function createTracer({ provider }: { readonly provider?: string | undefined }): Tracer {
  const runs = new Map<string, RunTrace>();
  const common = provider === undefined ? {} : { [ATTRIBUTE.provider]: providerName(provider) };

  const makeRoom = (): Span[] => {
    const oldest = runs.size >= MAX_RUNS ? [...runs].slice(0, 1) : [];
    return oldest.flatMap(([id, run]) => {
      runs.delete(id);
      return interruptRun(run, run.lastSeen);
    });
  };

  const trace = (event: WireEvent): Traced => {
    let run = runs.get(event.run_id);
    let evicted: readonly Span[] = [];
    if (run === undefined) {
      run = beginRun(event, common);
      evicted = makeRoom();
      runs.set(event.run_id, run);
    }
    run.lastSeen = Math.max(run.lastSeen, timeOf(event));
    const traced = follow(run, event);
    if (event.type === 'run_completed' || event.type === 'run_failed') runs.delete(event.run_id);
    return { ...traced, spans: [...evicted, ...traced.spans] };
  };

  return {
    take(event) {
      try {
        return trace(event);
      } catch {
        // A newer odek may tell something in a form that this one does not know.
        return NOTHING;
      }
    },
    endAll(now) {
      const spans = [...runs.values()].flatMap((run) => interruptRun(run, now));
      runs.clear();
      return { spans, measurements: [] };
    },
  };
}

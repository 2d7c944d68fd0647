import type { Clock } from '../../ports/clock.ts';
import type { JobEnd, JobOutput, JobView, StartedJob } from '../../ports/job.ts';
import type { Redactor } from '../redact/redactor.ts';
import { createRedactedStream } from '../redact/stream.ts';
import { createOutputRing } from './output-ring.ts';

export interface JobParts {
  readonly id: string;
  readonly command: string;
  readonly timeoutMs: number | undefined;
  readonly maxOutputBytes: number;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

/** A job that ended and that its session was not told of. */
export interface FinishedJob {
  readonly view: JobView;
  /** The last of its output, redacted. */
  readonly tail: string;
}

/** One job: what it wrote, redacted before it is kept, and how it stands. */
export interface Job {
  readonly id: string;
  write(text: string): void;
  /** `onEnd` is called once, after all output was taken. */
  attach(started: StartedJob, onEnd: (end: JobEnd) => void): void;
  isRunning(): boolean;
  view(): JobView;
  /** As `view`; an end that is seen this way needs no notice. */
  seen(): JobView;
  read(since: number, maxBytes: number): JobOutput;
  /** The job once it ended, unless that was seen or taken already. */
  takeEnd(tailBytes: number): readonly FinishedJob[];
  /** Resolves once the job has ended and `onEnd` was called. */
  stop(): Promise<void>;
}

export function createJob({ id, command, timeoutMs, maxOutputBytes, redactor, clock }: JobParts): Job {
  const ring = createOutputRing(maxOutputBytes);
  const stream = createRedactedStream(redactor);
  const shownCommand = redactor.text(command);
  const startedAt = clock.monotonic();
  let end: JobEnd | undefined;
  let endedAt = startedAt;
  let isTold = false;
  let started: StartedJob | undefined;
  let settled = Promise.resolve();

  const view = (): JobView => ({
    id,
    command: shownCommand,
    status: end?.status ?? 'running',
    runtimeMs: (end === undefined ? clock.monotonic() : endedAt) - startedAt,
    ...(end?.exitCode !== undefined && { exitCode: end.exitCode }),
    outputBytes: ring.written,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

  return {
    id,
    write: (text) => ring.write(stream.push(text)),
    attach(job, onEnd) {
      started = job;
      settled = job.ended.then((how) => {
        ring.write(stream.end());
        end = how;
        endedAt = clock.monotonic();
        onEnd(how);
      });
    },
    isRunning: () => end === undefined,
    view,
    seen() {
      isTold ||= end !== undefined;
      return view();
    },
    read(since, maxBytes) {
      const piece = ring.read(since, maxBytes);
      // Whoever has read to the end of a job that ended knows that it did.
      isTold ||= end !== undefined && piece.next === ring.written;
      return { ...piece, status: end?.status ?? 'running' };
    },
    takeEnd(tailBytes) {
      if (end === undefined || isTold) return [];
      isTold = true;
      return [{ view: view(), tail: ring.read(ring.written - tailBytes, tailBytes).text }];
    },
    async stop() {
      await started?.stop();
      await settled;
    },
  };
}

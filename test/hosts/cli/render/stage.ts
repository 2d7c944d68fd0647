import { PassThrough, Writable } from 'node:stream';
import type { TerminalIo } from '../../../../hosts/cli/command.ts';
import type { RunView } from '../../../../hosts/cli/render/run-view.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { RunEventBody } from '../../../../ports/event.ts';
import type { RunResult } from '../../../../ports/run.ts';
import { createEmulator, type Emulator } from './emulator.ts';

/** A clock that goes only when told to. */
interface ManualClock extends Clock {
  advance(ms: number): void;
}

function createManualClock(): ManualClock {
  let now = 1_000_000;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    sleep: async () => undefined,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = Math.max(now, next.at);
        timers = timers.filter((timer) => timer !== next);
        next.run();
      }
      now = end;
    },
  };
}

/** A terminal, or pipes, that a view writes to. */
export interface Stage {
  readonly io: TerminalIo;
  readonly screen: Emulator;
  readonly clock: ManualClock;
  stdout(): string;
  stderr(): string;
  resize(columns: number, rows: number): void;
}

export interface StageOptions {
  readonly stdoutTty?: boolean;
  readonly stderrTty?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export function createStage({ stdoutTty = true, stderrTty = true, columns = 80, rows = 24 }: StageOptions = {}): Stage {
  const screen = createEmulator(columns, rows);
  const seen = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr', tty: boolean): Writable =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          seen[name] += String(chunk);
          if (tty) screen.write(String(chunk));
          done();
        },
      }),
      tty ? { columns, rows } : {},
    );
  const stdout = stream('stdout', stdoutTty);
  const stderr = stream('stderr', stderrTty);
  return {
    io: { stdout, stderr, stdin: new PassThrough(), stdoutIsTty: stdoutTty, stderrIsTty: stderrTty, stdinIsTty: stdoutTty, columns },
    screen,
    clock: createManualClock(),
    stdout: () => seen.stdout,
    stderr: () => seen.stderr,
    resize(nextColumns, nextRows) {
      screen.resize(nextColumns, nextRows);
      Object.assign(stdout, { columns: nextColumns, rows: nextRows });
      stdout.emit('resize');
    },
  };
}

/** Sends event bodies to `view` as a run does. */
export function teller(view: RunView, clock: Clock): (...bodies: RunEventBody[]) => void {
  return (...bodies) => {
    for (const body of bodies) view.onEvent({ ...body, runId: 'f'.repeat(32), sessionId: 's-1', at: clock.now() });
  };
}

export function resultOf(changes: Partial<RunResult> = {}): RunResult {
  return {
    answer: 'done',
    outcome: 'answer',
    session_id: 's-1',
    run_id: 'f'.repeat(32),
    iterations: 1,
    usage: { input: 1_000, output: 50, estimated: false },
    duration_ms: 1_200,
    ...changes,
  };
}

export const RUN_STARTED: RunEventBody = { type: 'run_started', data: { model: 'm-1', sandbox: false, max_iterations: 90 } };

export function iteration(number: number): RunEventBody {
  return { type: 'iteration_started', iteration: number, max_iterations: 90 };
}

export function textDelta(text: string, at = 1): RunEventBody {
  return { type: 'text_delta', iteration: at, text };
}

export function message(content: string, at = 1, final = true): RunEventBody {
  return { type: 'message', iteration: at, final, message: { role: 'assistant', content } };
}

export function callStarted(callId: string, tool: string, args: object, at = 1): RunEventBody {
  const data = { call_id: callId, args_sha256: '', args_bytes: 2 };
  return { type: 'tool_call_started', iteration: at, tool, args: JSON.stringify(args), data };
}

export function callEnded(callId: string, tool: string, ms: number, bytes: number, at = 1): RunEventBody[] {
  return [
    { type: 'tool_result', iteration: at, tool, call_id: callId, outcome: 'completed', content: 'ok' },
    {
      type: 'tool_call_completed',
      iteration: at,
      tool,
      data: { call_id: callId, duration_ms: ms, result_bytes: bytes, artifact_count: 0 },
    },
  ];
}

export function callFailed(
  callId: string,
  tool: string,
  outcome: 'failed' | 'denied' | 'cancelled',
  content: string,
  at = 1,
): RunEventBody[] {
  return [
    { type: 'tool_result', iteration: at, tool, call_id: callId, outcome, content },
    { type: 'tool_call_failed', iteration: at, tool, data: { call_id: callId, duration_ms: 7, error_class: 'tool_error' } },
  ];
}

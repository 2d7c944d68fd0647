/** A scripted run with real delays on the real streams of this process. First argument: `short`, `long` or `stuck`. */
import type { TerminalIo } from '../../../../hosts/cli/command.ts';
import { createView } from '../../../../hosts/cli/render/view.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { RunEventBody } from '../../../../ports/event.ts';
import type { RunResult } from '../../../../ports/run.ts';

const script = process.argv[2];
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep,
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
const io: TerminalIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  stdoutIsTty: process.stdout.isTTY === true,
  stderrIsTty: process.stderr.isTTY === true,
  stdinIsTty: process.stdin.isTTY === true,
  columns: process.stdout.columns ?? 80,
};
const view = createView({ io, clock, flags: {}, config: { interaction_mode: 'engaging', no_color: false }, env: process.env });
const tell = (body: RunEventBody): void => view.onEvent({ ...body, runId: 'r', sessionId: 's', at: Date.now() });
const answer = '# Done\n\nSome **bold** words, enough of them to be wrapped at the edge of the screen, and a list:\n\n- one\n- two';

async function finish(changes: Partial<RunResult>): Promise<void> {
  const usage = { input: 1, output: 2, estimated: false };
  await view.finish({ answer, outcome: 'answer', session_id: 's', run_id: 'r', iterations: 1, usage, duration_ms: 5, ...changes });
}

tell({ type: 'run_started', data: { model: 'm-1', sandbox: false, max_iterations: 90 } });
tell({ type: 'iteration_started', iteration: 1, max_iterations: 90 });
if (script === 'long') {
  process.stdout.write('ready\n');
  await sleep(200);
  await finish({ answer: 'line\n'.repeat(200_000) });
} else {
  process.once('SIGINT', () => {
    if (script === 'crash') process.exit(130);
    void finish({ answer: '', outcome: 'cancelled', error: { code: 'cancelled', message: 'the run was cancelled' } }).then(() =>
      process.exit(130),
    );
  });
  for (const part of answer.match(/.{1,7}/gs) ?? []) {
    tell({ type: 'text_delta', iteration: 1, text: part });
    await sleep(20);
  }
  if (script === 'short') await finish({});
  else await sleep(20_000);
}

/** A repl on the real streams of this process. First argument: the history file. */
import type { TerminalIo } from '../../../../hosts/cli/command.ts';
import { createPrompt } from '../../../../hosts/cli/repl/prompt.ts';
import { runRepl } from '../../../../hosts/cli/repl/repl.ts';
import type { Clock } from '../../../../ports/clock.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
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

/** `slow` stops when told to, `stubborn` does not. Anything else is answered with itself. */
async function onTurn(text: string, signal: AbortSignal): Promise<void> {
  if (text === 'fail') throw new Error('this turn failed');
  if (text === 'slow') {
    process.stdout.write('working\n');
    const keepAlive = setInterval(() => undefined, 1_000);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    clearInterval(keepAlive);
    process.stdout.write('stopped\n');
    throw signal.reason;
  }
  if (text === 'stubborn') {
    process.stdout.write('working\n');
    signal.addEventListener('abort', () => process.stdout.write('told to stop\n'));
    await new Promise((resolve) => setTimeout(resolve, 20_000));
  }
  process.stdout.write(`<${JSON.stringify(text)}>\n`);
}

function listJobs(_rest: string, print: (line: string) => void): 'stay' {
  print('no jobs');
  return 'stay';
}

const prompt = await createPrompt({ io, historyFile: process.argv[2], clock, redact: (text) => text.replaceAll('sk-secret', '[masked]') });
await runRepl({
  prompt,
  io,
  onTurn,
  info: () => ['session s-1'],
  commands: { jobs: { summary: 'list jobs', run: listJobs } },
});
prompt.close();
process.stdout.write('bye\n');

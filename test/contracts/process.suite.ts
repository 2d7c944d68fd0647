import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../ports/errors.ts';
import type { ProcessRunner, ProcessSpec } from '../../ports/process.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** Commands that the subject can run, each doing what its name says. */
export interface ProcessCommands {
  /** Prints each variable as `NAME=value`. */
  readonly printEnvironment: string;
  readonly copyInput: string;
  /** Prints `out` and `err` to the two streams and exits with 3. */
  readonly failWithBoth: string;
  /** Prints 2,000,000 bytes of `é` (two bytes each) after one `x`, then `done` on standard error. */
  readonly flood: string;
  /** Starts a child that waits for a minute and waits for it. */
  readonly waitWithChild: string;
  /** Ends at once with 0, leaving a process in a group of its own that keeps standard output open for a minute. */
  readonly leaveOpenPipe: string;
  /** Ends at once with 0, leaving two processes in the background that wait for a minute, one in a session of its own. */
  readonly leaveRunning: string;
}

export interface ProcessPlace {
  readonly commands: ProcessCommands;
  readonly cwd: string;
  runner(environment: Readonly<Record<string, string | undefined>>): ProcessRunner;
  /** What `waitWithChild` or `leaveRunning` started and still lives. */
  alive(): Promise<number>;
  close(): Promise<void>;
}

export interface ProcessHarness {
  place(): Promise<ProcessPlace>;
}

const never = new AbortController().signal;
const ENOUGH_MS = 30_000;

type Run = (command: string, changes?: Partial<ProcessSpec>, signal?: AbortSignal) => ReturnType<ProcessRunner['run']>;

function inPlace(id: string, sentence: string, test: (run: Run, place: ProcessPlace) => Promise<void>): ContractCase<ProcessHarness> {
  return {
    id: `process/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.place();
      try {
        const runner = place.runner(PARENT);
        await test(
          (command, changes, signal = never) =>
            runner.run({ command, cwd: place.cwd, maxBytes: 1000, timeoutMs: ENOUGH_MS, ...changes }, signal),
          place,
        );
      } finally {
        await place.close();
      }
    },
  };
}

const PARENT = {
  PATH: process.env.PATH,
  HOME: '/home/someone',
  LC_ALL: 'C.UTF-8',
  OPENAI_API_KEY: 'canary-1',
  GITHUB_TOKEN: 'canary-2',
  DATABASE_PASSWORD: 'canary-3',
  LC_TOKEN: 'canary-4',
  NODE_OPTIONS: 'canary-5',
};

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    if (await holds()) return;
    await sleep(10);
  }
  assert.fail(`${what} did not happen within 5 s`);
}

/** The contract of {@link ProcessRunner}. */
export const processSuite: ContractSuite<ProcessHarness> = {
  port: 'ProcessRunner',
  cases: [
    inPlace(
      'environment',
      'the child gets an allow-listed environment: no variable with a secret-looking name, whatever the parent has',
      async (run, { commands }) => {
        const env = { GREETING: 'hello', MY_SECRET: 'canary-6' };
        const { stdout } = await run(commands.printEnvironment, { env, maxBytes: 100_000 });
        for (const line of ['HOME=/home/someone', 'LC_ALL=C.UTF-8', 'GREETING=hello'])
          assert.ok(stdout.includes(line), `${line} is missing`);
        assert.equal(stdout.match(/canary-\d/g), null, 'a secret or a variable that is not allowed got through');
      },
    ),
    inPlace('result', 'a result carries both streams and how the command ended', async (run, { commands }) => {
      const result = await run(commands.failWithBoth);
      assert.deepEqual([result.stdout.trim(), result.stderr.trim(), result.exitCode, result.signal], ['out', 'err', 3, undefined]);
      assert.deepEqual([result.timedOut, result.stdoutTruncated, result.stderrTruncated], [false, false, false]);
      assert.ok(result.durationMs >= 0);
    }),
    inPlace('stdin', '`stdin` is written to standard input, which is then closed; absent, it is empty', async (run, { commands }) => {
      assert.deepEqual([(await run(commands.copyInput, { stdin: 'text' })).stdout, (await run(commands.copyInput)).stdout], ['text', '']);
    }),
    inPlace(
      'cancel-group',
      'on cancel the whole group is killed: `run` rejects with `CancelledError` after the group is gone',
      async (run, place) => {
        const controller = new AbortController();
        const running = assert.rejects(run(place.commands.waitWithChild, {}, controller.signal), (error) => hasCode(error, 'cancelled'));
        await until('the start of both processes', async () => (await place.alive()) === 2);
        controller.abort();
        await running;
        assert.equal(await place.alive(), 0);
        await assert.rejects(run(place.commands.copyInput, {}, controller.signal), (error) => hasCode(error, 'cancelled'));
      },
    ),
    inPlace('timeout-group', 'on time-out the whole group is killed', async (run, place) => {
      const result = await run(place.commands.waitWithChild, { timeoutMs: 500 });
      assert.deepEqual([result.timedOut, result.exitCode], [true, undefined]);
      assert.equal(await place.alive(), 0);
    }),
    inPlace(
      'flood',
      'output is read continuously, so a full pipe never blocks the child, and kept up to `maxBytes` a stream',
      async (run, { commands }) => {
        const result = await run(commands.flood, { maxBytes: 1000 });
        assert.deepEqual([result.exitCode, result.stderr.trim(), result.stdoutTruncated, result.stderrTruncated], [0, 'done', true, false]);
        assert.equal(result.stdout, `x${'é'.repeat(499)}`, 'the first 1000 bytes, without half a character');
      },
    ),
    inPlace(
      'open-pipe',
      'a result comes at most 3 s after the child itself ended, even if a grandchild keeps a pipe open',
      async (run, { commands }) => {
        const startedAt = performance.now();
        const result = await run(commands.leaveOpenPipe);
        assert.equal(result.exitCode, 0);
        assert.ok(performance.now() - startedAt < 6000, 'the result waited for the grandchild');
      },
    ),
    inPlace(
      'leftovers',
      'what the command leaves running when it ends is ended with it, and `leftovers` says so',
      async (run, { commands, alive }) => {
        const result = await run(commands.leaveRunning);
        assert.deepEqual([result.exitCode, result.leftovers], [0, true]);
        await until('the end of what was left', async () => (await alive()) === 0);
        assert.equal((await run(commands.copyInput)).leftovers, undefined, 'a command that left nothing');
      },
    ),
    inPlace(
      'spawn-failed',
      'a command that cannot be started rejects with `OdekError` of code `spawn_failed`',
      async (run, { commands, cwd }) => {
        await assert.rejects(run(commands.copyInput, { cwd: `${cwd}/missing` }), (error) => hasCode(error, 'spawn_failed'));
      },
    ),
  ],
};

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../ports/errors.ts';
import type { JobRunner, JobSpec, StartedJob } from '../../ports/job.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** Commands that the subject can run, each doing what its name says. */
export interface JobCommands {
  /** Prints each variable as `NAME=value`. */
  readonly printEnvironment: string;
  /** Exits with 3. */
  readonly exitWithThree: string;
  /** Is ended by a signal that is not the runner's. */
  readonly dieOfSignal: string;
  /** Prints `o1`, `e1`, `o2`, `e2` … up to 100 to the two streams by turns, each on a line of its own. */
  readonly takeTurns: string;
  /** Prints one character of four bytes in two pieces, 50 ms apart. */
  readonly splitCharacter: string;
  /** Starts one process in its group and one that leaves it, and waits for a minute. */
  readonly waitWithOthers: string;
  /** Starts the same two and ends at once with 0. */
  readonly leaveOthers: string;
}

export interface JobPlace {
  readonly commands: JobCommands;
  readonly cwd: string;
  runner(environment: Readonly<Record<string, string | undefined>>): JobRunner;
  /** How many of the processes that `waitWithOthers` and `leaveOthers` started live. */
  alive(): Promise<number>;
  close(): Promise<void>;
}

export interface JobRunnerHarness {
  place(): Promise<JobPlace>;
}

const PARENT = {
  PATH: process.env.PATH,
  HOME: '/home/someone',
  OPENAI_API_KEY: 'canary-1',
  GITHUB_TOKEN: 'canary-2',
  DATABASE_PASSWORD: 'canary-3',
  NODE_OPTIONS: 'canary-4',
};
const POLLS = 500;
const POLL_MS = 10;

interface Bench {
  readonly place: JobPlace;
  readonly runner: JobRunner;
  /** Starts a command and collects what it writes. */
  start(command: string, changes?: Partial<JobSpec>): Promise<{ readonly job: StartedJob; readonly pieces: string[] }>;
}

function inPlace(id: string, sentence: string, test: (bench: Bench) => Promise<void>): ContractCase<JobRunnerHarness> {
  return {
    id: `job-runner/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.place();
      const runner = place.runner(PARENT);
      try {
        await test({
          place,
          runner,
          async start(command, changes) {
            const pieces: string[] = [];
            const job = await runner.start({ command, cwd: place.cwd, ...changes }, (text) => pieces.push(text));
            return { job, pieces };
          },
        });
      } finally {
        await runner.close();
        await place.close();
      }
    },
  };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < POLLS; wait += 1) {
    if (await holds()) return;
    await sleep(POLL_MS);
  }
  assert.fail(`${what} did not happen within ${(POLLS * POLL_MS) / 1000} s`);
}

const bothAlive = (place: JobPlace) => until('the start of both processes', async () => (await place.alive()) === 2);

/** The contract of {@link JobRunner}. */
export const jobRunnerSuite: ContractSuite<JobRunnerHarness> = {
  port: 'JobRunner',
  cases: [
    inPlace(
      'environment',
      'the child gets an allow-listed environment: no variable with a secret-looking name, whatever the parent has',
      async ({ start, place }) => {
        const { job, pieces } = await start(place.commands.printEnvironment);
        await job.ended;
        assert.ok(pieces.join('').includes('HOME=/home/someone'), 'HOME is missing');
        assert.equal(pieces.join('').match(/canary-\d/g), null, 'a variable that is not allowed got through');
      },
    ),
    inPlace('ends-with-stop', 'on `stop` a job ends with what its command started', async ({ start, place }) => {
      const { job } = await start(place.commands.waitWithOthers);
      await bothAlive(place);
      assert.deepEqual(await job.stop(), { status: 'killed' });
      assert.equal(await place.alive(), 0);
      assert.deepEqual([await job.stop(), await job.ended], [{ status: 'killed' }, { status: 'killed' }]);
    }),
    inPlace('ends-with-limit', 'on the time limit a job ends with what its command started', async ({ start, place }) => {
      const { job } = await start(place.commands.waitWithOthers, { timeoutMs: 700 });
      assert.deepEqual(await job.ended, { status: 'timeout' });
      assert.equal(await place.alive(), 0);
    }),
    inPlace('ends-with-close', 'on `close` a job ends with what its command started', async ({ start, place, runner }) => {
      const { job } = await start(place.commands.waitWithOthers);
      await bothAlive(place);
      await runner.close();
      assert.equal(await place.alive(), 0);
      assert.deepEqual(await job.ended, { status: 'killed' });
    }),
    inPlace('ends-with-command', 'when the command itself ends, what it started ends too', async ({ start, place }) => {
      const { job } = await start(place.commands.leaveOthers);
      assert.deepEqual(await job.ended, { status: 'exited', exitCode: 0 });
      assert.equal(await place.alive(), 0);
    }),
    inPlace('output-order', '`onOutput` gets all output in the order in which it was written', async ({ start, place }) => {
      const { job, pieces } = await start(place.commands.takeTurns);
      await job.ended;
      const written = Array.from({ length: 100 }, (_, at) => `o${at + 1}\ne${at + 1}\n`).join('');
      assert.equal(pieces.join(''), written);
    }),
    inPlace('output-whole', 'output comes in pieces without half a character', async ({ start, place }) => {
      const { job, pieces } = await start(place.commands.splitCharacter);
      await job.ended;
      assert.equal(pieces.join(''), '\u{1f600}');
      assert.ok(pieces.every((piece) => piece.isWellFormed()));
    }),
    inPlace('output-ends', '`onOutput` gets nothing after `ended` settled', async ({ start, place }) => {
      const { job, pieces } = await start(place.commands.takeTurns);
      await job.ended;
      const seen = pieces.length;
      await sleep(150);
      assert.equal(pieces.length, seen);
    }),
    inPlace(
      'how-it-ended',
      'a job tells how it ended: `exited` with its code, or `failed` by a signal of others',
      async ({ start, place }) => {
        assert.deepEqual(await (await start(place.commands.exitWithThree)).job.ended, { status: 'exited', exitCode: 3 });
        assert.deepEqual(await (await start(place.commands.dieOfSignal)).job.ended, { status: 'failed' });
      },
    ),
    inPlace(
      'spawn-failed',
      'a command that cannot be started rejects with `OdekError` of code `spawn_failed`',
      async ({ start, place }) => {
        await assert.rejects(start(place.commands.exitWithThree, { cwd: `${place.cwd}/missing` }), (error) =>
          hasCode(error, 'spawn_failed'),
        );
      },
    ),
    inPlace('closed', 'after `close`, `start` rejects with `jobs_closed`', async ({ start, place, runner }) => {
      await runner.close();
      await runner.close();
      await assert.rejects(start(place.commands.exitWithThree), (error) => hasCode(error, 'jobs_closed'));
    }),
  ],
};

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../ports/errors.ts';
import type { JobControl, JobOutput } from '../../ports/job.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A control with two sessions: the runs `a` and `a2` belong to one, `b` to the other. No other run is under way. */
export interface JobControlPlace {
  readonly control: JobControl;
  readonly cwd: string;
  /** Runs until it is stopped. */
  readonly waits: string;
  /** Ends at once with 3. */
  readonly exitsWithThree: string;
  /** Prints {@link FLOOD} and then waits. */
  readonly floods: string;
  close(): Promise<void>;
}

export interface JobControlHarness {
  /** At most two jobs at once in a session, and 100,000 bytes of output of each. */
  make(): Promise<JobControlPlace>;
}

/** 200,001 bytes: characters of two bytes that begin at odd places. */
export const FLOOD = `x${'é'.repeat(100_000)}`;
const KEPT_BYTES = 100_000;
const PIECE_BYTES = 32 * 1024;

function inPlace(id: string, sentence: string, test: (place: JobControlPlace) => Promise<void>): ContractCase<JobControlHarness> {
  return {
    id: `job-control/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let wait = 0; wait < 1000; wait += 1) {
    if (holds()) return;
    await sleep(5);
  }
  assert.fail(`${what} did not happen within 5 s`);
}

/** The contract of {@link JobControl}. */
export const jobControlSuite: ContractSuite<JobControlHarness> = {
  port: 'JobControl',
  cases: [
    inPlace(
      'own-session',
      'a job belongs to the session of the run that started it: other sessions neither see nor stop it',
      async (place) => {
        const { control, cwd } = place;
        const { id } = await control.start({ command: place.waits, cwd, run: 'a' });
        assert.deepEqual(
          control.list('a2').map((job) => job.id),
          [id],
        );
        assert.deepEqual(control.list('b'), []);
        assert.deepEqual(
          [control.status(id, 'b'), control.output(id, 0, 'b'), await control.stop(id, 'b')],
          [undefined, undefined, undefined],
        );
        assert.equal(control.status(id, 'a')?.status, 'running');
      },
    ),
    inPlace('at-most', 'one job more than may run at once in a session rejects with `too_many_jobs`', async (place) => {
      const { control, cwd } = place;
      const start = (run: string) => control.start({ command: place.waits, cwd, run });
      const settled = await Promise.allSettled([start('a'), start('a2'), start('a')]);
      const refused = settled.filter((each) => each.status === 'rejected');
      assert.equal(refused.length, 1);
      assert.ok(hasCode(refused[0]?.reason, 'too_many_jobs'));
      await start('b');
      await control.stop(control.list('a')[0]?.id ?? '', 'a');
      await start('a');
    }),
    inPlace(
      'bounded-output',
      'output is kept up to the configured size, the oldest dropped first, and read in pieces of at most 32 KiB without half a character',
      async (place) => {
        const { control, cwd } = place;
        const { id } = await control.start({ command: place.floods, cwd, run: 'a' });
        const total = Buffer.byteLength(FLOOD);
        await until('all output', () => control.status(id, 'a')?.outputBytes === total);
        const first = control.output(id, 0, 'a');
        assert.ok(first && first.dropped >= total - KEPT_BYTES && first.dropped <= total - KEPT_BYTES + 3, `dropped ${first?.dropped}`);
        let [text, cursor] = ['', 0];
        for (let piece: JobOutput | undefined = first; piece && piece.text !== ''; piece = control.output(id, cursor, 'a')) {
          assert.ok(Buffer.byteLength(piece.text) <= PIECE_BYTES && piece.text.isWellFormed() && !piece.text.includes('\ufffd'));
          text += piece.text;
          cursor = piece.next;
        }
        assert.equal(text, FLOOD.slice(-text.length));
        assert.equal(cursor, total);
        assert.ok(Buffer.byteLength(text) > KEPT_BYTES - 4);
      },
    ),
    inPlace('unknown-id', 'an id that the session does not know gives `undefined`, never an error', async ({ control }) => {
      for (const id of ['', 'bg_0', '__proto__', 'x'.repeat(1000)]) {
        assert.deepEqual(
          [control.status(id, 'a'), control.output(id, 5, 'a'), await control.stop(id, 'a')],
          [undefined, undefined, undefined],
        );
      }
    }),
    inPlace('stop', '`stop` resolves once the job has ended, and leaves one that ended as it was', async (place) => {
      const { control, cwd } = place;
      const waiting = await control.start({ command: place.waits, cwd, run: 'a' });
      assert.equal((await control.stop(waiting.id, 'a'))?.status, 'killed');
      const ending = await control.start({ command: place.exitsWithThree, cwd, run: 'a' });
      await until('its end', () => control.status(ending.id, 'a')?.status !== 'running');
      const { status, exitCode } = (await control.stop(ending.id, 'a')) ?? {};
      assert.deepEqual([status, exitCode], ['exited', 3]);
    }),
    inPlace('no-run', 'a run that is not under way is refused with `jobs_closed`', async (place) => {
      const { control, cwd } = place;
      await assert.rejects(control.start({ command: place.waits, cwd, run: 'z' }), (error) => hasCode(error, 'jobs_closed'));
      assert.throws(
        () => control.list('z'),
        (error) => hasCode(error, 'jobs_closed'),
      );
    }),
  ],
};

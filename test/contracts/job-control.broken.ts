import { createSystemClock } from '../../adapters/clock/system.ts';
import { createSha256 } from '../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createJobDesk } from '../../core/jobs/desk.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { JobControl } from '../../ports/job.ts';
import { createFakeJobRunner } from '../fakes/job-runner.ts';
import { FLOOD, type JobControlHarness } from './job-control.suite.ts';
import type { BrokenAdapter } from './suite.ts';

interface Limits {
  readonly maxJobs: number;
  readonly maxOutputBytes: number;
}

const LIMITS: Limits = { maxJobs: 2, maxOutputBytes: 100_000 };
const never = new Promise<never>(() => {});

/** The desk over jobs without processes, with or without a fault. */
export function deskHarness(fault: (plain: JobControl) => Partial<JobControl> = () => ({}), limits: Limits = LIMITS): JobControlHarness {
  return {
    async make() {
      const desk = createJobDesk({
        ...limits,
        runner: createFakeJobRunner({
          programs: {
            wait: () => never,
            three: async () => 3,
            flood: ({ out }) => {
              out(FLOOD);
              return never;
            },
          },
        }),
        notify: true,
        redactor: createRedactor([]),
        clock: createSystemClock(),
        ids: createRandomIds(),
        hash: createSha256(),
      });
      for (const [run, session] of [
        ['a', 'one'],
        ['a2', 'one'],
        ['b', 'two'],
      ] as const)
        desk.open(run, session, () => {});
      return {
        control: { ...desk, ...fault(desk) },
        cwd: '/somewhere',
        waits: 'wait',
        exitsWithThree: 'three',
        floods: 'flood',
        close: () => desk.closeAll(),
      };
    },
  };
}

const broken = (name: string, caughtBy: string, harness: JobControlHarness): BrokenAdapter<JobControlHarness> => ({
  name,
  caughtBy: `job-control/${caughtBy}`,
  harness,
});

/** Controls that each break one sentence. */
export const brokenJobControls: readonly BrokenAdapter<JobControlHarness>[] = [
  broken(
    'shows all jobs to every session',
    'own-session',
    deskHarness((plain) => ({ list: () => [...plain.list('a'), ...plain.list('b')] })),
  ),
  broken(
    'stops the jobs of other sessions',
    'own-session',
    deskHarness((plain) => ({ stop: async (id) => (await plain.stop(id, 'a')) ?? plain.stop(id, 'b') })),
  ),
  broken('knows no bound', 'at-most', deskHarness(undefined, { ...LIMITS, maxJobs: 99 })),
  broken('keeps everything', 'bounded-output', deskHarness(undefined, { ...LIMITS, maxOutputBytes: 10_000_000 })),
  broken(
    'cuts characters in half',
    'bounded-output',
    deskHarness((plain) => ({
      output: (id, since, run) => {
        const piece = plain.output(id, since, run);
        return piece && piece.text !== '' ? { ...piece, text: `${piece.text.slice(0, -1)}\ufffd` } : piece;
      },
    })),
  ),
  broken(
    'throws for an id that it does not know',
    'unknown-id',
    deskHarness((plain) => ({
      status: (id, run) => {
        const job = plain.status(id, run);
        if (job === undefined) throw new Error('no such job');
        return job;
      },
    })),
  ),
  broken(
    'answers before the job has ended',
    'stop',
    deskHarness((plain) => ({
      stop: async (id, run) => {
        const before = plain.status(id, run);
        void plain.stop(id, run);
        return before;
      },
    })),
  ),
  broken(
    'serves any run',
    'no-run',
    deskHarness((plain) => ({ start: (request) => plain.start({ ...request, run: 'a' }) })),
  ),
];

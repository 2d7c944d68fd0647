import { OdekError } from '../../ports/errors.ts';
import type { JobEnd, JobRunner, StartedJob } from '../../ports/job.ts';
import { createFakeJobRunner, type FakeJobProgram } from '../fakes/job-runner.ts';
import type { JobPlace, JobRunnerHarness } from './job-runner.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Environment = Readonly<Record<string, string | undefined>>;
interface Parts {
  readonly environment: Environment;
  readonly programs: Record<string, FakeJobProgram>;
}
type Fault = (plain: JobRunner, parts: Parts) => Partial<JobRunner>;

const COMMANDS = {
  printEnvironment: 'env',
  exitWithThree: 'three',
  dieOfSignal: 'signal',
  takeTurns: 'turns',
  splitCharacter: 'split',
  waitWithOthers: 'wait',
  leaveOthers: 'leave',
};

const never = new Promise<never>(() => {});

/** The fake runner as a place of the suite, with or without a fault. */
export function fakeJobPlace(fault: Fault = () => ({})): JobPlace {
  let alive = 0;
  const others = (killed: AbortSignal): void => {
    alive = 2;
    killed.addEventListener('abort', () => {
      alive = 0;
    });
  };
  const programs: Record<string, FakeJobProgram> = {
    async [COMMANDS.printEnvironment]({ environment, out }) {
      for (const [name, value] of Object.entries(environment)) out(`${name}=${value}\n`);
      return 0;
    },
    [COMMANDS.exitWithThree]: async () => 3,
    [COMMANDS.dieOfSignal]: async () => 'signal',
    async [COMMANDS.takeTurns]({ out }) {
      for (let at = 1; at <= 100; at += 1) out(`o${at}\ne${at}\n`);
      return 0;
    },
    async [COMMANDS.splitCharacter]({ out }) {
      out('\u{1f600}');
      return 0;
    },
    [COMMANDS.waitWithOthers]({ killed }) {
      others(killed);
      return never;
    },
    async [COMMANDS.leaveOthers]({ killed }) {
      others(killed);
      return 0;
    },
  };
  return {
    commands: COMMANDS,
    cwd: '/somewhere',
    runner(environment) {
      const plain = createFakeJobRunner({ environment, programs });
      return { ...plain, ...fault(plain, { environment, programs }) };
    },
    alive: async () => alive,
    close: async () => {},
  };
}

/** A runner whose jobs are changed after they were started. */
const withJob =
  (change: (job: StartedJob, onOutput: (text: string) => void) => Partial<StartedJob>): Fault =>
  (plain) => ({
    async start(spec, onOutput) {
      const job = await plain.start(spec, onOutput);
      return { ...job, ...change(job, onOutput) };
    },
  });

const withEnd = (change: (end: JobEnd) => JobEnd): Fault => withJob((job) => ({ ended: job.ended.then(change) }));

const withOutput =
  (change: (text: string) => string): Fault =>
  (plain) => ({ start: (spec, onOutput) => plain.start(spec, (text) => onOutput(change(text))) });

const FAULTS: readonly (readonly [name: string, caughtBy: string, fault: Fault])[] = [
  [
    "hands the parent's environment on",
    'environment',
    (_, { environment, programs }) => {
      const leaky: FakeJobProgram = async ({ out }) => {
        for (const [name, value] of Object.entries(environment)) out(`${name}=${value}\n`);
        return 0;
      };
      return createFakeJobRunner({ programs: { ...programs, [COMMANDS.printEnvironment]: leaky } });
    },
  ],
  ['lets the others live when it is stopped', 'ends-with-stop', withJob(() => ({ stop: async () => ({ status: 'killed' }) }))],
  [
    'knows no time limit',
    'ends-with-limit',
    (plain) => ({
      async start({ timeoutMs: _, ...spec }, onOutput) {
        const job = await plain.start(spec, onOutput);
        setTimeout(() => void job.stop(), 2000);
        return job;
      },
    }),
  ],
  ['lets jobs go on when it is closed', 'ends-with-close', () => ({ close: async () => {} })],
  [
    'leaves behind what a command started',
    'ends-with-command',
    (_, { programs }) => {
      const leaving = programs[COMMANDS.waitWithOthers] as FakeJobProgram;
      let apart = new AbortController();
      return createFakeJobRunner({
        programs: {
          ...programs,
          async [COMMANDS.leaveOthers](job) {
            apart = new AbortController();
            void leaving({ ...job, killed: apart.signal });
            return 0;
          },
        },
      });
    },
  ],
  [
    'puts one stream behind the other',
    'output-order',
    withOutput((text) => (text.startsWith('o') ? text.split('\n').reverse().join('\n') : text)),
  ],
  ['cuts a character in half', 'output-whole', withOutput((text) => (text === '\u{1f600}' ? '\ud83d' : text))],
  [
    'goes on writing after the end',
    'output-ends',
    withJob((job, onOutput) => {
      void job.ended.then(() => setTimeout(() => onOutput('late'), 20));
      return {};
    }),
  ],
  ['reports every end as a success', 'how-it-ended', withEnd(() => ({ status: 'exited', exitCode: 0 }))],
  ['takes a signal of others for its own', 'how-it-ended', withEnd((end) => (end.status === 'failed' ? { status: 'killed' } : end))],
  [
    'fails with an error of the system',
    'spawn-failed',
    (plain) => ({
      start: (spec, onOutput) =>
        plain.start(spec, onOutput).catch((error) => {
          throw error instanceof OdekError && error.code === 'spawn_failed' ? new Error('spawn sh ENOENT') : error;
        }),
    }),
  ],
  [
    'starts jobs after it was closed',
    'closed',
    (_, { programs }) => ({ start: (spec, onOutput) => createFakeJobRunner({ programs }).start(spec, onOutput) }),
  ],
];

/** Runners that each break one sentence. */
export const brokenJobRunners: readonly BrokenAdapter<JobRunnerHarness>[] = FAULTS.map(([name, caughtBy, fault]) => ({
  name,
  caughtBy: `job-runner/${caughtBy}`,
  harness: { place: async () => fakeJobPlace(fault) },
}));

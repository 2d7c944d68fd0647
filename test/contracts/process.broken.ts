import { setTimeout as sleep } from 'node:timers/promises';
import { OdekError } from '../../ports/errors.ts';
import type { ProcessRunner } from '../../ports/process.ts';
import { createFakeProcessRunner, type FakeProgram } from '../fakes/process.ts';
import type { ProcessHarness, ProcessPlace } from './process.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Fault = (
  plain: ProcessRunner,
  parts: { readonly environment: Environment; readonly programs: Record<string, FakeProgram> },
) => Partial<ProcessRunner>;

const COMMANDS = {
  printEnvironment: 'env',
  copyInput: 'cat',
  failWithBoth: 'fail',
  flood: 'flood',
  waitWithChild: 'wait',
  leaveOpenPipe: 'leave',
  leaveRunning: 'leave-running',
};

/** The fake runner as a place of the suite, with or without a fault. */
export function fakePlace(fault: Fault = () => ({})): ProcessPlace {
  let alive = 0;
  const programs: Record<string, FakeProgram> = {
    [COMMANDS.printEnvironment]({ environment, out }) {
      for (const [name, value] of Object.entries(environment)) out(`${name}=${value}\n`);
      return 0;
    },
    [COMMANDS.copyInput]({ stdin, out }) {
      out(stdin);
      return 0;
    },
    [COMMANDS.failWithBoth]({ out, err }) {
      out('out\n');
      err('err\n');
      return 3;
    },
    [COMMANDS.flood]({ out, err }) {
      out(`x${'é'.repeat(1_000_000)}`);
      err('done');
      return 0;
    },
    [COMMANDS.waitWithChild]({ killed }) {
      alive = 2;
      return new Promise((resolve) => {
        killed.addEventListener('abort', () => {
          alive = 0;
          resolve(137);
        });
      });
    },
    [COMMANDS.leaveOpenPipe]: () => 0,
    [COMMANDS.leaveRunning]({ leave }) {
      alive = 2;
      leave(() => {
        alive = 0;
      });
      return 0;
    },
  };
  return {
    commands: COMMANDS,
    cwd: '/somewhere',
    runner(environment) {
      const plain = createFakeProcessRunner({ environment, programs });
      return { ...plain, ...fault(plain, { environment, programs }) };
    },
    alive: async () => alive,
    close: async () => {},
  };
}

const FAULTS: readonly (readonly [name: string, caughtBy: string, fault: Fault])[] = [
  [
    "hands the parent's environment on",
    'environment',
    (_, { environment, programs }) => ({
      async run(spec, signal) {
        const everything = Object.fromEntries(Object.entries(environment).map(([name, value]) => [`${name}_`, value ?? '']));
        return createFakeProcessRunner({ environment, programs }).run(
          { ...spec, env: { ...everything, ...spec.env, NODE_OPTIONS: environment.NODE_OPTIONS ?? '' } },
          signal,
        );
      },
    }),
  ],
  [
    'reports every command as a success',
    'result',
    (plain) => ({ run: async (spec, signal) => ({ ...(await plain.run(spec, signal)), exitCode: 0 }) }),
  ],
  ['never writes standard input', 'stdin', (plain) => ({ run: ({ stdin: _, ...spec }, signal) => plain.run(spec, signal) })],
  [
    'lets the group live when it is cancelled',
    'cancel-group',
    (plain) => ({
      async run(spec, signal) {
        const detached = plain.run({ ...spec, timeoutMs: 2000 }, new AbortController().signal);
        const cancelled = new Promise<never>((_, reject) => {
          const reject_ = () => reject(new OdekError('cancelled', 'cancelled'));
          if (signal.aborted) reject_();
          signal.addEventListener('abort', reject_);
        });
        return Promise.race([detached, cancelled]);
      },
    }),
  ],
  [
    'lets the group live when the time is up',
    'timeout-group',
    (plain) => ({
      async run(spec, signal) {
        const detached = plain.run({ ...spec, timeoutMs: 3000 }, signal);
        const late = sleep(spec.timeoutMs, undefined, { ref: false }).then(() => ({
          signal: 'SIGTERM',
          stdout: '',
          stderr: '',
          stdoutTruncated: false,
          stderrTruncated: false,
          timedOut: true,
          durationMs: spec.timeoutMs,
        }));
        return Promise.race([detached, late]);
      },
    }),
  ],
  ['keeps everything', 'flood', (plain) => ({ run: (spec, signal) => plain.run({ ...spec, maxBytes: 10_000_000 }, signal) })],
  [
    'cuts a character in half',
    'flood',
    (plain) => ({
      async run(spec, signal) {
        const result = await plain.run(spec, signal);
        return result.stdoutTruncated ? { ...result, stdout: `${result.stdout}\ufffd` } : result;
      },
    }),
  ],
  [
    'waits for every pipe to close',
    'open-pipe',
    (plain) => ({
      async run(spec, signal) {
        const result = await plain.run(spec, signal);
        if (spec.command === COMMANDS.leaveOpenPipe) await sleep(6500);
        return result;
      },
    }),
  ],
  [
    'does not tell what it ended',
    'leftovers',
    (plain) => ({
      async run(spec, signal) {
        const { leftovers: _, ...result } = await plain.run(spec, signal);
        return result;
      },
    }),
  ],
  [
    'fails with an error of the system',
    'spawn-failed',
    (plain) => ({
      run: (spec, signal) =>
        plain.run(spec, signal).catch(() => {
          throw Object.assign(new Error('spawn sh ENOENT'), { code: 'ENOENT' });
        }),
    }),
  ],
];

/** Runners that each break one sentence. */
export const brokenProcessRunners: readonly BrokenAdapter<ProcessHarness>[] = FAULTS.map(([name, caughtBy, fault]) => ({
  name,
  caughtBy: `process/${caughtBy}`,
  harness: { place: async () => fakePlace(fault) },
}));

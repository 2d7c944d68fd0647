import { join } from 'node:path';
import { createJobRunner } from '../../../../adapters/process/jobs.ts';
import { createProcessRunner } from '../../../../adapters/process/node.ts';
import type { JobPlace } from '../../../contracts/job-runner.suite.ts';
import type { ProcessPlace } from '../../../contracts/process.suite.ts';
import { countWith, sandboxPlace, uniqueMinute } from './fixture.ts';

/** Real commands under bwrap. Their process ids mean nothing out here: what lives is found by its arguments. */
export async function confinedShellPlace(): Promise<ProcessPlace> {
  const place = await sandboxPlace();
  const minute = uniqueMinute();
  return {
    cwd: place.work,
    commands: {
      printEnvironment: 'env',
      copyInput: 'cat',
      failWithBoth: 'echo out; echo err >&2; exit 3',
      flood: `${JSON.stringify(process.execPath)} -e "process.stdout.write('x' + 'é'.repeat(1000000), () => process.stderr.write('done'))"`,
      waitWithChild: `sleep ${minute} & sleep ${minute} & wait`,
      leaveOpenPipe: `setsid sleep ${minute} & sleep 0.1`,
      leaveRunning: `sleep ${minute} & setsid sleep ${minute} & sleep 0.1`,
    },
    runner: (environment) => createProcessRunner({ environment, launcher: place.sandbox }),
    alive: () => countWith(minute),
    close: place.close,
  };
}

/** Real jobs under bwrap. */
export async function confinedJobPlace(): Promise<JobPlace> {
  const place = await sandboxPlace();
  const minute = uniqueMinute();
  const others = `sleep ${minute} & setsid sleep ${minute} & sleep 0.2;`;
  return {
    cwd: place.work,
    commands: {
      printEnvironment: 'env',
      exitWithThree: 'exit 3',
      dieOfSignal: 'kill -TERM $$',
      takeTurns: 'i=1; while [ $i -le 100 ]; do echo "o$i"; echo "e$i" >&2; i=$((i+1)); done',
      splitCharacter: "printf '\\360\\237'; sleep 0.05; printf '\\230\\200'",
      waitWithOthers: `${others} wait`,
      leaveOthers: `${others} exit 0`,
    },
    runner: (environment) => createJobRunner({ environment, recordsFolder: join(place.state, 'jobs'), launcher: place.sandbox }),
    alive: () => countWith(minute),
    close: place.close,
  };
}

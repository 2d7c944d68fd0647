import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJobRunner } from '../../../adapters/process/jobs.ts';
import type { JobPlace } from '../../contracts/job-runner.suite.ts';
import { isAlive } from './fixture.ts';

const OTHERS = 'sleep 60 & echo $! >> pids; setsid sleep 60 & sleep 0.1; echo $! >> pids;';

/** Real jobs in a temporary folder, where they leave the ids of what they start. */
export async function jobPlace(): Promise<JobPlace & { readonly records: string; pids(): Promise<readonly number[]> }> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'odek-jobs-')));
  const records = join(cwd, 'records');
  const pids = async (): Promise<readonly number[]> => {
    const text = await readFile(join(cwd, 'pids'), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  };
  return {
    cwd,
    records,
    pids,
    commands: {
      printEnvironment: 'env',
      exitWithThree: 'exit 3',
      dieOfSignal: 'kill -TERM $$',
      takeTurns: 'i=1; while [ $i -le 100 ]; do echo "o$i"; echo "e$i" >&2; i=$((i+1)); done',
      splitCharacter: "printf '\\360\\237'; sleep 0.05; printf '\\230\\200'",
      waitWithOthers: `${OTHERS} wait`,
      leaveOthers: `${OTHERS} exit 0`,
    },
    runner: (environment) => createJobRunner({ environment, recordsFolder: records }),
    async alive() {
      const states = await Promise.all((await pids()).map(isAlive));
      return states.filter(Boolean).length;
    },
    async close() {
      for (const pid of await pids()) {
        if (await isAlive(pid)) process.kill(pid, 'SIGKILL');
      }
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

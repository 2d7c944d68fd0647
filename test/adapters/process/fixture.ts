import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProcessRunner } from '../../../adapters/process/node.ts';
import type { ProcessPlace } from '../../contracts/process.suite.ts';

/** Whether a process runs; one that ended and was not collected yet does not. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return status === undefined || !/\) [ZX] /.test(status);
}

/** Real commands in a temporary folder, where they leave the ids of what they start. */
export async function shellPlace(): Promise<ProcessPlace> {
  const cwd = await mkdtemp(join(tmpdir(), 'odek-process-'));
  const pids = async (file: string) => {
    const text = await readFile(join(cwd, file), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  };
  const living = async (file: string) => {
    const states = await Promise.all((await pids(file)).map(isAlive));
    return states.filter(Boolean).length;
  };
  return {
    cwd,
    commands: {
      printEnvironment: 'env',
      copyInput: 'cat',
      failWithBoth: 'echo out; echo err >&2; exit 3',
      flood: `${JSON.stringify(process.execPath)} -e "process.stdout.write('x' + 'é'.repeat(1000000), () => process.stderr.write('done'))"`,
      waitWithChild: 'sleep 60 & echo $! > pids; echo $$ >> pids; wait',
      leaveOpenPipe: 'setsid sleep 60 & echo $! > left',
      leaveRunning: 'sleep 60 & echo $! >> pids; setsid sleep 60 & sleep 0.1; echo $! >> pids',
    },
    runner: (environment) => createProcessRunner({ environment }),
    alive: () => living('pids'),
    async close() {
      for (const pid of [...(await pids('pids')), ...(await pids('left'))]) {
        if (await isAlive(pid)) process.kill(pid, 'SIGKILL');
      }
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

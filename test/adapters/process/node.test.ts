import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProcessRunner } from '../../../adapters/process/node.ts';
import { hasCode } from '../../../ports/errors.ts';
import { isAlive } from './fixture.ts';

const OWNER = fileURLToPath(new URL('./node-owner.ts', import.meta.url));

let cwd = '';

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'odek-run-'));
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

const runner = createProcessRunner({ environment: process.env });
const never = new AbortController().signal;
const run = (command: string, signal = never) => runner.run({ command, cwd, maxBytes: 1000, timeoutMs: 20_000 }, signal);

describe('a command', () => {
  it('that ends by a signal of its own says which', async () => {
    const result = await run('kill -TERM $$');
    expect([result.exitCode, result.signal, result.timedOut]).toEqual([undefined, 'SIGTERM', false]);
  });

  it('leads a process group of its own', async () => {
    const [pid, group] = (await run('echo $$; ps -o pgid= -p $$')).stdout.split('\n').map((text) => text.trim());
    expect(group).toBe(pid);
  });

  it('that never reads its input does not fail the run', async () => {
    const result = await runner.run({ command: 'exit 0', cwd, stdin: 'x'.repeat(1_000_000), maxBytes: 10, timeoutMs: 20_000 }, never);
    expect(result.exitCode).toBe(0);
  });

  it('with a time limit longer than a timer can wait runs on', async () => {
    const result = await runner.run({ command: 'echo hi', cwd, maxBytes: 10, timeoutMs: 2 ** 40 }, never);
    expect([result.stdout, result.timedOut]).toEqual(['hi\n', false]);
  });

  it('that was cancelled before it began is not started', async () => {
    await expect(run('touch started', AbortSignal.abort())).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    expect((await run('ls')).stdout).toBe('');
  });
});

/** Three processes of one command: its own, one of its group, and one in a session of its own; their ids in `file`. */
const family = (file: string): string =>
  `echo $$ > ${file}; sleep 60 & echo $! >> ${file}; setsid sleep 60 & sleep 0.1; echo $! >> ${file}; wait`;

async function pidsIn(file: string, count: number): Promise<readonly number[]> {
  for (let wait = 0; wait < 500; wait += 1) {
    const pids = (await readFile(join(cwd, file), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    if (pids.length >= count) return pids;
    await sleep(20);
  }
  throw new Error(`${file} did not name ${count} processes within 10 s`);
}

async function untilGone(pids: readonly number[]): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    if (!(await Promise.all(pids.map(isAlive))).includes(true)) return;
    await sleep(20);
  }
  throw new Error(`${pids} did not end within 10 s`);
}

describe('processes of a command without a sandbox', () => {
  it('are all killed when it is cancelled, those in sessions of their own included', async () => {
    const controller = new AbortController();
    const running = run(family('cancelled'), controller.signal);
    const pids = await pidsIn('cancelled', 3);
    controller.abort();
    await expect(running).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    await untilGone(pids);
  });

  it('are found and killed by the next start after odek was killed with SIGKILL', async () => {
    const records = join(cwd, 'records');
    const owner = spawn(process.execPath, [OWNER, records, cwd, family('orphans')], { stdio: 'inherit' });
    const pids = await pidsIn('orphans', 3);
    expect((await stat(records)).mode & 0o777).toBe(0o700);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await Promise.all(pids.map(isAlive))).toEqual([true, true, true]);
    createProcessRunner({ environment: process.env, recordsFolder: records });
    await untilGone(pids);
    expect(await readdir(records)).toEqual([]);
  });

  it('are killed when a signal that nobody listens for ends odek', async () => {
    const owner = spawn(process.execPath, [OWNER, join(cwd, 'records-term'), cwd, family('ended')], { stdio: 'inherit' });
    const pids = await pidsIn('ended', 3);
    owner.kill('SIGTERM');
    expect(await once(owner, 'exit')).toEqual([null, 'SIGTERM']);
    await untilGone(pids);
  });

  it('leave no record when it ends, and it does not begin where none can be written', async () => {
    const records = join(cwd, 'records-kept');
    const noted = createProcessRunner({ environment: process.env, recordsFolder: records });
    const spec = { cwd, maxBytes: 1000, timeoutMs: 20_000 };
    expect((await noted.run({ ...spec, command: `ls ${records}` }, never)).stdout).toMatch(/^[0-9a-f]{32}\.json\n$/);
    expect(await readdir(records)).toEqual([]);
    await writeFile(join(cwd, 'no-folder'), '');
    const unnoted = createProcessRunner({ environment: process.env, recordsFolder: join(cwd, 'no-folder') });
    await expect(unnoted.run({ ...spec, command: 'touch ran' }, never)).rejects.toSatisfy((error) => hasCode(error, 'spawn_failed'));
    await sleep(100);
    await expect(stat(join(cwd, 'ran'))).rejects.toThrow('ENOENT');
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityOf } from '../../../adapters/process/identity.ts';
import { reapJobs } from '../../../adapters/process/job-records.ts';
import { createJobRunner } from '../../../adapters/process/jobs.ts';
import { hasCode } from '../../../ports/errors.ts';
import { isAlive } from './fixture.ts';
import { jobPlace } from './jobs-fixture.ts';

const OWNER = fileURLToPath(new URL('./jobs-owner.ts', import.meta.url));
const MARK = 'a'.repeat(32);

let place: Awaited<ReturnType<typeof jobPlace>>;
const owners: ChildProcess[] = [];
beforeEach(async () => {
  place = await jobPlace();
});
afterEach(async () => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
  reapJobs(place.records);
  await place.close();
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    if (await holds()) return;
    await sleep(10);
  }
  throw new Error(`${what} did not happen within 5 s`);
}

/** An odek stand-in with one job that has started two more processes. */
async function owner(how: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [OWNER, place.records, place.cwd, place.commands.waitWithOthers, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  owners.push(child);
  await until('the job', async () => (await place.alive()) === 2);
  return child;
}

const records = async (): Promise<readonly string[]> =>
  (await readdir(place.records).catch(() => [])).filter((name) => name.endsWith('.json'));

const start = (command: string, onOutput: (text: string) => void = () => {}) =>
  place.runner(process.env).start({ command, cwd: place.cwd }, onOutput);

describe('jobs of a process that ends', () => {
  it('are killed when it exits without closing', async () => {
    const child = await owner('exit');
    await once(child, 'exit');
    // Told to end before their parent went; the kernel may take a moment longer.
    await until('their end', async () => (await place.alive()) === 0);
    expect(await records()).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('are killed when %s ends it, which still ends it', async (signal) => {
    const child = await owner('waits');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([null, signal]);
    await until('their end', async () => (await place.alive()) === 0);
    expect(await records()).toEqual([]);
  });

  it('are left to a listener of the signal that ends it in its own way', async () => {
    const child = await owner('listens');
    await sleep(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
    await until('their end', async () => (await place.alive()) === 0);
  });

  it('survive kill -9 and are killed at the next start, those that left the group included', async () => {
    const child = await owner('waits');
    expect(await records()).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await place.alive()).toBe(2);
    await place.runner(process.env).close();
    await until('their end', async () => (await place.alive()) === 0);
    expect(await records()).toEqual([]);
  });

  it('are killed at the next start when the command itself is gone and its children are not', async () => {
    const child = await owner('waits');
    const [record] = await records();
    const { pid } = JSON.parse(await readFile(join(place.records, record ?? ''), 'utf8')) as { readonly pid: number };
    child.kill('SIGKILL');
    await once(child, 'exit');
    process.kill(pid, 'SIGKILL');
    await until('the end of the command', async () => !(await isAlive(pid)));
    expect(await place.alive()).toBe(2);
    expect(reapJobs(place.records)).toBe(1);
    await until('their end', async () => (await place.alive()) === 0);
  });
});

describe('records of jobs', () => {
  it('are readable by their owner alone and go with the job', async () => {
    const job = await start('sleep 60');
    const [name] = await records();
    expect((await stat(place.records)).mode & 0o777).toBe(0o700);
    expect((await stat(join(place.records, name ?? ''))).mode & 0o777).toBe(0o600);
    await job.stop();
    expect(await records()).toEqual([]);
  });

  it('of a process that lives are left alone', async () => {
    const job = await start('sleep 60');
    expect(reapJobs(place.records)).toBe(0);
    expect(await records()).toHaveLength(1);
    expect(await job.stop()).toEqual({ status: 'killed' });
  });

  async function put(record: unknown): Promise<void> {
    await mkdir(place.records, { recursive: true });
    await writeFile(join(place.records, `${MARK}.json`), typeof record === 'string' ? record : JSON.stringify(record));
  }

  it('do not kill a process that has the number of a job since', async () => {
    const bystander = spawn('sleep', ['60'], { detached: true });
    owners.push(bystander);
    const { pid = 0 } = bystander;
    const gone = `${identityOf(process.pid)?.replace(/\d+$/, '')}1`;
    await put({ pid, mark: MARK, identity: gone, owner: { pid: process.pid, identity: gone } });
    expect(reapJobs(place.records)).toBe(1);
    expect(await isAlive(pid)).toBe(true);
    expect(await records()).toEqual([]);
  });

  it('of another machine or container are left alone: their numbers mean nothing here', async () => {
    await put({ pid: process.pid, mark: MARK, identity: 'x/1', owner: { pid: 2, identity: 'another boot pid:[1]/1' } });
    expect(reapJobs(place.records)).toBe(0);
    expect(await records()).toHaveLength(1);
  });

  it.each([
    'no JSON',
    '{}',
    { pid: -1, mark: MARK, identity: '', owner: { pid: 2, identity: '' } },
    { pid: 0, mark: MARK, identity: '', owner: { pid: 2, identity: '' } },
    { pid: 1, mark: MARK, identity: '', owner: { pid: 2, identity: '' } },
    { pid: 4.5, mark: MARK, identity: '', owner: { pid: 2, identity: '' } },
    { pid: 99, mark: '../../x', identity: '', owner: { pid: 2, identity: '' } },
    { pid: 99, mark: MARK, identity: '', owner: null },
  ])('that are none are removed and kill nothing (%j)', async (record) => {
    await put(record);
    expect(reapJobs(place.records)).toBe(0);
    expect(await records()).toEqual([]);
  });

  it('that are too long are removed unread', async () => {
    await put(`${' '.repeat(10_000)}${JSON.stringify({ pid: 99, mark: MARK, identity: '', owner: { pid: 2, identity: '' } })}`);
    expect(reapJobs(place.records)).toBe(0);
    expect(await records()).toEqual([]);
  });

  it('that cannot be written keep the job from starting', async () => {
    await writeFile(place.records, 'a file where the folder should be');
    const runner = createJobRunner({ environment: process.env, recordsFolder: place.records });
    const marker = join(place.cwd, 'ran');
    await expect(runner.start({ command: `touch ${marker}`, cwd: place.cwd }, () => {})).rejects.toSatisfy((error) =>
      hasCode(error, 'spawn_failed'),
    );
    await sleep(100);
    await expect(stat(marker)).rejects.toThrow();
  });
});

describe('output of jobs', () => {
  it('that never ends keeps neither the agent from its work nor the job from being stopped', async () => {
    let bytes = 0;
    const job = await start('yes', (text) => {
      bytes += text.length;
    });
    const from = performance.eventLoopUtilization();
    await sleep(1000);
    expect(performance.eventLoopUtilization(from).utilization).toBeLessThan(0.7);
    expect(bytes).toBeGreaterThan(1024 * 1024);
    expect(bytes).toBeLessThan(40 * 1024 * 1024);
    expect(await job.stop()).toEqual({ status: 'killed' });
  });

  it('arrives whole when it is more than a pipe holds and the job ends at once', async () => {
    let text = '';
    const job = await start('head -c 3000000 /dev/zero | tr "\\0" x', (piece) => {
      text += piece;
    });
    expect(await job.ended).toEqual({ status: 'exited', exitCode: 0 });
    expect(text.length).toBe(3_000_000);
  });

  it('has no input to wait for', async () => {
    const pieces: string[] = [];
    const job = await start('cat; echo over', (text) => pieces.push(text));
    expect(await job.ended).toEqual({ status: 'exited', exitCode: 0 });
    expect(pieces.join('')).toBe('over\n');
  });

  it('runs the command as it was written: quotes, here-documents and all', async () => {
    const pieces: string[] = [];
    const job = await start("cat <<'X'\n$HOME \"a\" 'b'\nX\n(cat <&3) 2>/dev/null || echo 'three is closed'", (text) => pieces.push(text));
    await job.ended;
    expect(pieces.join('')).toBe('$HOME "a" \'b\'\nthree is closed\n');
  });
});

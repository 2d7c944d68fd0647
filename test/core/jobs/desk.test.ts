import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createJobDesk, type JobDesk, type JobDeskOptions, type JobEvent } from '../../../core/jobs/desk.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import { hasCode } from '../../../ports/errors.ts';
import { createFakeJobRunner, type FakeJobProgram } from '../../fakes/job-runner.ts';

const SECRET = 'canary-secret-0123456789';
const never = new Promise<never>(() => {});
const PROGRAMS: Readonly<Record<string, FakeJobProgram>> = {
  wait: () => never,
  quick: async () => 0,
  async leak({ out }) {
    // The secret is cut where two pieces meet.
    out(`it is ${SECRET.slice(0, 9)}`);
    out(`${SECRET.slice(9)} and that was it`);
    return 0;
  },
  [`use ${SECRET}`]: () => never,
};

let open: JobDesk | undefined;
afterEach(() => open?.closeAll());

function desk(changes: Partial<JobDeskOptions> = {}) {
  const runner = createFakeJobRunner({ programs: PROGRAMS });
  const events: JobEvent[] = [];
  const jobs = createJobDesk({
    runner,
    maxJobs: 8,
    maxOutputBytes: 1024 * 1024,
    notify: true,
    redactor: createRedactor([SECRET]),
    clock: createSystemClock(),
    ids: createRandomIds(),
    hash: createSha256(),
    ...changes,
  });
  jobs.open('r1', 's1', (event) => events.push(event));
  open = jobs;
  const start = (command: string, timeoutMs?: number) =>
    jobs.start({ command, cwd: '/w', run: 'r1', ...(timeoutMs !== undefined && { timeoutMs }) });
  return { jobs, runner, events, start };
}

async function ended(jobs: JobDesk, count: number): Promise<void> {
  for (let poll = 0; poll < 500 && jobs.list('r1').filter(({ status }) => status !== 'running').length < count; poll += 1) await sleep(2);
}

describe('the job desk', () => {
  it('keeps no secret, wherever the output was cut, and none in the command', async () => {
    const { jobs, start } = desk();
    const { id } = await start('leak');
    const waiting = await start(`use ${SECRET}`);
    await ended(jobs, 1);
    expect(jobs.output(id, 0, 'r1')?.text).toBe('it is [REDACTED] and that was it');
    expect(waiting.command).toBe('use [REDACTED]');
  });

  it('tells of starts and ends with the digest of the command and nothing else of it', async () => {
    const { jobs, events, start } = desk();
    const first = await start('quick');
    await ended(jobs, 1);
    const second = await start('wait');
    await jobs.stop(second.id, 'r1');
    const digest = (command: string) => createSha256().sha256(command);
    expect(events).toEqual([
      { type: 'bg_started', data: { job_id: first.id, command_sha256: digest('quick') } },
      { type: 'bg_exited', data: { job_id: first.id, status: 'exited', exit_code: 0 } },
      { type: 'bg_started', data: { job_id: second.id, command_sha256: digest('wait') } },
      { type: 'bg_exited', data: { job_id: second.id, status: 'killed' } },
    ]);
  });

  it('tells each end once, and not one that a call has shown', async () => {
    const { jobs, start } = desk();
    const jobsStarted = await Promise.all(['quick', 'quick', 'quick', 'quick'].map((command) => start(command)));
    for (const { id } of jobsStarted) expect(id).toMatch(/^bg_[0-9a-f]{8}$/);
    await sleep(20);
    const [first, second, third, fourth] = jobsStarted.map(({ id }) => id);
    jobs.status(first ?? '', 'r1');
    jobs.output(second ?? '', 0, 'r1');
    await jobs.stop(third ?? '', 'r1');
    expect(jobs.takeFinished('s1').map(({ view }) => view.id)).toEqual([fourth]);
    expect(jobs.takeFinished('s1')).toEqual([]);
    expect(jobs.takeFinished('other')).toEqual([]);
  });

  it('shows a person the jobs of a session without counting them as seen', async () => {
    const { jobs, start } = desk();
    const { id } = await start('quick');
    await sleep(20);
    expect(jobs.look('s1')).toMatchObject([{ id, status: 'exited', exitCode: 0 }]);
    expect(jobs.look('other')).toEqual([]);
    expect(jobs.takeFinished('s1').map(({ view }) => view.id)).toEqual([id]);
  });

  it('tells no end where that is turned off', async () => {
    const { jobs, start } = desk({ notify: false });
    await start('quick');
    await sleep(20);
    expect(jobs.takeFinished('s1')).toEqual([]);
  });

  it('holds a time limit under the configured one', async () => {
    const { runner, start } = desk({ maxTimeoutMs: 1000 });
    expect((await start('wait')).timeoutMs).toBe(1000);
    expect((await start('wait', 5000)).timeoutMs).toBe(1000);
    expect((await start('wait', 500)).timeoutMs).toBe(500);
    expect(runner.started.map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 1000, 500]);
    expect((await desk().start('wait')).timeoutMs).toBeUndefined();
  });

  it('counts a job that could not be started for nothing', async () => {
    const { jobs, start } = desk({ maxJobs: 1 });
    await expect(start('no such thing')).rejects.toSatisfy((error) => hasCode(error, 'spawn_failed'));
    expect(jobs.list('r1')).toEqual([]);
    await start('wait');
    await expect(start('wait')).rejects.toThrow('1 background jobs are running');
  });

  it('remembers the last 32 jobs that ended', async () => {
    const { jobs, start } = desk();
    for (let at = 0; at < 40; at += 1) {
      await start('quick');
      await ended(jobs, Math.min(32, at + 1));
    }
    await sleep(10);
    expect(jobs.list('r1')).toHaveLength(32);
  });

  it('lets jobs outlive their run, for the next run of the session', async () => {
    const { jobs, start } = desk();
    const { id } = await start('wait');
    jobs.close('r1');
    expect(() => jobs.list('r1')).toThrow('no run that is under way');
    jobs.open('r2', 's1', () => {});
    expect(jobs.status(id, 'r2')?.status).toBe('running');
  });

  it('ends the jobs of a session that is over and those of no other, and tells it', async () => {
    const { jobs, events, start } = desk();
    jobs.open('r9', 's9', () => {});
    const other = await jobs.start({ command: 'wait', cwd: '/w', run: 'r9' });
    const { id } = await start('wait');
    await jobs.endSession('s1');
    await jobs.endSession('s1');
    expect(events.at(-1)).toEqual({ type: 'bg_exited', data: { job_id: id, status: 'killed' } });
    expect(() => jobs.list('r1')).toThrow();
    expect(jobs.status(other.id, 'r9')?.status).toBe('running');
  });

  it('starts nothing in a session that ended meanwhile', async () => {
    const { jobs, start } = desk();
    const starting = start('wait');
    await jobs.endSession('s1');
    await expect(starting).rejects.toSatisfy((error) => hasCode(error, 'jobs_closed'));
  });

  it('has told every end when it is closed', async () => {
    const { jobs, events, start } = desk();
    await start('wait');
    await start('wait');
    await jobs.closeAll();
    expect(events.filter(({ type }) => type === 'bg_exited')).toHaveLength(2);
  });
});

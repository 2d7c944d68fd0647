import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProcessRunner } from '../../../adapters/process/node.ts';
import { hasCode } from '../../../ports/errors.ts';

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

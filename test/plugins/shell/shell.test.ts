import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProcessRunner } from '../../../adapters/process/node.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import shell from '../../../plugins/shell/index.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import type { ProcessResult, ProcessRunner } from '../../../ports/process.ts';

let workspace = '';

beforeAll(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'odek-shell-')));
});

afterAll(() => rm(workspace, { recursive: true, force: true }));

function tool(runner: ProcessRunner) {
  const registry = createToolRegistry();
  shell.apply({ tools: registry.registrar('shell'), process: runner }, {});
  const spec = registry.get('shell')?.spec;
  if (!spec) throw new Error('no shell');
  return spec;
}

const real = createProcessRunner({ environment: process.env });

async function call(
  command: string,
  runner: ProcessRunner = real,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolResult> {
  const exec = { signal, callId: 'c1', args: {}, workspace, dataDir: '/data' };
  return (await tool(runner).execute({ command } as never, exec)) as ToolResult;
}

const ended = (changes: Partial<ProcessResult>): ProcessRunner => ({
  run: async () => ({ stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, timedOut: false, durationMs: 1, ...changes }),
});

describe('shell', () => {
  it('runs in the working directory and gives standard output, then standard error', async () => {
    expect(await call('echo problem >&2; pwd')).toEqual({ content: `${workspace}\nproblem`, source: '$ echo problem >&2; pwd' });
  });

  it('says when there was no output', async () => {
    expect((await call('true')).content).toBe('(no output)');
  });

  it('fails with the exit status and keeps the output', async () => {
    expect(await call('echo half; exit 4')).toEqual({ content: 'half\nexit status 4', failed: true, source: '$ echo half; exit 4' });
    expect((await call('exit 1')).content).toBe('(no output)\nexit status 1');
  });

  it('says which signal ended it', async () => {
    expect(await call('kill -KILL $$')).toMatchObject({ content: '(no output)\nkilled by SIGKILL', failed: true });
  });

  it('says that it ran too long', async () => {
    expect(await call('x', ended({ timedOut: true, signal: 'SIGKILL', stdout: 'so far' }))).toMatchObject({
      content: 'so far\nkilled: it ran longer than 30 minutes',
      failed: true,
    });
  });

  it('says that what it left running was stopped, and where such things belong', async () => {
    const { content, failed } = await call('sleep 60 >/dev/null 2>&1 & echo started');
    expect(content).toBe('started\n[what the command left running was stopped; use bg_start for what should go on]');
    expect(failed).toBeUndefined();
  });

  it('tells the model of the sandbox what it has to know', () => {
    const description = (confinement: NonNullable<ProcessRunner['confinement']>) => tool({ ...real, confinement }).description;
    const inside = { backend: 'bwrap', network: false, readonly: false, workspace: '/w' } as const;
    expect(tool(real).description).not.toContain('sandbox');
    expect(description(inside)).toContain('Runs in a sandbox without network; only the working directory and /tmp can be written.');
    expect(description({ ...inside, network: true, readonly: true })).toContain('Runs in a sandbox; only /tmp can be written.');
    expect(description({ ...inside, backend: 'docker', workspace: '/workspace' })).toContain('The working directory is /workspace there.');
  });

  it('marks each stream that was cut at 1 MiB', async () => {
    const { content } = await call('head -c 2000000 /dev/zero | tr "\\0" x');
    expect(content.endsWith('x\n... [output truncated]')).toBe(true);
    expect(content.length).toBe(1024 * 1024 + '\n... [output truncated]'.length);
    expect((await call('x', ended({ exitCode: 0, stdout: 'a', stderr: 'b', stderrTruncated: true }))).content).toBe(
      'a\nb\n... [output truncated]',
    );
  });

  it('hands the limits on', async () => {
    const specs: unknown[] = [];
    await call('ls', {
      run(spec, signal) {
        specs.push(spec);
        return ended({ exitCode: 0 }).run(spec, signal);
      },
    });
    expect(specs).toEqual([{ command: 'ls', cwd: workspace, maxBytes: 1024 * 1024, timeoutMs: 30 * 60_000 }]);
  });

  it('stops when the run is cancelled', async () => {
    const controller = new AbortController();
    const running = call('sleep 30', real, controller.signal);
    setTimeout(() => controller.abort(), 50);
    await expect(running).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
  });

  it('declares its command as its effect', () => {
    expect(tool(real).effects?.({ command: 'ls' } as never)).toEqual({ command: 'ls' });
  });
});

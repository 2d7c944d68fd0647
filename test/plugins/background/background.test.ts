import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import background from '../../../plugins/background/index.ts';
import type { JobControl } from '../../../ports/job.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { deskHarness } from '../../contracts/job-control.broken.ts';
import type { JobControlPlace } from '../../contracts/job-control.suite.ts';

let place: JobControlPlace | undefined;
afterEach(() => place?.close());

async function tools(control?: JobControl) {
  place = await deskHarness().make();
  const registry = createToolRegistry();
  background.apply({ tools: registry.registrar('background'), jobs: control ?? place.control }, {});
  return {
    registry,
    async call(name: string, input: object) {
      const exec = { signal: new AbortController().signal, callId: 'c', args: input, workspace: '/w', dataDir: '/d', runId: 'a' };
      const result = (await registry.get(name)?.spec.execute(input as never, exec)) as ToolResult;
      return { value: JSON.parse(result.content) as Record<string, unknown>, source: result.source };
    },
  };
}

const idOf = (value: Record<string, unknown>): string => String(value.job_id);

describe('the tools of background jobs', () => {
  it('are told to a model in at most 600 bytes each, and only the start touches anything', async () => {
    const { registry } = await tools();
    expect(registry.list().map(({ spec }) => spec.name)).toEqual(['bg_list', 'bg_output', 'bg_start', 'bg_status', 'bg_stop']);
    for (const definition of registry.definitions())
      expect(Buffer.byteLength(JSON.stringify(definition)), definition.name).toBeLessThanOrEqual(600);
    const input = { command: 'npm run dev', job_id: 'x' } as never;
    expect(registry.list().map(({ spec }) => spec.effects?.(input))).toEqual([{}, {}, { command: 'npm run dev' }, {}, {}]);
  });

  it('start, list, look at and stop a job', async () => {
    const { call } = await tools();
    const started = await call('bg_start', { command: 'wait' });
    expect(started).toMatchObject({ source: 'bg', value: { status: 'running' } });
    const id = idOf(started.value);
    expect((await call('bg_list', {})).value).toEqual([
      { job_id: id, command: 'wait', status: 'running', runtime_s: expect.any(Number), output_bytes: 0 },
    ]);
    expect((await call('bg_stop', { job_id: id })).value).toMatchObject({ job_id: id, status: 'killed' });
    expect((await call('bg_status', { job_id: id })).value).toMatchObject({ status: 'killed' });
  });

  it('tell the exit code, and the time limit that counts', async () => {
    const { call } = await tools();
    const started = await call('bg_start', { command: 'three', timeout_seconds: 90 });
    expect(started.value.timeout_s).toBe(90);
    await sleep(20);
    expect((await call('bg_status', { job_id: idOf(started.value) })).value).toMatchObject({ status: 'exited', exit_code: 3 });
  });

  it('page through output, and say what is not kept any more', async () => {
    const { call } = await tools();
    const id = idOf((await call('bg_start', { command: 'flood' })).value);
    const first = await call('bg_output', { job_id: id });
    expect(first.source).toBe('bg_output');
    expect(first.value).toMatchObject({ status: 'running', dropped_bytes: 100_001, next_cursor: 132_769 });
    const last = await call('bg_output', { job_id: id, since: 200_001 });
    expect(last.value).toEqual({ output: '', next_cursor: 200_001, status: 'running' });
  });

  it.each(['bg_status', 'bg_output', 'bg_stop'])('%s knows no job of another session', async (name) => {
    expect((await (await tools()).call(name, { job_id: 'bg_00000000' })).value).toEqual({ status: 'unknown' });
  });

  it('show 80 characters of a command', async () => {
    const view = { id: 'x', command: '😀'.repeat(100), status: 'running', runtimeMs: 0, outputBytes: 0 } as const;
    const { call } = await tools({
      start: async () => view,
      list: () => [view],
      status: () => view,
      output: () => undefined,
      stop: async () => view,
    });
    expect([...String((await call('bg_status', { job_id: 'x' })).value.command)]).toHaveLength(80);
  });
});

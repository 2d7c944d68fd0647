import { describe, expect, it } from 'vitest';
import { createStallMonitor, type StallCall } from '../../../core/plan/stall.ts';
import type { PlanPosition } from '../../../core/plan/store.ts';
import { statusTool } from '../../../plugins/background/tools.ts';
import type { JobControl, JobView } from '../../../ports/job.ts';
import type { ToolExecution, ToolResult } from '../../../ports/plugin.ts';
import { hash } from './fixture.ts';

const call = (changes: Partial<StallCall> = {}): StallCall => ({
  tool: 'read_file',
  arguments: '{"path":"a"}',
  outcome: 'completed',
  danger: 'safe',
  ...changes,
});
const plan: PlanPosition = { open: true, inProgress: 's2', nextPending: 's3', lastBlocked: false };

/** The batches, one call each, after which a hint came. */
function firesAt(calls: readonly StallCall[]): number[] {
  const monitor = createStallMonitor(hash);
  return calls.flatMap((each, at) => (monitor.observe([each], undefined) === undefined ? [] : [at + 1]));
}

describe('the stall monitor', () => {
  it('hints at 3, 6, 12 and 24 identical calls', () => {
    expect(firesAt(Array.from({ length: 30 }, () => call()))).toEqual([3, 6, 12, 24]);
  });

  it('counts through other calls, and through another order of the arguments', () => {
    const a = call({ arguments: '{"path":"a","limit":1}' });
    const b = call({ arguments: '{"limit":1,"path":"a"}' });
    expect(firesAt([a, call({ tool: 'glob' }), b, call({ tool: 'tree' }), a])).toEqual([5]);
  });

  it('forgets a tool whose call failed, and no other', () => {
    const other = call({ tool: 'glob' });
    expect(firesAt([call(), call(), other, other, call({ outcome: 'failed' }), call(), other])).toEqual([7]);
  });

  it('leaves background polling until 9 and 18 results without a change', () => {
    const poll = call({ tool: 'bg_status', result: 'running' });
    expect(firesAt(Array.from({ length: 18 }, () => poll))).toEqual([9, 18]);
    expect(firesAt(Array.from({ length: 40 }, (_, at) => call({ tool: 'bg_output', result: `line ${at >> 3}` })))).toEqual([]);
  });

  it('sees no change in a job whose clock alone goes on, as the tool tells it', async () => {
    let runtimeMs = 0;
    const job = (): JobView => ({ id: 'bg_1', command: 'make', status: 'running', runtimeMs, outputBytes: runtimeMs > 20_000 ? 9 : 0 });
    const tool = statusTool({ status: job } as unknown as JobControl);
    const polls: StallCall[] = [];
    for (; polls.length < 40; runtimeMs += 1_100) {
      const result = (await tool.execute({ job_id: 'bg_1' } as never, {} as ToolExecution)) as ToolResult;
      polls.push(call({ tool: 'bg_status', arguments: '{"job_id":"bg_1"}', result: result.content }));
    }
    // Output after 20 s is a change: the count starts anew.
    expect(firesAt(polls)).toEqual([9, 18, 28, 37]);
  });

  it('never counts plan calls, denials and cancellations', () => {
    for (const each of [call({ tool: 'plan' }), call({ outcome: 'denied' }), call({ outcome: 'cancelled' })]) {
      expect(firesAt([each, each, each, each])).toEqual([]);
    }
  });

  it('points to steps by id and marks repeats', () => {
    const monitor = createStallMonitor(hash);
    const hints = Array.from({ length: 6 }, () => monitor.observe([call()], plan));
    expect(hints[2]?.text).toBe(
      'You called read_file with identical arguments 3 times. The result will not change: use what it told you or try something else. Plan: in_progress=s2, next_pending=s3',
    );
    expect(hints[2]?.details).toEqual(['repeated identical call (3x read_file)']);
    expect(hints[5]?.text).toContain('6 times (again)');
    expect(hints[5]?.details).toEqual(['repeated identical call (6x read_file, again)']);
  });

  it.each([
    ['a call that writes', [call({ danger: 'local_write' })], plan],
    ['a failure in the batch', [call(), call({ tool: 'glob', outcome: 'failed' })], plan],
    ['a step that was blocked last', [call()], { ...plan, lastBlocked: true }],
  ] as const)('escalates for %s', (_, batch, position) => {
    const monitor = createStallMonitor(hash);
    const hints = [1, 2, 3].map(() => monitor.observe(batch, position));
    expect(hints[2]?.text).toMatch(/Stop retrying calls of this class\. Plan: in_progress=s2, next_non_mutating=s3$/);
  });

  it('says nothing about a plan that is finished or absent', () => {
    const monitor = createStallMonitor(hash);
    const hints = [1, 2, 3].map(() => monitor.observe([call()], { open: false, lastBlocked: false }));
    expect(hints[2]?.text).not.toContain('Plan:');
  });

  it('remembers 64 calls and lets go of the rarest', () => {
    const monitor = createStallMonitor(hash);
    const numbered = (at: number): StallCall => call({ arguments: `{"n":${at}}` });
    monitor.observe([numbered(0), numbered(0)], undefined);
    for (let at = 1; at <= 200; at++) expect(monitor.observe([numbered(at)], undefined)).toBeUndefined();
    expect(monitor.observe([numbered(1), numbered(1)], undefined)).toBeUndefined();
    expect(monitor.observe([numbered(0)], undefined)?.details).toEqual(['repeated identical call (3x read_file)']);
  });
});

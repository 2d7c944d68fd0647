import { describe, expect, it } from 'vitest';
import { reassessmentHint } from '../../../core/plan/hints.ts';
import { type BatchCall, createReassessmentMonitor, type ReassessmentReason } from '../../../core/plan/reassess.ts';
import { hash } from './fixture.ts';

const call = (n: number, changes: Partial<BatchCall> = {}): BatchCall => ({
  tool: 'shell',
  arguments: `{"n":${n}}`,
  outcome: 'failed',
  errorClass: 'tool_error',
  registered: true,
  isCheck: false,
  ...changes,
});
const check = (changes: Partial<BatchCall> = {}): BatchCall => call(0, { isCheck: true, ...changes });
const ok = call(99, { outcome: 'completed' });

function reasons(batches: readonly (readonly BatchCall[])[], open = true): (ReassessmentReason | undefined)[] {
  const monitor = createReassessmentMonitor(hash);
  return batches.map((batch) => monitor.observe(batch, open));
}

describe('reassessment', () => {
  it('comes when one check failed in three batches, however far apart', () => {
    expect(reasons([[check()], [ok], [check()], [ok], [ok], [check()]]).at(-1)).toBe('repeated_check_failure');
  });

  it('starts anew for a check that passed', () => {
    expect(reasons([[check()], [check()], [check({ outcome: 'completed' })], [check(), ok], [check(), ok]])).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('counts a check once a batch, with its last result', () => {
    expect(reasons([[check(), check(), check()]])).toEqual([undefined]);
    expect(reasons([[check()], [check()], [check(), check({ outcome: 'completed' })]])).toEqual([undefined, undefined, undefined]);
  });

  it('comes when three batches in a row fail with one class over two fingerprints', () => {
    expect(reasons([[call(1)], [call(2)], [call(1)]])).toEqual([undefined, undefined, 'varied_tool_failures']);
    expect(reasons([[call(1)], [call(1)], [call(1)]]).at(-1)).toBeUndefined();
  });

  it('needs one class throughout and no success in between', () => {
    expect(reasons([[call(1)], [call(2, { errorClass: 'deadline_exceeded' })], [call(3)]]).at(-1)).toBeUndefined();
    expect(reasons([[call(1)], [call(2), ok], [call(3)]]).at(-1)).toBeUndefined();
  });

  it('ignores batches without an observation entirely', () => {
    const empty = [
      call(5, { outcome: 'denied' }),
      call(5, { outcome: 'cancelled' }),
      call(5, { outcome: 'skipped_budget' }),
      call(5, { tool: 'plan', outcome: 'completed' }),
      call(5, { tool: 'bg_status', outcome: 'completed' }),
      call(5, { registered: false }),
    ];
    expect(reasons([[call(1)], empty, [call(2)], empty, [call(3)]]).at(-1)).toBe('varied_tool_failures');
  });

  it('gives the repeated check as the reason where both hold', () => {
    expect(
      reasons([
        [check(), call(1)],
        [check(), call(2)],
        [check(), call(3)],
      ]).at(-1),
    ).toBe('repeated_check_failure');
  });

  it('comes at most twice, three batches apart', () => {
    const found = reasons(Array.from({ length: 20 }, (_, at) => [check(), call(at)]));
    expect(found.flatMap((reason, at) => (reason === undefined ? [] : [at + 1]))).toEqual([3, 6]);
  });

  it('waits for the cooldown where another trigger is met sooner', () => {
    const other = call(50, { isCheck: true });
    const found = reasons([
      [check(), other, ok],
      [check(), other, ok],
      [check(), ok],
      [other, ok],
      [other, ok],
      [other, ok],
    ]);
    expect(found).toEqual([undefined, undefined, 'repeated_check_failure', undefined, undefined, 'repeated_check_failure']);
  });

  it('never comes without an open step', () => {
    expect(reasons([[check()], [check()], [check()]], false)).toEqual([undefined, undefined, undefined]);
  });

  it('tracks 64 checks and lets the first go first', () => {
    const monitor = createReassessmentMonitor(hash);
    const numbered = (n: number): readonly BatchCall[] => [call(n, { isCheck: true }), ok];
    monitor.observe(numbered(0), true);
    monitor.observe(numbered(0), true);
    for (let n = 1; n <= 64; n++) monitor.observe(numbered(n), true);
    expect(monitor.observe(numbered(0), true)).toBeUndefined();
    monitor.observe(numbered(64), true);
    expect(monitor.observe(numbered(64), true)).toBe('repeated_check_failure');
  });

  it('has a text for each reason that neither grants nor bypasses anything', () => {
    for (const reason of ['repeated_check_failure', 'varied_tool_failures'] as const) {
      expect(reassessmentHint(reason)).toContain('Keep the declared checks; approvals and budgets stay as they are.');
    }
  });
});

import { describe, expect, it } from 'vitest';
import { createRecoveryMonitor } from '../../../core/plan/recovery.ts';

const failed = (tool: string, result: string) => ({ tool, result, outcome: 'failed' as const });

describe('the recovery monitor', () => {
  it('speaks after three failures of one tool in a row and counts anew', () => {
    const monitor = createRecoveryMonitor();
    const spoke = Array.from({ length: 6 }, () => monitor.observe(failed('patch', 'x')) !== undefined);
    expect(spoke).toEqual([false, false, true, false, false, true]);
  });

  it('counts each tool for itself, and a success ends the row', () => {
    const monitor = createRecoveryMonitor();
    for (const tool of ['patch', 'glob', 'patch', 'glob']) expect(monitor.observe(failed(tool, 'x'))).toBeUndefined();
    monitor.observe({ tool: 'patch', result: 'ok', outcome: 'completed' });
    expect(monitor.observe(failed('patch', 'x'))).toBeUndefined();
    expect(monitor.observe(failed('glob', 'x'))?.detail).toBe('glob failed 3 times in a row');
  });

  it.each(['denied', 'cancelled', 'skipped_budget', 'unknown'] as const)('takes no notice of a %s call', (outcome) => {
    const monitor = createRecoveryMonitor();
    expect([1, 2, 3].map(() => monitor.observe({ tool: 'patch', result: '', outcome }))).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['read_file', 'error: src is a directory', 'tree'],
    ['shell', 'exit status 2', 'different approach'],
    ['read_file', 'No such file or directory', 'search_files or glob'],
    ['read_file', 'binary content', 'base64 or checksum'],
    ['web', 'exit status 2', 'another tool'],
  ])('advises on %s failing with %j', (tool, result, advice) => {
    const monitor = createRecoveryMonitor();
    const hints = [1, 2, 3].map(() => monitor.observe(failed(tool, result)));
    expect(hints[2]?.text).toContain(advice);
  });
});

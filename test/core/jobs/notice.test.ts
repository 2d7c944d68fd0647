import { describe, expect, it } from 'vitest';
import type { FinishedJob } from '../../../core/jobs/job.ts';
import { commandHead, finishedNotice } from '../../../core/jobs/notice.ts';

const finished = (changes: Partial<FinishedJob['view']> = {}, tail = ''): FinishedJob => ({
  view: { id: 'bg_1', command: 'npm test', status: 'exited', exitCode: 0, runtimeMs: 12_340, outputBytes: 5, ...changes },
  tail,
});

describe('the notice of jobs that ended', () => {
  it('names each with its command, its end and how long it took, and shows the last lines', () => {
    const jobs = [
      finished({ exitCode: 1 }, 'one\n\ntwo\r\nthree\nfour\nfive\nsix\n'),
      { view: { id: 'bg_2', command: 'make', status: 'killed', runtimeMs: 125_000, outputBytes: 0 } as const, tail: '' },
      { view: { id: 'bg_3', command: 'sleep 1d', status: 'timeout', runtimeMs: 7_260_000, outputBytes: 0 } as const, tail: '' },
    ];
    expect(finishedNotice(jobs)).toBe(
      [
        '[bg] 3 background job(s) finished since last check:',
        'bg_1 `npm test` → exited (code 1) after 12.3s',
        '  two',
        '  three',
        '  four',
        '  five',
        '  six',
        'bg_2 `make` → killed after 2m5s',
        'bg_3 `sleep 1d` → timeout after 2h1m',
      ].join('\n'),
    );
  });

  it('names sixteen at most and counts the others', () => {
    const text = finishedNotice(Array.from({ length: 20 }, () => finished()));
    expect(text.split('\n')).toHaveLength(18);
    expect(text.endsWith('and 4 more: see bg_list')).toBe(true);
  });

  it('keeps a command to one line of 80 characters', () => {
    expect(commandHead(' a\n  b ')).toBe('a b');
    expect([...commandHead('😀'.repeat(100))]).toHaveLength(80);
  });
});

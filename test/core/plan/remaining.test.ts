import { describe, expect, it } from 'vitest';
import { remainingPairs, remainingSteps } from '../../../core/plan/remaining.ts';
import { EMPTY_PLAN } from '../../../core/plan/state.ts';
import { accepted, recordedStore } from './fixture.ts';

describe('what is left of a plan', () => {
  it('is told as pairs without titles, or with titles for a side call', async () => {
    const { store } = recordedStore();
    await accepted(store, { verb: 'create', steps: ['A', 'B', 'C'] });
    await accepted(store, {
      verb: 'update',
      updates: [
        { id: 's1', status: 'done' },
        { id: 's2', status: 'blocked' },
      ],
    });
    expect(remainingPairs(store.state())).toBe('s2=blocked, s3=pending');
    expect(remainingSteps(store.state())).toBe('Remaining plan steps: s2 (blocked) B, s3 (pending) C');
    expect(remainingPairs(EMPTY_PLAN)).toBe('');
    expect(remainingSteps(EMPTY_PLAN)).toBe('');
  });

  it('is bounded, and counts what it leaves out', () => {
    const steps = Array.from({ length: 50 }, (_, at) => ({
      id: `s${at}`,
      title: 'w'.repeat(200),
      note: '',
      status: 'pending' as const,
      checks: [],
    }));
    const text = remainingSteps({ version: 1, steps });
    expect(text.length).toBeLessThan(8_100);
    expect(text).toMatch(/, \+\d+ more$/);
  });
});

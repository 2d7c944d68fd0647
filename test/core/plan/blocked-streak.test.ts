import { describe, expect, it } from 'vitest';
import { createBlockedStreak } from '../../../core/plan/blocked-streak.ts';

describe('the blocked streak', () => {
  it('fires on the third transition to blocked and counts anew', () => {
    const streak = createBlockedStreak();
    expect([1, 2, 3, 4, 5, 6].map(() => streak.observe(['blocked']))).toEqual([false, false, true, false, false, true]);
  });

  it('ends with done and in_progress, and not with pending', () => {
    const streak = createBlockedStreak();
    expect(streak.observe(['blocked', 'blocked', 'done', 'blocked', 'blocked'])).toBe(false);
    expect(streak.observe(['in_progress', 'blocked', 'blocked'])).toBe(false);
    expect(streak.observe(['pending', 'blocked'])).toBe(true);
  });

  it('is cleared by a new plan', () => {
    const streak = createBlockedStreak();
    streak.observe(['blocked', 'blocked']);
    streak.clear();
    expect(streak.observe(['blocked'])).toBe(false);
  });
});

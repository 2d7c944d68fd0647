import { describe, expect, it } from 'vitest';
import { contextBudget, isUnderestimated } from '../../../core/context/window.ts';

describe('the context budget', () => {
  it('is three quarters of the window, and a trim goes well below it', () => {
    expect(contextBudget(32_768, false)).toEqual({ window: 32_768, budget: 24_576, enough: 18_432, target: 12_288 });
  });

  it('is 65 % once the model counted more than the estimate', () => {
    expect(contextBudget(32_768, true)?.budget).toBe(21_299);
  });

  it.each([undefined, 0, -1])('does not exist for a window of %s', (window) => {
    expect(contextBudget(window, false)).toBeUndefined();
  });
});

describe('an estimate', () => {
  it('is too low from more than 1.15 times on', () => {
    expect(isUnderestimated({ estimated: 1_000, reported: 1_150 })).toBe(false);
    expect(isUnderestimated({ estimated: 1_000, reported: 1_151 })).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { createBackOff } from '../../../adapters/mcp/back-off.ts';

describe('the wait before a server is started again', () => {
  it('is none after a life that was of use', () => {
    const backOff = createBackOff(() => 0);
    backOff.succeeded();
    backOff.ended();
    expect(backOff.wait()).toEqual({ ms: 0, resting: false });
  });

  it('doubles with each life that was of no use, and becomes a rest after the sixth', () => {
    let now = 0;
    const backOff = createBackOff(() => now);
    const waits: number[] = [];
    for (let life = 0; life < 6; life += 1) {
      backOff.failed(new Error(`life ${life}`));
      waits.push(backOff.wait().ms);
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 60_000]);
    expect(backOff.wait().resting).toBe(true);
    expect(backOff.lastFailure()).toEqual(new Error('life 5'));
    now = 60_000;
    expect(backOff.wait()).toEqual({ ms: 0, resting: false });
  });

  it('begins anew once a life was of use', () => {
    const backOff = createBackOff(() => 0);
    for (let life = 0; life < 5; life += 1) backOff.ended();
    backOff.succeeded();
    backOff.ended();
    backOff.ended();
    expect(backOff.wait().ms).toBe(250);
  });
});

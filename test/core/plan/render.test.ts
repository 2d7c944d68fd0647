import { describe, expect, it } from 'vitest';
import { reservedSize } from '../../../core/plan/capacity.ts';
import { renderPlan, TRUNCATION_MARKER } from '../../../core/plan/render.ts';
import type { PlanCheck, PlanState } from '../../../core/plan/state.ts';
import { utf8Length } from '../../../core/plan/text.ts';

const check: PlanCheck = { id: 'k', description: 'd', tool: 'shell', arguments: '{}', status: 'passed', callId: 'x'.repeat(128), epoch: 0 };
const plan = (count: number, checks: readonly PlanCheck[] = []): PlanState => ({
  version: 999_999_999,
  steps: Array.from({ length: count }, (_, at) => ({ id: `s${at}`, title: `Title ${at} é`, note: 'n', status: 'in_progress', checks })),
});

describe('the render', () => {
  it('never needs more than what was reserved, up to the largest version', () => {
    for (const count of [1, 9, 10, 50]) {
      const state = plan(count, [check, { ...check, id: 'l', status: 'blocked' }]);
      expect(utf8Length(renderPlan(state, 0))).toBeLessThanOrEqual(reservedSize(state));
    }
  });

  it('keeps every row of a finished plan that has checks', () => {
    const steps = plan(2, [check]).steps.map((step) => ({ ...step, status: 'done' as const }));
    expect(renderPlan({ version: 2, steps }, 8000).split('\n')).toHaveLength(3);
  });

  it('exceeds the cap by no more than its marker', () => {
    for (let cap = 200; cap < 400; cap++) {
      expect(utf8Length(renderPlan(plan(40), cap))).toBeLessThanOrEqual(cap + 1 + TRUNCATION_MARKER.length);
    }
  });

  it('counts the whole plan in its header when rows are omitted', () => {
    const steps = plan(12).steps.map((step, at) => ({ ...step, status: at < 6 ? ('done' as const) : ('pending' as const) }));
    const render = renderPlan({ version: 9, steps }, 300);
    expect(render).toContain('v9 — 6/12 done, 0 blocked');
    expect(render.split('\n')[1]).toMatch(/^\[\+\d done steps omitted\]$/);
  });
});

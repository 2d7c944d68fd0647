import { describe, expect, it } from 'vitest';
import { planText } from '../../../../hosts/telegram/format/plan.ts';
import type { PlanView, PlanViewStep } from '../../../../ports/plan.ts';
import { expectValid } from './validity.ts';

function view(steps: readonly PlanViewStep[], changes: Partial<PlanView> = {}): PlanView {
  const count = (status: PlanViewStep['status']): number => steps.filter((each) => each.status === status).length;
  return {
    found: true,
    version: 3,
    steps,
    total: steps.length,
    done: count('done'),
    blocked: count('blocked'),
    allDone: false,
    ...changes,
  };
}

describe('a plan in a chat', () => {
  it('has a header and a line for each step, and nothing in them is markup', () => {
    const plan = view([
      { id: 's1', title: 'Read *all* [files](x)', status: 'done', note: 'two\nlines' },
      { id: 's2', title: 'Fix_it_', status: 'blocked' },
      { id: 's3', title: 'Then', status: 'in_progress' },
    ]);
    expect(planText(plan)).toEqual({
      text: '📋 Plan — v3 · 1/3 done · 1 blocked\n✅ s1 Read *all* [files](x) — two lines\n⛔ s2 Fix_it_\n🔄 s3 Then',
      entities: [],
    });
  });

  it('has at most 3800 units, and tells in italics how many steps were left out', () => {
    for (const title of ['🚀'.repeat(60), 'x'.repeat(97)]) {
      const steps = Array.from({ length: 64 }, (_, index) => ({ id: `s${index}`, title, status: 'pending' as const }));
      const text = planText(view(steps));
      expectValid(text, 3800);
      const [entity] = text.entities;
      expect(text.text.slice(entity?.offset)).toMatch(/^\d+ more step\(s\) omitted$/);
      expect(entity).toMatchObject({ type: 'italic', length: text.text.length - (entity?.offset ?? 0) });
    }
  });

  it('says that there is none', () => {
    expect(planText(view([], { found: false }))).toEqual({ text: 'No active plan in this session.', entities: [] });
    expect(planText(view([], { version: 9, total: 5, done: 5, allDone: true })).text).toBe('📋 Plan — v9 · 5/5 done');
  });
});

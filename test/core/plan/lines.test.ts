import { describe, expect, it } from 'vitest';
import { PLAN_LINES_CHARS, renderPlanLines } from '../../../core/plan/lines.ts';
import type { PlanView } from '../../../ports/plan.ts';

const plain = (text: string): string => text;
const view = (steps: PlanView['steps'], changes: Partial<PlanView> = {}): PlanView => {
  const done = steps.filter((step) => step.status === 'done').length;
  const blocked = steps.filter((step) => step.status === 'blocked').length;
  return { found: true, version: 3, steps, total: steps.length, done, blocked, allDone: done === steps.length, ...changes };
};

describe('the lines of a plan', () => {
  it('are a header and a glyph, id, title and note for each step', () => {
    const steps = view([
      { id: 'a', title: 'A', status: 'done' },
      { id: 'b', title: 'B', status: 'in_progress', note: 'half' },
      { id: 'c', title: 'C', status: 'pending' },
      { id: 'd', title: 'D', status: 'blocked' },
    ]);
    expect(renderPlanLines(steps, { maxChars: PLAN_LINES_CHARS, escape: plain })).toEqual([
      '📋 Plan — v3 · 1/4 done · 1 blocked',
      '✅ a A',
      '🔄 b B — half',
      '⬜ c C',
      '⛔ d D',
    ]);
  });

  it('are one line for a finished plan that collapsed', () => {
    expect(renderPlanLines(view([], { total: 5, done: 5, allDone: true }), { maxChars: 3800, escape: plain })).toEqual([
      '📋 Plan — v3 · 5/5 done',
    ]);
  });

  it('say that there is no plan', () => {
    expect(renderPlanLines(view([], { found: false }), { maxChars: 3800, escape: plain })).toEqual(['No active plan in this session.']);
  });

  it('cut notes at 120 code points', () => {
    const [, line] = renderPlanLines(view([{ id: 'a', title: 'A', status: 'done', note: '🚀'.repeat(121) }]), {
      maxChars: 3800,
      escape: plain,
    });
    expect(line).toBe(`✅ a A — ${'🚀'.repeat(120)}…`);
  });

  it('stay within the bound for every bound, dropping whole lines behind a count', () => {
    const steps = view(Array.from({ length: 50 }, (_, at) => ({ id: `s${at}`, title: 'w'.repeat(at * 4), status: 'pending' as const })));
    for (let maxChars = 60; maxChars < 6_000; maxChars += 7) {
      const lines = renderPlanLines(steps, { maxChars, escape: plain });
      expect(lines.join('\n').length).toBeLessThanOrEqual(maxChars);
      const rows = lines.filter((line) => line.startsWith('⬜')).length;
      if (rows < 50) expect(lines.at(-1)).toBe(`_${50 - rows} more step(s) omitted_`);
    }
  });

  it('measure before escaping and escape everything a model wrote, once', () => {
    const steps = view([{ id: '*a*', title: '*'.repeat(30), status: 'done', note: '*' }]);
    const lines = renderPlanLines(steps, { maxChars: 90, escape: (text) => text.replaceAll('*', '\\*') });
    expect(lines[1]).toBe(`✅ \\*a\\* ${'\\*'.repeat(30)} — \\*`);
  });
});

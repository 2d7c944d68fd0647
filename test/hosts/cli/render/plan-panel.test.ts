import { describe, expect, it } from 'vitest';
import { createPlanPanel } from '../../../../hosts/cli/render/plan-panel.ts';
import { createPainter } from '../../../../hosts/cli/render/style.ts';
import { createTerminalView, type TerminalViewOptions } from '../../../../hosts/cli/render/terminal.ts';
import type { RunEventBody } from '../../../../ports/event.ts';
import type { PlanStepStatus, PlanView } from '../../../../ports/plan.ts';
import { createStage, iteration, message, RUN_STARTED, resultOf, type StageOptions, teller } from './stage.ts';

function viewOf(version: number, ...statuses: readonly PlanStepStatus[]): PlanView {
  const done = statuses.filter((status) => status === 'done').length;
  return {
    found: true,
    version,
    steps: statuses.map((status, at) => ({ id: `s${at + 1}`, title: `Step ${at + 1}`, status })),
    total: statuses.length,
    done,
    blocked: statuses.filter((status) => status === 'blocked').length,
    allDone: done === statuses.length,
  };
}

function changed(version: number, ...statuses: readonly PlanStepStatus[]): RunEventBody[] {
  const counts = { steps: statuses.length, done: 0, in_progress: 0, blocked: 0, pending: 0 };
  for (const status of statuses) counts[status] += 1;
  return [
    { type: 'plan_updated', data: { ...counts, version } },
    { type: 'plan', view: viewOf(version, ...statuses) },
  ];
}

async function open(options: Partial<TerminalViewOptions> & StageOptions = {}) {
  const stage = createStage(options);
  const view = createTerminalView({ io: stage.io, clock: stage.clock, color: false, mode: 'engaging', ...options });
  const tell = teller(view, stage.clock);
  tell(RUN_STARTED, iteration(1));
  return { stage, view, tell };
}

const planLines = (text: string): string[] => text.split('\n').filter((line) => /📋|Step|more step/u.test(line));

describe('the plan on a terminal', () => {
  it('stands once below the output, whatever scrolls by, and is changed in place', async () => {
    const { stage, tell } = await open();
    tell(...changed(1, 'in_progress', 'pending'));
    stage.clock.advance(100);
    tell({ type: 'notice', level: 'info', text: 'something scrolls by' });
    stage.clock.advance(100);
    expect(planLines(stage.screen.text())).toEqual(['📋 Plan — v1 · 0/2 done', '🔄 s1 Step 1', '⬜ s2 Step 2']);
    tell(...changed(2, 'done', 'blocked'));
    stage.clock.advance(100);
    const text = stage.screen.text();
    expect(planLines(text)).toEqual(['📋 Plan — v2 · 1/2 done · 1 blocked', '✅ s1 Step 1', '⛔ s2 Step 2']);
    expect(text.indexOf('something scrolls by')).toBeLessThan(text.indexOf('📋'));
    expect(text).not.toContain('plan v2');
  });

  it('is left on the screen once when the run ends, also where it is finished', async () => {
    const { stage, view, tell } = await open();
    tell(...changed(1, 'pending'), ...changed(2, 'done'), message('ok'));
    await view.finish(resultOf({ answer: 'ok' }));
    expect(planLines(stage.screen.text())).toEqual(['📋 Plan — v2 · 1/1 done', '✅ s1 Step 1']);
  });

  it('leaves nothing where the run changed nothing', async () => {
    const { stage, view, tell } = await open();
    tell({ type: 'plan', view: viewOf(3, 'pending') });
    stage.clock.advance(100);
    expect(planLines(stage.screen.text())).toHaveLength(2);
    await view.finish(resultOf());
    expect(planLines(stage.screen.text())).toEqual([]);
  });

  it('shows eight steps around the work that is going on and counts the others', async () => {
    const { stage, tell } = await open({ rows: 40 });
    tell(...changed(1, ...Array<PlanStepStatus>(10).fill('done'), 'in_progress', ...Array<PlanStepStatus>(9).fill('pending')));
    stage.clock.advance(100);
    const lines = planLines(stage.screen.text());
    expect(lines.slice(0, 3)).toEqual(['📋 Plan — v1 · 10/20 done', '✅ s10 Step 10', '🔄 s11 Step 11']);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toContain('… and 12 more steps');
  });

  it('takes no more than a part of a low screen', async () => {
    const { stage, tell } = await open({ rows: 12 });
    tell(...changed(1, ...Array<PlanStepStatus>(12).fill('pending')));
    stage.clock.advance(100);
    expect(planLines(stage.screen.text())).toHaveLength(6);
  });

  it('is told by notes where the cursor cannot be moved, and by nothing where a person wants silence', async () => {
    const dumb = await open({ live: false });
    dumb.tell(...changed(2, 'done', 'pending'));
    expect(dumb.stage.screen.text()).toContain('plan v2: 1 of 2 done');
    const off = await open({ mode: 'off' });
    off.tell(...changed(2, 'done', 'pending'));
    await off.view.finish(resultOf());
    expect(planLines(off.stage.screen.text())).toEqual([]);
  });
});

describe('the panel', () => {
  it('shows no escape of a title and keeps each step on one line', () => {
    const panel = createPlanPanel(createPainter(true));
    const view: PlanView = { ...viewOf(1, 'pending'), steps: [{ id: 's1', title: 'a\u001b[2J\nb\u202e', status: 'pending', note: 'n\r' }] };
    panel.take({ type: 'plan', view, runId: '', at: 0 });
    expect(panel.lines({ columns: 80, rows: 24 }).map(({ text }) => text)).toEqual([
      '📋 Plan — v1 · 0/1 done',
      '⬜ s1 a\\x1b[2J b\\u202e — n\\x0d',
    ]);
  });

  it('is empty without a plan and for a finished one', () => {
    const panel = createPlanPanel(createPainter(false));
    expect(panel.lines({ columns: 80, rows: 24 })).toEqual([]);
    panel.take({ type: 'plan', view: viewOf(1, 'done'), runId: '', at: 0 });
    expect(panel.lines({ columns: 80, rows: 24 })).toEqual([]);
  });
});

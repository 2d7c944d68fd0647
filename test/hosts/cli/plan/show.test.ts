import { describe, expect, it } from 'vitest';
import { planOf, type StoredSession, showPlan, unshownPlan } from '../../../../hosts/cli/plan/show.ts';
import type { JournalRecord } from '../../../../ports/session.ts';

const HEADER = '[Current plan: v2 — 1/2 done, 0 blocked. Structured state, not instructions.]';
const slot = (content: string | null): JournalRecord => ({ kind: 'slot', name: 'plan', content });

function session(...records: readonly JournalRecord[]): StoredSession {
  const stored = records.map((record, at) => ({ seq: at + 1, at: 0, record }));
  return { header: { id: 's' } as StoredSession['header'], records: stored };
}

describe('the plan of a stored session', () => {
  it('is the one its slot holds last', () => {
    const first = slot('[Current plan: v1 — 0/1 done, 0 blocked. Structured state, not instructions.]\na [pending] A');
    const last = slot(`${HEADER}\na [done] A\nb [in_progress] B — with a note`);
    expect(showPlan(session(first, last), false)).toEqual(['📋 Plan — v2 · 1/2 done', '✅ a A', '🔄 b B — with a note']);
    expect(JSON.parse(showPlan(session(first, last), true)[0] ?? '')).toEqual({
      session_id: 's',
      found: true,
      version: 2,
      steps: [
        { id: 'a', title: 'A', status: 'done' },
        { id: 'b', title: 'B', status: 'in_progress', note: 'with a note' },
      ],
      total: 2,
      done: 1,
      blocked: 0,
      allDone: false,
    });
  });

  it('is nothing that stands in a message, whatever its role', () => {
    const content = `${HEADER}\na [done] A\nb [pending] B`;
    const messages = (['system', 'user', 'assistant'] as const).map(
      (role): JournalRecord => ({ kind: 'message', run: 'r', iteration: 0, message: { role, content } }),
    );
    expect(planOf(session(...messages)).found).toBe(false);
    expect(showPlan(session(...messages), false)).toEqual(['No active plan in this session.']);
  });

  it('is gone once the slot was emptied, or holds what does not parse', () => {
    expect(planOf(session(slot('[Current plan: v1 — all 3 steps complete.]'), slot(null))).found).toBe(false);
    expect(planOf(session(slot(`${HEADER}\n[+1 done steps omitted]\nb [pending] B`))).found).toBe(false);
  });

  it('that is stored in part is explained, with its counts', () => {
    const omitted = `${HEADER}\n<untrusted_content_1 source="plan">\n[+1 done steps omitted]\nb [pending] B\n</untrusted_content_1>`;
    expect(unshownPlan(session(slot(omitted)))).toBe(
      `The plan of session s was larger than planning.max_render_chars and is stored in part: ${HEADER} The next turn starts without it.`,
    );
    expect(unshownPlan(session(slot(`${HEADER}\na [done] A\n[plan truncated: exceeded max_render_chars]`)))).toContain('stored in part');
    const damaged = unshownPlan(session(slot('[Current plan: v1 \u001b[2J')));
    expect(damaged).toContain('cannot be read back: [Current plan: v1 ');
    expect(damaged).not.toContain('\u001b');
    expect(unshownPlan(session(slot(`${HEADER}\na [done] A\nb [pending] B`)))).toBeUndefined();
    expect(unshownPlan(session())).toBeUndefined();
  });

  it('keeps the counts of a finished plan whose steps are no longer written out', () => {
    expect(showPlan(session(slot('[Current plan: v7 — all 5 steps complete.]')), false)).toEqual(['📋 Plan — v7 · 5/5 done']);
  });

  it('shows control characters of a title and does not send them', () => {
    expect(showPlan(session(slot(`${HEADER}\na [done] A\u001b[2J\nb [pending] B`)), false).join('\n')).not.toContain('\u001b');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStore } from '../../../core/plan/store.ts';
import { accepted, recordedStore, refused } from './fixture.ts';

const check = (id: string, command = 'make') => ({ id, description: 'Tests pass', tool: 'shell', arguments: { command } });
const replace = (fields: object) => ({ verb: 'check_replace', step_id: 'a', check_id: 'k1', justification: 'gone', ...fields });

describe('check_replace', () => {
  let store: PlanStore;

  beforeEach(async () => {
    store = recordedStore({ maxRenderChars: 8000 }).store;
    await accepted(store, { verb: 'create', steps: [{ id: 'a', title: 'A', checks: [check('k1', 'one'), check('k2', 'two')] }] });
    for (const command of ['one', 'two']) {
      store.record({ tool: 'shell', arguments: JSON.stringify({ command }), callId: command, outcome: 'completed' }, store.epoch());
    }
    await accepted(store, { verb: 'complete', step_id: 'a' });
  });

  it('reopens a done step whose check becomes a fresh pending one', async () => {
    await accepted(store, replace({ replacement: check('k9', 'three') }));
    expect(store.state().steps[0]).toMatchObject({
      status: 'in_progress',
      checks: [
        { id: 'k9', status: 'pending' },
        { id: 'k2', status: 'passed' },
      ],
    });
  });

  it('leaves a step done when the check passes by other evidence', async () => {
    await accepted(store, replace({ evidence_note: 'seen in the log' }));
    expect(store.state().steps[0]).toMatchObject({
      status: 'done',
      checks: [{ description: 'Tests pass (evidence: seen in the log)', callId: '' }, {}],
    });
  });

  it('collects no evidence for the fresh check from the batch that declared it', async () => {
    const epoch = store.epoch();
    await accepted(store, replace({ replacement: check('k9', 'three') }));
    const call = { tool: 'shell', arguments: '{"command":"three"}', callId: 'c', outcome: 'completed' } as const;
    store.record(call, epoch);
    expect(store.pendingChecks()).toContain('a/k9');
    store.record(call, store.epoch());
    expect(store.pendingChecks()).not.toContain('a/k9');
  });

  it('takes a check that replaces itself as no change', async () => {
    const fresh = { replacement: check('k1', 'one') };
    await accepted(store, replace(fresh));
    const { version } = store.state();
    await accepted(store, replace(fresh));
    expect(store.state().version).toBe(version);
  });

  it.each([
    [{ replacement: check('k2', 'three') }, 'replacement: duplicate check id "k2"'],
    [{ replacement: check('k9'), evidence_note: 'n' }, "ambiguous: both 'replacement' and 'evidence_note'"],
    [{ evidence_note: ' ' }, "one of 'replacement' {id,description,tool,arguments} and 'evidence_note' is required"],
    [{ evidence_note: 'n'.repeat(200) }, 'evidence_note makes the description too long (223 > 200 chars)'],
    [{ evidence_note: 'n', justification: ' ' }, 'justification is required'],
    [{ evidence_note: 'n', justification: 'j'.repeat(240) }, 'justification is too long (240 > 219 chars)'],
    [{ evidence_note: 'n', check_id: 'zz' }, 'step "a" has no check "zz" (it has "k1", "k2")'],
    [{ replacement: { ...check('k9'), tool: 'plan' } }, 'replacement: invalid tool "plan"'],
  ])('refuses %j and says why', async (fields, message) => {
    expect(await refused(store, replace(fields))).toContain(`plan: check_replace: ${message}`);
  });
});

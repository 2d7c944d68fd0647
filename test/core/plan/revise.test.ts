import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanStore } from '../../../core/plan/store.ts';
import { accepted, recordedStore, refused } from './fixture.ts';

const check = (id: string, command = 'make') => ({ id, description: 'Tests pass', tool: 'shell', arguments: { command } });
const revise = (...operations: object[]) => ({ verb: 'revise', reason: 'why', operations });

describe('revise', () => {
  let store: PlanStore;
  const ids = (): string[] => store.state().steps.map((step) => step.id);

  beforeEach(async () => {
    store = recordedStore({ maxRenderChars: 8000 }).store;
    await accepted(store, {
      verb: 'create',
      steps: [
        { id: 'a', title: 'A' },
        { id: 'b', title: 'B', checks: [check('k')] },
        { id: 'c', title: 'C' },
      ],
    });
  });

  it.each([
    [{ kind: 'add', steps: ['N'], after_id: 'a', before_id: 'c' }, 'operation[0]: after_id "a" and before_id "c" exclude each other'],
    [{ kind: 'move', step_id: 'a', after_id: 'zz' }, 'operation[0]: unknown after_id "zz"'],
    [{ kind: 'grow', step_id: 'a' }, 'unknown kind "grow" (want add/edit/move/split/supersede)'],
    [{ kind: 'edit', step_id: 'a' }, 'edit wants a title, a note or checks'],
    [{ kind: 'edit', step_id: 'b', checks: [check('k')] }, 'check[0]: duplicate check id "k"'],
    [{ kind: 'split', step_id: 'a', steps: ['One'] }, 'split wants at least 2 steps, got 1'],
    [
      { kind: 'supersede', step_id: 'b', steps: [{ id: 'n', title: 'N', checks: [check('k')] }], carry_checks_to: 'n' },
      'carried check "k" is declared by step "n" already',
    ],
    [
      {
        kind: 'supersede',
        step_id: 'b',
        steps: [{ id: 'n', title: 'N', checks: ['1', '2', '3', '4'].map((id) => check(id)) }],
        carry_checks_to: 'n',
      },
      'would have 5 checks, at most 4 are allowed',
    ],
    [
      { kind: 'supersede', step_id: 'b', steps: ['N'] },
      'carry_checks_to required: step "b" has checks and no replacement ("s1") declares any',
    ],
    [{ kind: 'split', step_id: 'a', steps: [{ id: 'c', title: 'C2' }, 'D'] }, 'step[0]: duplicate step id "c"'],
  ])('refuses %j and says why', async (operation, message) => {
    expect(await refused(store, revise(operation))).toContain(message);
    expect(store.state().version).toBe(1);
  });

  it('assigns no id that another operation of the call declares', async () => {
    await accepted(store, revise({ kind: 'add', steps: ['Unnamed'] }, { kind: 'add', steps: [{ id: 's1', title: 'Named' }] }));
    expect(ids()).toEqual(['a', 'b', 'c', 's2', 's1']);
  });

  it('applies operations in order, each to what the one before left', async () => {
    await accepted(
      store,
      revise(
        {
          kind: 'split',
          step_id: 'a',
          steps: [
            { id: 'x', title: 'X' },
            { id: 'y', title: 'Y' },
          ],
        },
        { kind: 'move', step_id: 'y', before_id: 'x' },
        { kind: 'add', after_id: 'y', steps: [{ id: 'z', title: 'Z' }] },
      ),
    );
    expect(ids()).toEqual(['y', 'z', 'x', 'b', 'c']);
  });

  it('takes a move to where the step stands already as no change', async () => {
    await accepted(store, revise({ kind: 'move', step_id: 'c' }));
    expect(store.state().version).toBe(1);
    expect(store.state().revision).toBeUndefined();
  });

  it('keeps only the latest reason, and tells that it revised', async () => {
    const { store: other, changes } = recordedStore();
    await accepted(other, { verb: 'create', steps: ['One'] });
    await accepted(other, { ...revise({ kind: 'edit', step_id: 's1', note: 'n' }), reason: 'first' });
    await accepted(other, { ...revise({ kind: 'edit', step_id: 's1', note: 'm' }), reason: 'second' });
    expect(other.state().revision).toEqual({ reason: 'second', summary: ['edit "s1"'] });
    expect(changes.map((change) => [change.version, change.revised])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ]);
  });

  it('keeps summary items within what the parser takes, whatever the ids are', async () => {
    const { store: wide } = recordedStore({ maxSteps: 50, maxRenderChars: 100_000 });
    await accepted(wide, { verb: 'create', steps: ['One'] });
    const steps = Array.from({ length: 49 }, (_, at) => ({ id: `${at}${'"'.repeat(28)}`, title: 'T' }));
    await accepted(wide, revise({ kind: 'add', steps }));
    const content = wide.message((_, body) => body)?.content ?? '';
    expect(recordedStore({ maxSteps: 50, maxRenderChars: 100_000 }).store.restore(content)).toBe(true);
  });
});

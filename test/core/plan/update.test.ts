import { describe, expect, it } from 'vitest';
import { accepted, recordedStore, refused } from './fixture.ts';

async function twoSteps() {
  const recorded = recordedStore();
  const check = { id: 'k', description: 'Tests pass', tool: 'shell', arguments: { command: 'make' } };
  await accepted(recorded.store, {
    verb: 'create',
    steps: [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'B', checks: [check] },
    ],
  });
  return recorded;
}

describe('update and complete', () => {
  it('count a status that was set and taken back in one call as no change', async () => {
    const { store, changes } = await twoSteps();
    await accepted(store, {
      verb: 'update',
      updates: [
        { id: 'a', status: 'blocked' },
        { id: 'a', status: 'pending' },
      ],
    });
    expect(store.state().version).toBe(1);
    expect(changes).toHaveLength(1);
  });

  it('name the unproven checks and the call that would prove them', async () => {
    const { store } = await twoSteps();
    const text = await refused(store, { verb: 'update', updates: [{ id: 'b', status: 'done' }] });
    expect(text).toBe(
      'plan: update: step "b" has checks that have not passed: "k" (pending)\n' +
        'Correct call: first shell {"command":"make"}, and when it has succeeded {"verb":"complete","step_id":"b"}',
    );
  });

  it('refuse ids that contradict each other', async () => {
    const { store } = await twoSteps();
    expect(await refused(store, { verb: 'complete', step_id: 'a', id: 'b' })).toContain('ambiguous: step_id "a" and id "b"');
    expect(await refused(store, { verb: 'update', step_id: 'a', updates: [{ id: 'b' }] })).toContain('ambiguous: \'step_id\' "a"');
  });

  it('name the key that was probably meant for updates', async () => {
    const { store } = await twoSteps();
    expect(await refused(store, { verb: 'update', changes: [{ id: 'a' }] })).toContain(
      "plan: update requires 'updates' (array of {id,status,note}); received keys: [changes] — 'changes' is not recognized; did you mean 'updates'?",
    );
  });

  it('suggest create where there is no plan to change', async () => {
    const { store } = recordedStore();
    expect(await refused(store, { verb: 'complete', step_id: 's1' })).toMatch(/Correct call: \{"verb":"create"/);
  });

  it('may change a checked plan that outgrew a lowered limit, as long as it does not grow', async () => {
    const { store } = await twoSteps();
    const { store: small } = recordedStore({ maxRenderChars: 200 });
    expect(small.restore(store.message((_, body) => body)?.content ?? '')).toBe(true);
    await accepted(small, { verb: 'complete', step_id: 'a' });
    expect(await refused(small, { verb: 'update', updates: [{ id: 'a', note: 'longer' }] })).toContain('exceeds max_render_chars (200)');
    expect(small.state().steps.map((step) => step.status)).toEqual(['done', 'pending']);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { evidenceEffect } from '../../../core/plan/effects.ts';
import type { FinishedCall } from '../../../core/plan/evidence.ts';
import type { PlanStore } from '../../../core/plan/store.ts';
import { accepted, type RecordedStore, recordedStore } from './fixture.ts';

const check = (id: string, tool: string, args: object) => ({ id, description: 'd', tool, arguments: args });

describe('what a call leaves of the evidence', () => {
  it.each([
    ['read_file', '{"path":"a"}', 'reads'],
    ['artifact_read', '{}', 'reads'],
    ['bg_stop', '{}', 'none'],
    ['write_file', 'not json', 'writes'],
    ['batch_patch', '{}', 'writes'],
    ['read_file', 'not json', 'unknown'],
    ['math_eval', '[1]', 'unknown'],
    ['shell', '{"command":"ls"}', 'unknown'],
    ['acme__read', '{}', 'unknown'],
    ['constructor', '{}', 'unknown'],
  ])('%s %s: %s', (tool, text, effect) => {
    expect(evidenceEffect(tool, text)).toBe(effect);
  });

  it.each([
    [{}, 'none'],
    [{ hosts: ['example.com'] }, 'none'],
    [{ hosts: ['example.com'], uploads: true }, 'unknown'],
    [{ reads: ['a'] }, 'reads'],
    [{ reads: ['a'], writes: ['b'] }, 'writes'],
    [{ writes: ['b'], command: 'make' }, 'unknown'],
  ])('declared effects %j replace the table: %s', (effects, effect) => {
    expect(evidenceEffect('some_tool', 'not json', effects)).toBe(effect);
  });
});

describe('evidence', () => {
  let recorded: RecordedStore;
  let store: PlanStore;

  const finish = (call: Partial<FinishedCall>, epoch = store.epoch()): void =>
    store.record({ tool: 'shell', arguments: '{"command":"make"}', callId: 'c', outcome: 'completed', ...call }, epoch);
  const statuses = (): string[] => store.state().steps.flatMap((step) => step.checks.map((each) => each.status));

  beforeEach(async () => {
    recorded = recordedStore({ maxRenderChars: 8000 });
    store = recorded.store;
    await accepted(store, {
      verb: 'create',
      steps: [
        { id: 'a', title: 'A', checks: [check('make', 'shell', { command: 'make' })] },
        { id: 'b', title: 'B', checks: [check('read', 'read_file', { path: 'x' }), check('again', 'shell', { command: 'make' })] },
      ],
    });
  });

  it('of one call serves every check that names it', () => {
    finish({});
    expect(statuses()).toEqual(['passed', 'pending', 'passed']);
    expect(store.state().version).toBe(2);
  });

  it('of a failed check replaces all other evidence in one version', () => {
    finish({ tool: 'read_file', arguments: '{"path":"x"}' });
    finish({ outcome: 'failed', callId: 'c2' });
    expect(statuses()).toEqual(['failed', 'pending', 'failed']);
    expect(store.state().version).toBe(3);
    expect(recorded.changes.map((change) => change.version)).toEqual([1, 2, 3]);
    finish({ outcome: 'failed', callId: 'c2' });
    expect(store.state().version).toBe(3);
  });

  it.each(['cancelled', 'unknown'] as const)('is taken away by a %s call that may have written, and not given', (outcome) => {
    finish({});
    finish({ outcome, callId: 'c2' });
    expect(statuses()).toEqual(['pending', 'pending', 'pending']);
  });

  it('survives calls that were denied or never ran', () => {
    finish({});
    finish({ tool: 'write_file', arguments: '{"path":"y"}', outcome: 'denied' });
    finish({ tool: 'write_file', arguments: '{"path":"y"}', outcome: 'skipped_budget' });
    finish({ outcome: 'skipped_budget', callId: 'c3' });
    expect(statuses()).toEqual(['passed', 'pending', 'passed']);
  });

  it('turns to blocked when the call of the check is denied, whatever its text says, which does not gate', async () => {
    finish({ outcome: 'denied' });
    finish({ tool: 'read_file', arguments: '{"path":"x"}', outcome: 'failed', callId: 'denied by user' });
    expect(statuses()).toEqual(['pending', 'failed', 'pending']);
    finish({ outcome: 'denied' });
    expect(statuses()).toEqual(['blocked', 'failed', 'blocked']);
    expect(store.pendingChecks()).toEqual(['b/read']);
    await accepted(store, { verb: 'complete', step_id: 'a' });
  });

  it('reopens done steps when it is taken away', async () => {
    finish({});
    await accepted(store, { verb: 'complete', step_id: 'a' });
    finish({ tool: 'write_file', arguments: '{"path":"y"}' });
    expect(store.state().steps[0]?.status).toBe('in_progress');
  });

  it('goes in one batch to checks that were declared before it, while new ones stay pending', async () => {
    const epoch = store.epoch();
    await accepted(store, {
      verb: 'revise',
      reason: 'r',
      operations: [{ kind: 'add', steps: [{ id: 'n', title: 'N', checks: [check('new', 'shell', { command: 'make' })] }] }],
    });
    finish({}, epoch);
    expect(statuses()).toEqual(['passed', 'pending', 'passed', 'pending']);
  });

  it('is not collected by a check whose step changed its title in the batch', async () => {
    const epoch = store.epoch();
    await accepted(store, { verb: 'revise', reason: 'r', operations: [{ kind: 'edit', step_id: 'a', title: 'A2' }] });
    finish({}, epoch);
    expect(statuses()).toEqual(['pending', 'pending', 'passed']);
  });

  it('is found by the barrier test with canonical arguments', () => {
    expect(store.isCheck('shell', ' {"command" : "make"}')).toBe(true);
    expect(store.isCheck('shell', '{"command":"make "}')).toBe(false);
    expect(store.isCheck('shell', 'not json')).toBe(false);
    expect(store.isCheck('patch', '{"command":"make"}')).toBe(false);
  });

  it('comes back after a transcript whose wrapper neutralises its own name', async () => {
    const args = { command: 'grep untrusted_content' };
    await accepted(store, { verb: 'create', steps: [{ id: 'g', title: 'G', checks: [check('g', 'shell', args)] }] });
    const wrapped = store.message(
      (source, body) =>
        `<untrusted_content_1 source="${source}">\n${body.replaceAll('untrusted_content', 'untrustedˍcontent')}\n</untrusted_content_1>`,
    );
    expect(store.restore(wrapped?.content ?? '')).toBe(true);
    expect(store.isCheck('shell', JSON.stringify(args))).toBe(true);
  });
});

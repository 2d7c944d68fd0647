import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { coreCallRefusal } from '../../../core/extensions/core-calls.ts';
import { createCrashBudget, createDirtyCount } from '../../../core/extensions/crashes.ts';
import { grantKey, grantsOf, groupBundles } from '../../../core/extensions/groups.ts';
import { createHandles } from '../../../core/extensions/handles.ts';
import { toolNameFault } from '../../../core/extensions/names.ts';
import { renderSections } from '../../../core/extensions/sections.ts';
import { createTickets } from '../../../core/extensions/tickets.ts';
import { combineAnswers } from '../../../core/extensions/verdict.ts';
import { applyPlugins } from '../../../core/plugins/host.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { loadPlugins } from '../../../plugins/index.ts';
import type { OwnerRef, Registration } from '../../../ports/extension-host.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { bundle } from '../../hosts/plugin-host/harness.ts';

const ids = () => {
  let n = 0;
  return { hex: (bytes: number) => String(++n).padStart(bytes * 2, '0') };
};
const owner = (id: string, generation = 1): OwnerRef => ({ plugin_id: id, generation, owner_token: `token-${id}-${generation}` });
const section = (name: string, text: string): Registration => ({ kind: 'prompt_section', name, text });

describe('names of tools', () => {
  it('of every tool that odek brings are reserved, and none of them may be run for a plugin that should not', async () => {
    const registry = createToolRegistry();
    const anything = new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : () => undefined) }) as never;
    const searchEngine = { baseUrl: 'http://127.0.0.1', categories: '', language: '', maxResults: 5, timeoutMs: 1000, http: anything };
    const services = Object.fromEntries(
      [
        'fs',
        'process',
        'http',
        'logger',
        'plan',
        'jobs',
        'sessions',
        'config',
        'catalogue',
        'artifacts',
        'clarifier',
        'skillCatalogue',
      ].map((name) => [name, anything]),
    );
    await applyPlugins(await loadPlugins(), {
      registry,
      services: { ...services, searchEngine },
      configs: {},
      validator: createSchemaValidator(),
    });
    const names = registry.list().map(({ spec }) => spec.name);
    expect(names.length).toBeGreaterThan(25);
    expect(names.filter((name) => toolNameFault(name) === undefined)).toEqual([]);
    expect(names.filter((name) => coreCallRefusal(name, registry.get(name), false) === undefined).sort()).toEqual(
      [
        'base64',
        'checksum',
        'diff',
        'file_info',
        'glob',
        'head_tail',
        'http_request',
        'json_query',
        'math_eval',
        'patch',
        'read_file',
        'search_files',
        'shell',
        'tree',
        'web_search',
        'write_file',
      ].sort(),
    );
  });

  it.each(['Shell', 'READ_file', 'web-fetch', 'get_token', 'exec_now', 'skill_load'])('%s is reserved whatever its spelling', (name) => {
    expect(toolNameFault(name)).toContain('reserved');
  });
});

describe('handles', () => {
  it('are never given twice, and an old one takes nothing back', () => {
    const handles = createHandles(ids());
    handles.open(owner('a'));
    const given = Array.from({ length: 5 }, () => {
      const admission = handles.admit(owner('a'), 'e', section('s', 'text'));
      const handle = 'row' in admission ? admission.row.handle : '';
      handles.undo(owner('a'), handle);
      return handle;
    });
    expect(new Set(given).size).toBe(5);
    expect(handles.undo(owner('a'), given[0] ?? '')).toBeUndefined();
  });

  it('of another owner, or of an earlier activation, are out of reach', () => {
    const handles = createHandles(ids());
    handles.open(owner('a'));
    handles.open(owner('b'));
    const admission = handles.admit(owner('a'), 'e', section('s', 'text'));
    const handle = 'row' in admission ? admission.row.handle : '';
    expect(handles.undo(owner('b'), handle)).toBeUndefined();
    expect(handles.find({ ...owner('a'), owner_token: 'guessed' })).toBeUndefined();
    expect(handles.revoke(owner('a')).map((row) => row.handle)).toEqual([handle]);
    expect(handles.admit(owner('a'), 'e', section('t', 'text'))).toMatchObject({ refused: expect.stringContaining('not active') });
    expect(handles.get(handle)).toBeUndefined();
  });
});

describe('crashes', () => {
  it('are forgiven twice in five minutes, and again after that or when somebody tries anew', async () => {
    const clock = createManualClock();
    const budget = createCrashBudget(clock);
    expect([budget.crashed(), budget.crashed(), budget.crashed()]).toEqual([true, true, false]);
    budget.reset();
    expect(budget.crashed()).toBe(true);
    await clock.advance(300_000);
    expect([budget.crashed(), budget.crashed()]).toEqual([true, true]);
  });

  it('teardowns that leave something behind ask for a restart at the second in ten minutes', async () => {
    const clock = createManualClock();
    const isDirty = createDirtyCount(clock);
    expect([isDirty(), isDirty(), isDirty()]).toEqual([false, true, false]);
    await clock.advance(600_000);
    expect(isDirty()).toBe(false);
  });
});

describe('tickets', () => {
  it('of one owner are nothing in the hands of another, which counts as forged', () => {
    const clock = createManualClock();
    const tickets = createTickets<string>({ ids: ids(), clock });
    const { ticket } = tickets.issue(owner('a'), 'call', 1000);
    expect(tickets.present(ticket, owner('a'), 'core')).toMatchObject({ kind: 'good', row: { call: 'call' } });
    const verdicts = Array.from({ length: 8 }, () => tickets.present(ticket, owner('b'), 'core'));
    expect(verdicts.map((each) => each.kind === 'refused' && each.endHost)).toEqual([...Array(7).fill(false), true]);
  });

  it('end with their time, and the count of forged ones is of one minute', async () => {
    const clock = createManualClock();
    const tickets = createTickets<string>({ ids: ids(), clock });
    const { ticket } = tickets.issue(owner('a'), 'call', 1000);
    await clock.advance(1001);
    expect(tickets.present(ticket, owner('a'), 'core')).toEqual({ kind: 'refused', endHost: false });
    for (let n = 0; n < 20; n += 1) {
      await clock.advance(10_000);
      expect(tickets.present('forged', owner('a'), 'core')).toEqual({ kind: 'refused', endHost: false });
    }
  });
});

describe('verdicts', () => {
  it('deny when one listener denies, whatever the others say or break', () => {
    const deny = { by: 'b', answer: { kind: 'deny', reason: 'no' } } as const;
    expect(combineAnswers([{ by: 'a', failed: 'broken' }, deny])).toEqual({ kind: 'deny', by: 'b', reason: 'no' });
    expect(combineAnswers([{ by: 'a', answer: { kind: 'revise', input: {} } }, deny])).toMatchObject({ kind: 'deny' });
  });

  it('keep every note, the first question and the last revision', () => {
    const verdict = combineAnswers([
      { by: 'a', answer: { kind: 'annotate', text: 'one' } },
      { by: 'a', answer: { kind: 'ask', reason: 'first' } },
      { by: 'b', answer: { kind: 'ask', reason: 'second' } },
      { by: 'b', answer: { kind: 'revise', input: { n: 1 } } },
      { by: 'c', answer: { kind: 'revise', input: { n: 2 } } },
      { by: 'c', answer: { kind: 'annotate', text: 'two' } },
    ]);
    expect(verdict).toEqual({
      kind: 'go',
      ask: { by: 'a', reason: 'first' },
      revision: { by: 'c', input: { n: 2 } },
      notes: [
        { by: 'a', text: 'one' },
        { by: 'c', text: 'two' },
      ],
    });
  });
});

describe('sections', () => {
  it('expand each fact once, and leave out what does not fit any more', () => {
    const facts = { model: '{{cwd}}', cwd: '/w'.repeat(3000) };
    expect(renderSections([{ plugin: 'p', id: 'a', text: '{{model}}', interpolate: 'model-cwd' }], facts)).toBe('[extension:p/a]\n{{cwd}}');
    expect(renderSections([{ plugin: 'p', id: 'a', text: '{{cwd}}', interpolate: 'model-cwd' }], facts)).toBeUndefined();
  });
});

describe('groups', () => {
  it('are made of what was granted: all that a review showed, or nothing', () => {
    expect(grantsOf(bundle('a', { services: ['files', 'model'] }))).toEqual(['files', 'model']);
    expect(grantsOf(bundle('a', { services: ['files', 'settings'] }))).toEqual([]);
    const [one, other] = [
      bundle('a', { services: ['network'], hosts: ['x.org'] }),
      bundle('b', { services: ['network'], hosts: ['y.org'] }),
    ];
    expect(grantKey(one)).not.toBe(grantKey(other));
    expect([...groupBundles([bundle('c'), one, bundle('d'), other]).values()].map((group) => group.map(({ name }) => name))).toEqual([
      ['c', 'd'],
      ['a'],
      ['b'],
    ]);
  });
});

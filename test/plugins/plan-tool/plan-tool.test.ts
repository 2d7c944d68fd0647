import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { PLAN_VERBS } from '../../../core/plan/errors.ts';
import { applyPlugins } from '../../../core/plugins/host.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import planTool from '../../../plugins/plan-tool/index.ts';
import type { ToolExecution, ToolSpec } from '../../../ports/plugin.ts';
import { recordedStore } from '../../core/plan/fixture.ts';

/** First-request allowance of the plan tool, in bytes. */
const MAX_DEFINITION_BYTES = 5_200;

const exec: ToolExecution = { signal: new AbortController().signal, callId: 'c1', args: {}, workspace: '/project', dataDir: '/data' };

async function registered() {
  const registry = createToolRegistry();
  const { store } = recordedStore();
  const applied = await applyPlugins([planTool], { services: { plan: store }, configs: {}, validator: createSchemaValidator(), registry });
  const spec = registry.get('plan')?.spec as ToolSpec;
  const call = (input: unknown, rawArgs?: string) => spec.execute(input as never, { ...exec, ...(rawArgs !== undefined && { rawArgs }) });
  return { registry, applied, spec, store, call };
}

describe('the plan tool', () => {
  it('is registered by the plugin and gone when it is disposed', async () => {
    const { registry, applied } = await registered();
    expect(registry.list().map((tool) => tool.spec.name)).toEqual(['plan']);
    await applied.dispose();
    expect(registry.list()).toEqual([]);
  });

  it(`costs at most ${MAX_DEFINITION_BYTES} bytes of a request`, async () => {
    const { registry } = await registered();
    expect(Buffer.byteLength(JSON.stringify(registry.definitions()[0]))).toBeLessThanOrEqual(MAX_DEFINITION_BYTES);
  });

  it('offers every verb, and a schema that accepts a call of each', async () => {
    const { spec } = await registered();
    const properties = spec.parameters.properties as Record<string, { enum?: string[] }>;
    expect([...(properties.verb?.enum ?? [])].sort()).toEqual([...PLAN_VERBS].sort());
    const check = { id: 'k', description: 'd', tool: 'shell', arguments: { command: 'make' } };
    const accepts = await createSchemaValidator().compile(spec.parameters);
    for (const call of [
      { verb: 'create', steps: [{ id: 'a', title: 'A', checks: [check] }] },
      { verb: 'update', updates: [{ id: 'a', status: 'blocked', note: 'n' }] },
      { verb: 'complete', step_id: 'a' },
      {
        verb: 'revise',
        reason: 'r',
        operations: [{ kind: 'split', step_id: 'a', steps: [{ id: 'b', title: 'B' }], carry_checks_to: 'b' }],
      },
      { verb: 'check_replace', step_id: 'a', check_id: 'k', justification: 'j', replacement: check },
      { verb: 'get' },
    ]) {
      expect(accepts(call)).toEqual([]);
    }
    expect(accepts({ verb: 'dance' })).not.toEqual([]);
  });

  it('answers with its own diagnostics instead of the schema check, also for text that is not JSON', async () => {
    const { spec, call } = await registered();
    expect(spec.ownsValidation).toBe(true);
    expect(await call({ verb: 'dance' })).toMatchObject({ failed: true, content: expect.stringContaining('plan: unknown verb "dance"') });
    expect(await call('{oops')).toMatchObject({ failed: true, content: expect.stringContaining('plan: parse args: ') });
  });

  it('prefers the raw text, in which numbers stand as they were written', async () => {
    const { call, store } = await registered();
    const raw =
      '{"verb":"create","steps":[{"id":"a","title":"A","checks":[{"id":"k","description":"d","tool":"t","arguments":{"n":1.0}}]}]}';
    expect(await call(JSON.parse(raw), raw)).toMatchObject({ failed: false });
    expect(store.isCheck('t', '{"n":1.0}')).toBe(true);
    expect(store.isCheck('t', '{"n":1}')).toBe(false);
  });

  it('touches nothing outside the run, so that it is never asked about', async () => {
    const { spec } = await registered();
    expect(spec.effects?.({ verb: 'create' } as never)).toEqual({});
    expect(spec.effects?.('{oops' as never)).toEqual({});
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isPlanMessage, parsePlan } from '../../../core/plan/parse.ts';
import { renderPlan } from '../../../core/plan/render.ts';
import type { CheckStatus, PlanRevision, PlanState, PlanStep, StepStatus } from '../../../core/plan/state.ts';
import type { PlanStore } from '../../../core/plan/store.ts';
import { recordedStore, shown } from './fixture.ts';

interface Expectation {
  readonly ok: boolean;
  readonly error_contains?: readonly string[];
  readonly error_equals?: string;
  readonly result_contains?: readonly string[];
  readonly result_equals?: string;
  readonly version?: number;
  readonly render_equals?: string;
  readonly render_contains?: readonly string[];
  readonly pending_checks?: readonly string[];
}

interface Call {
  readonly args?: object;
  readonly raw?: string;
  readonly op?: 'tool_result' | 'tool_denied' | 'resume';
  readonly tool?: string;
  readonly arguments?: object;
  readonly arguments_raw?: string;
  readonly call_id?: string;
  readonly failed?: boolean;
  readonly same_batch_as_declaration?: boolean;
  readonly from_render?: boolean;
  readonly content?: string;
  readonly expect: Expectation;
}

interface StepVector {
  readonly id: string;
  readonly status: StepStatus;
  readonly title: string;
  readonly note: string;
  readonly checks?: readonly {
    readonly id: string;
    readonly description: string;
    readonly tool: string;
    readonly arguments: object;
    readonly status: CheckStatus;
    readonly call_id?: string;
  }[];
}

interface PlanVector {
  readonly version: number;
  readonly steps: readonly StepVector[];
  readonly revision?: PlanRevision;
}

interface Vectors {
  readonly cases: readonly {
    readonly id: string;
    readonly config: { readonly max_steps: number; readonly max_render_chars: number };
    readonly calls: readonly Call[];
    readonly events?: readonly object[];
  }[];
  readonly parse: readonly {
    readonly id: string;
    readonly role: string;
    readonly content: string;
    readonly max_steps: number;
    readonly expect: 'reject' | PlanVector;
  }[];
  readonly render: readonly (PlanVector & { readonly id: string; readonly max_render_chars: number; readonly expect_equals: string })[];
}

const vectors = JSON.parse(readFileSync(new URL('../../vectors/plan.json', import.meta.url), 'utf8')) as Vectors;

/** Every entry of the file; a vector that is lost in copying must not go unnoticed. */
const EXPECTED_COUNTS = { cases: 198, parse: 46, render: 12 };

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
}

/** Runs one call. `epochs.declared` is the epoch before the last declaring call, for same-batch outcomes. */
async function perform(store: PlanStore, call: Call, epochs: { declared: number }): Promise<Outcome> {
  if (call.op === undefined) {
    const before = store.epoch();
    const reply = await store.execute(call.raw ?? JSON.stringify(call.args));
    if (store.epoch() !== before) epochs.declared = before;
    return { ok: !reply.failed, text: reply.content };
  }
  if (call.op === 'resume') return { ok: store.restore(call.from_render ? await shown(store) : (call.content ?? '')), text: '' };
  const epoch = call.same_batch_as_declaration ? epochs.declared : store.epoch();
  store.record(
    {
      tool: call.tool ?? '',
      arguments: call.arguments_raw ?? JSON.stringify(call.arguments),
      callId: call.call_id ?? '',
      outcome: call.op === 'tool_denied' ? 'denied' : call.failed ? 'failed' : 'completed',
    },
    epoch,
  );
  return { ok: true, text: '' };
}

async function check(store: PlanStore, outcome: Outcome, expected: Expectation): Promise<void> {
  expect(outcome.ok, outcome.text).toBe(expected.ok);
  for (const part of expected.error_contains ?? []) expect(outcome.text).toContain(part);
  for (const part of expected.result_contains ?? []) expect(outcome.text).toContain(part);
  // The model also gets a correct call, on a line of its own after the error.
  if (expected.error_equals !== undefined) expect(outcome.text.split('\nCorrect call: ')[0]).toBe(expected.error_equals);
  if (!expected.ok) expect(outcome.text).toMatch(/\nCorrect call: .*\}$/s);
  if (expected.result_equals !== undefined) expect(outcome.text).toBe(expected.result_equals);
  if (expected.version !== undefined) expect(store.state().version).toBe(expected.version);
  if (expected.pending_checks !== undefined) expect(store.pendingChecks()).toEqual(expected.pending_checks);
  const render = await shown(store);
  if (expected.render_equals !== undefined) expect(render).toBe(expected.render_equals);
  for (const part of expected.render_contains ?? []) expect(render).toContain(part);
}

describe('the vectors of the plan tool', () => {
  it('are all there', () => {
    const { cases, parse, render } = vectors;
    expect({ cases: cases.length, parse: parse.length, render: render.length }).toEqual(EXPECTED_COUNTS);
  });

  it.each(vectors.cases.map((vector) => [vector.id, vector] as const))('case %s holds', async (_, vector) => {
    const { store, changes } = recordedStore({ maxSteps: vector.config.max_steps, maxRenderChars: vector.config.max_render_chars });
    const epochs = { declared: 0 };
    for (const call of vector.calls) {
      const before = { version: store.state().version, render: await shown(store) };
      const outcome = await perform(store, call, epochs);
      await check(store, outcome, call.expect);
      if (!call.expect.ok) expect({ version: store.state().version, render: await shown(store) }).toEqual(before);
    }
    if (vector.events !== undefined) expect(changes).toEqual(vector.events);
  });
});

function toVector(state: PlanState): PlanVector {
  const steps = state.steps.map(({ id, status, title, note, checks }): StepVector => {
    if (checks.length === 0) return { id, status, title, note };
    return {
      id,
      status,
      title,
      note,
      checks: checks.map((each) => ({
        id: each.id,
        description: each.description,
        tool: each.tool,
        arguments: JSON.parse(each.arguments) as object,
        status: each.status,
        ...(each.callId !== '' && { call_id: each.callId }),
      })),
    };
  });
  return { version: state.version, steps, ...(state.revision && { revision: state.revision }) };
}

function fromVector(vector: PlanVector): PlanState {
  const steps = vector.steps.map(
    ({ checks = [], ...step }): PlanStep => ({
      ...step,
      checks: checks.map(({ call_id = '', arguments: args, ...rest }) => ({
        ...rest,
        arguments: JSON.stringify(args),
        callId: call_id,
        epoch: 0,
      })),
    }),
  );
  return { version: vector.version, steps, ...(vector.revision && { revision: vector.revision }) };
}

describe('the vectors of the plan message', () => {
  it.each(vectors.parse.map((vector) => [vector.id, vector] as const))('parse %s holds', (_, vector) => {
    const parsed = isPlanMessage(vector) ? parsePlan(vector.content, vector.max_steps) : undefined;
    expect(parsed === undefined ? 'reject' : toVector(parsed.state)).toEqual(vector.expect);
  });

  it.each(vectors.render.map((vector) => [vector.id, vector] as const))('render %s holds', (_, vector) => {
    expect(renderPlan(fromVector(vector), vector.max_render_chars)).toBe(vector.expect_equals);
  });
});

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overflows } from '../../../core/plan/capacity.ts';
import { canonicalArguments } from '../../../core/plan/evidence.ts';
import { planMessageContent } from '../../../core/plan/message.ts';
import { parsePlan } from '../../../core/plan/parse.ts';
import { PLAN_PREFIX, renderPlan } from '../../../core/plan/render.ts';
import { isStrict, MAX_CHECKS, MAX_TITLE_BYTES, type PlanState } from '../../../core/plan/state.ts';
import type { PlanStore } from '../../../core/plan/store.ts';
import { breaksToken, normaliseText, utf8Length } from '../../../core/plan/text.ts';
import { wrapUntrusted } from '../../../core/untrusted/wrapper.ts';
import { type planEvent, planHistory } from './arbitraries.ts';
import { recordedStore } from './fixture.ts';

const RUNS = { numRuns: 10_000 };
const TIME_LIMIT_MS = 120_000;
const MAX_STEPS = 6;
const MUTATIONS = ['create', 'update', 'complete', 'revise', 'check_replace', 'completed', 'failed', 'denied'];

const wrap = (source: string, body: string): string => wrapUntrusted(body, source, '0123456789abcdef');

type Happening = typeof planEvent extends fc.Arbitrary<infer T> ? T : never;

/** Content without the evidence epochs, which are not part of the message. */
function content(state: PlanState): object {
  const steps = state.steps.map((step) => ({ ...step, checks: step.checks.map(({ epoch: _, ...check }) => check) }));
  return { version: state.version, steps, revision: state.revision };
}

function requireValid(state: PlanState, maxRenderChars: number): void {
  expect(state.steps.length).toBeLessThanOrEqual(MAX_STEPS);
  expect(new Set(state.steps.map((step) => step.id)).size).toBe(state.steps.length);
  for (const step of state.steps) {
    expect(breaksToken(step.id)).toBe(false);
    expect(step.title).toBe(normaliseText(step.title));
    expect(step.note).toBe(normaliseText(step.note));
    expect(utf8Length(step.title)).toBeGreaterThan(0);
    expect(utf8Length(step.title)).toBeLessThanOrEqual(MAX_TITLE_BYTES);
    expect(step.checks.length).toBeLessThanOrEqual(MAX_CHECKS);
    expect(new Set(step.checks.map((check) => check.id)).size).toBe(step.checks.length);
    const unproven = step.checks.some((check) => check.status === 'pending' || check.status === 'failed');
    expect(step.status === 'done' && unproven).toBe(false);
  }
  expect(overflows(state, maxRenderChars)).toBe(false);
  if (isStrict(state)) expect(utf8Length(renderPlan(state, maxRenderChars))).toBeLessThanOrEqual(maxRenderChars);
}

function requireRoundTrip(state: PlanState, maxRenderChars: number): void {
  const render = renderPlan(state, maxRenderChars);
  const lossy = !isStrict(state) && utf8Length(renderPlan(state, Number.POSITIVE_INFINITY)) > maxRenderChars;
  const collapsed = render.includes(' steps complete.]') && !render.includes('\n');
  const parsed = parsePlan(render, MAX_STEPS);
  if (collapsed) expect(parsed?.state).toEqual({ version: state.version, steps: [] });
  else if (lossy) expect(parsed).toBeUndefined();
  else expect(parsed && content(parsed.state)).toEqual(content(state));
  if (collapsed || lossy) return;
  const stored = parsePlan(planMessageContent(render, wrap), MAX_STEPS);
  expect(stored && content(stored.state)).toEqual(content(state));
}

async function happen(store: PlanStore, event: Happening, maxRenderChars: number, epochBefore: number): Promise<'accepted' | 'refused'> {
  if (event.kind === 'restart') {
    if (store.state().version > 0) store.restore(renderPlan(store.state(), maxRenderChars));
    return 'accepted';
  }
  if (event.kind === 'call') return (await store.execute(event.text)).failed ? 'refused' : 'accepted';
  store.record(event, event.sameBatch ? epochBefore : store.epoch());
  return 'accepted';
}

describe('any history of a plan', () => {
  it(
    'leads from one valid state to the next, by one version, and back out of its render',
    async () => {
      const effective = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(planHistory, fc.constantFrom(200, 1000, 2000, 8000), async (history, maxRenderChars) => {
          const { store, changes } = recordedStore({ maxSteps: MAX_STEPS, maxRenderChars });
          const epoch = store.epoch();
          for (const event of history) {
            const before = store.state();
            const told = changes.length;
            const verdict = await happen(store, event, maxRenderChars, epoch);
            const after = store.state();
            requireValid(after, maxRenderChars);
            if (after.steps.length > 0) requireRoundTrip(after, maxRenderChars);
            if (event.kind === 'restart') {
              expect(changes.length).toBe(told);
              continue;
            }
            if (verdict === 'refused') expect(after).toBe(before);
            if (after === before) {
              expect(changes.length).toBe(told);
              continue;
            }
            const kind = event.kind === 'call' ? String((JSON.parse(event.text) as { verb?: unknown }).verb) : event.outcome;
            effective.set(kind, (effective.get(kind) ?? 0) + 1);
            expect(after.version).toBe(before.version + 1);
            expect(changes.slice(told).map((change) => change.version)).toEqual([after.version]);
            const isCreate = changes.at(-1)?.created === true;
            if (!isCreate) expect(isDeepStrictEqual({ ...content(after), version: 0 }, { ...content(before), version: 0 })).toBe(false);
          }
        }),
        RUNS,
      );
      // The calls must be good enough to change plans in every way, or the property says little.
      const rare = MUTATIONS.filter((kind) => (effective.get(kind) ?? 0) < 200);
      expect(rare, JSON.stringify([...effective])).toEqual([]);
    },
    TIME_LIMIT_MS,
  );
});

describe('canonical arguments', () => {
  const spaced = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\r\n\t');
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, entry]) => [key, reversed(entry)]),
    );
  };

  it(
    'are one spelling for every order of keys and every spacing, and mean the same value',
    () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string({ unit: 'binary', maxLength: 6 }), fc.jsonValue({ stringUnit: 'binary' })), (value) => {
          const canonical = canonicalArguments(JSON.stringify(value));
          expect(canonical).toBeDefined();
          expect(canonicalArguments(spaced(reversed(value)))).toBe(canonical);
          expect(canonicalArguments(canonical ?? '')).toBe(canonical);
          expect(isDeepStrictEqual(JSON.parse(canonical ?? ''), JSON.parse(JSON.stringify(value)))).toBe(true);
          expect(canonical).not.toMatch(/[<>&]|untrusted_content/);
        }),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );

  const literal = fc
    .tuple(fc.constantFrom('', '-'), fc.nat(), fc.constantFrom('', '.0', '.50', '.125'), fc.constantFrom('', 'e3', 'E+2', 'e-07'))
    .map((parts) => parts.join(''));

  it(
    'keep every number literal as it was written',
    () => {
      fc.assert(
        fc.property(literal, literal, (a, b) => {
          expect(canonicalArguments(`{"n": ${a}}`)).toBe(`{"n":${a}}`);
          expect(canonicalArguments(`{"n":${a}}`) === canonicalArguments(`{"n":${b}}`)).toBe(a === b);
        }),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );

  it(
    'exist exactly for texts that are JSON objects',
    () => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.json(),
            fc.string(),
            fc.tuple(fc.json(), fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
          ),
          (text) => {
            let parsed: unknown;
            try {
              parsed = JSON.parse(text);
            } catch {
              parsed = undefined;
            }
            const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
            expect(canonicalArguments(text) !== undefined).toBe(isObject);
          },
        ),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );
});

/** A text with one piece taken out and another put in. */
const mutation = fc.record({
  at: fc.nat(),
  remove: fc.nat({ max: 12 }),
  insert: fc.oneof(fc.constant(''), fc.string({ maxLength: 8 }), fc.constantFrom('\n', '—', '[', ']', '9', ' [done] ', ', checks', '"')),
});

describe('the parser', () => {
  const stable = (text: string): void => {
    const parsed = parsePlan(text, MAX_STEPS);
    if (parsed === undefined || parsed.state.steps.length === 0) return;
    const again = parsePlan(renderPlan(parsed.state, Number.POSITIVE_INFINITY), MAX_STEPS);
    // An all-done plan collapses when it is rendered anew; loose text is normalised then.
    if (again !== undefined && again.state.steps.length > 0) {
      expect(again.state.version).toBe(parsed.state.version);
      expect(again.state.steps.map((step) => [step.id, step.status, step.checks.length])).toEqual(
        parsed.state.steps.map((step) => [step.id, step.status, step.checks.length]),
      );
    }
  };

  it(
    'takes or refuses every text and never throws',
    () => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.string().map((text) => `${PLAN_PREFIX}${text}`),
            fc.json(),
          ),
          stable,
        ),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );

  it(
    'takes or refuses every damaged render and never throws',
    async () => {
      await fc.assert(
        fc.asyncProperty(planHistory, fc.array(mutation, { minLength: 1, maxLength: 3 }), async (history, mutations) => {
          const { store } = recordedStore({ maxSteps: MAX_STEPS, maxRenderChars: 8000 });
          for (const event of history) await happen(store, event, 8000, store.epoch());
          let text = renderPlan(store.state(), 8000);
          for (const { at, remove, insert } of mutations) {
            const place = at % (text.length + 1);
            text = text.slice(0, place) + insert + text.slice(place + remove);
          }
          stable(text);
        }),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );
});

describe('the plan call', () => {
  it(
    'settles for every value and leaves the plan alone when it refuses',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(fc.anything({ withBigInt: true, withMap: true, withDate: true }), fc.json(), fc.string()),
          async (value) => {
            const { store } = recordedStore();
            await store.execute('{"verb":"create","steps":["One"]}');
            const before = store.state();
            const reply = await store.execute(value);
            expect(reply.content).not.toBe('');
            if (reply.failed) {
              expect(store.state()).toBe(before);
              expect(reply.content).toMatch(/^plan: .*\nCorrect call: /s);
            }
          },
        ),
        RUNS,
      );
    },
    TIME_LIMIT_MS,
  );
});

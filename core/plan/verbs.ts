/** One plan call: arguments to effect. Pure; a refused call throws {@link PlanError} and changes nothing. */
import { replaceCheck } from './check-replace.ts';
import { createPlan } from './create.ts';
import type { VerbContext, VerbEffect } from './effect.ts';
import { exampleCall, PLAN_VERBS, PlanError, type PlanVerb } from './errors.ts';
import { argumentsError, receivedKeys, textField } from './input.ts';
import { adoptJson, isJsonObject, type JsonObject, type JsonReading, jsonKind, readJson } from './json.ts';
import { revisePlan } from './revise.ts';
import type { PlanState } from './state.ts';
import { quote } from './text.ts';
import { completeStep, updatePlan } from './update.ts';

export interface PlanCall {
  readonly verb: PlanVerb;
  readonly effect: VerbEffect;
}

/** Longest argument text that is read, in UTF-16 units. */
export const MAX_CALL_CHARS = 262_144;

const RUN: Readonly<Record<PlanVerb, (state: PlanState, call: JsonObject, context: VerbContext) => VerbEffect>> = {
  create: createPlan,
  update: updatePlan,
  complete: completeStep,
  revise: revisePlan,
  check_replace: replaceCheck,
  get: ({ steps, revision }) => ({ steps, ...(revision && { revision }), transitions: [] }),
};

/** `args` is the raw JSON text (exact in its number literals) or a value parsed from it. Throws {@link PlanError}. */
export function runPlanCall(state: PlanState, args: unknown, context: VerbContext): PlanCall {
  const call = readCall(args, state);
  const given = textField(call, 'verb') ?? '';
  const verb = PLAN_VERBS.find((each) => each === given);
  if (verb === undefined) throw unknownVerb(given, call, state);
  return { verb, effect: RUN[verb](state, call, context) };
}

function readCall(args: unknown, state: PlanState): JsonObject {
  const reading: JsonReading = typeof args === 'string' ? readText(args) : adoptJson(args);
  if (!reading.ok) throw argumentsError(reading.problem, 'get', state);
  if (isJsonObject(reading.value)) return reading.value;
  throw argumentsError(`arguments must be an object, got ${jsonKind(reading.value)}`, 'get', state);
}

function readText(text: string): JsonReading {
  if (text.length > MAX_CALL_CHARS) return { ok: false, problem: `${text.length} chars are too many (at most ${MAX_CALL_CHARS})` };
  return readJson(text);
}

function unknownVerb(given: string, call: JsonObject, state: PlanState): PlanError {
  const message = `plan: unknown verb ${quote(given)} (want ${PLAN_VERBS.join('/')}); ${receivedKeys(call)}`;
  return new PlanError('plan_arguments', message, { repair: exampleCall('get', state), value: given, limit: PLAN_VERBS });
}

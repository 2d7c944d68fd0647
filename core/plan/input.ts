/** Typed reading of a plan call's arguments. A wrong type is a `plan: parse args:` error that names the field. */
import { exampleCall, PlanError, type PlanVerb } from './errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, jsonKind } from './json.ts';
import { EMPTY_PLAN, type PlanState } from './state.ts';
import { clampPoints, compareCodePoints } from './text.ts';

/** A step as the call declares it, nothing checked yet. `id` is `undefined` where one is to be assigned. */
export interface StepDraft {
  readonly id: string | undefined;
  readonly title: string;
  readonly note: string;
  readonly checks: readonly CheckDraft[];
}

export interface CheckDraft {
  readonly id: string;
  readonly description: string;
  readonly tool: string;
  readonly arguments: JsonValue | undefined;
}

export function argumentsError(problem: string, verb: PlanVerb = 'create', state: PlanState = EMPTY_PLAN): PlanError {
  return new PlanError('plan_arguments', `plan: parse args: ${problem}`, { repair: exampleCall(verb, state) });
}

/** `undefined` when absent or null. */
export function textField(object: JsonObject, name: string, where = ''): string | undefined {
  const value = object.get(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw argumentsError(`${where}${name} must be a string, got ${jsonKind(value)}`);
}

/** `undefined` when the key is absent; null counts as an empty list. */
export function listField(object: JsonObject, name: string, where = ''): readonly JsonValue[] | undefined {
  const value = object.get(name);
  if (value === undefined) return undefined;
  if (value === null) return [];
  if (isJsonArray(value)) return value;
  throw argumentsError(`${where}${name} must be an array, got ${jsonKind(value)}`);
}

export function objectEntry(value: JsonValue, where: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw argumentsError(`${where} must be an object, got ${jsonKind(value)}`);
}

export function stepDrafts(list: readonly JsonValue[], where = ''): readonly StepDraft[] {
  return list.map((entry, at) => stepDraft(entry, `${where}step[${at}]`));
}

function stepDraft(entry: JsonValue, where: string): StepDraft {
  if (typeof entry === 'string') return { id: undefined, title: entry, note: '', checks: [] };
  const object = objectEntry(entry, where);
  return {
    id: textField(object, 'id', `${where}.`) || undefined,
    title: textField(object, 'title', `${where}.`) ?? '',
    note: textField(object, 'note', `${where}.`) ?? '',
    checks: checkDrafts(listField(object, 'checks', `${where}.`) ?? [], `${where}.`),
  };
}

export function checkDrafts(list: readonly JsonValue[], where = ''): readonly CheckDraft[] {
  return list.map((entry, at) => checkDraft(entry, `${where}check[${at}]`));
}

export function checkDraft(entry: JsonValue, where: string): CheckDraft {
  const object = objectEntry(entry, where);
  return {
    id: textField(object, 'id', `${where}.`) ?? '',
    description: textField(object, 'description', `${where}.`) ?? '',
    tool: textField(object, 'tool', `${where}.`) ?? '',
    arguments: object.get('arguments'),
  };
}

const SHOWN_KEYS = 8;
const SHOWN_KEY_POINTS = 48;

/** The keys beside `verb`, sorted. */
function otherKeys(call: JsonObject): readonly string[] {
  return [...call.keys()].filter((key) => key !== 'verb').sort(compareCodePoints);
}

/** `received keys: [a, b]`, at most eight of them, long ones cut. */
export function receivedKeys(call: JsonObject): string {
  const keys = otherKeys(call);
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => clampPoints(key, SHOWN_KEY_POINTS));
  if (keys.length > SHOWN_KEYS) shown.push(`+${keys.length - SHOWN_KEYS} more`);
  return `received keys: [${shown.join(', ')}]`;
}

/** The error for a call without its one required list: what came, and which key was probably meant. */
export function missingList(call: JsonObject, wanted: { verb: PlanVerb; key: string; shape: string; state: PlanState }): PlanError {
  const suspect = otherKeys(call).find((key) => isObjectList(call.get(key)));
  const hint =
    suspect === undefined ? '' : ` — '${clampPoints(suspect, SHOWN_KEY_POINTS)}' is not recognized; did you mean '${wanted.key}'?`;
  const message = `plan: ${wanted.verb} requires '${wanted.key}' (${wanted.shape}); ${receivedKeys(call)}${hint}`;
  return new PlanError('plan_arguments', message, { repair: exampleCall(wanted.verb, wanted.state) });
}

function isObjectList(value: JsonValue | undefined): value is readonly JsonObject[] {
  return isJsonArray(value) && value.length > 0 && value.every(isJsonObject);
}

function isStepList(value: JsonValue | undefined): boolean {
  return isObjectList(value) && value.some((entry) => entry.has('title'));
}

export interface StepsArgument {
  readonly steps: readonly JsonValue[];
  /** What was inferred from an accepted mistake; empty when the call was canonical. */
  readonly remark: string;
}

/** The step list of a `create`, out of its one accepted wrapper if need be. Two candidates are an error. */
export function stepsArgument(call: JsonObject, state: PlanState): StepsArgument {
  const keys = otherKeys(call).filter((key) => key !== 'steps');
  const wrappers = keys.filter((key) => isStepWrapper(call.get(key)));
  const given = listField(call, 'steps');
  const rivals = [...keys.filter((key) => isStepList(call.get(key))), ...wrappers];
  if (given !== undefined) {
    if (rivals[0] !== undefined) throw ambiguous('steps', rivals[0], state);
    return { steps: given, remark: '' };
  }
  const [wrapper, second] = wrappers;
  if (wrapper === undefined) throw missingList(call, { verb: 'create', key: 'steps', shape: 'array of {id,title,note,checks}', state });
  const rival = second ?? rivals.find((key) => key !== wrapper);
  if (rival !== undefined) throw ambiguous(wrapper, rival, state);
  const steps = listField(objectEntry(call.get(wrapper) ?? null, wrapper), 'steps') ?? [];
  const shown = clampPoints(wrapper, SHOWN_KEY_POINTS);
  return { steps, remark: `plan: accepted wrapped form (${shown}.steps) — prefer {"verb":"create","steps":[...]} next time\n` };
}

function isStepWrapper(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && isObjectList(value.get('steps'));
}

function ambiguous(first: string, second: string, state: PlanState): PlanError {
  const [a, b] = [clampPoints(first, SHOWN_KEY_POINTS), clampPoints(second, SHOWN_KEY_POINTS)];
  return new PlanError('plan_arguments', `plan: ambiguous: both '${a}' and '${b}' supply step lists`, {
    repair: exampleCall('create', state),
  });
}

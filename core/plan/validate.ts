/** From declared steps and checks to valid ones, or an error that names the entry, the value and the limit. */
import { PlanError } from './errors.ts';
import type { CheckDraft, StepDraft } from './input.ts';
import { canonicalJson, isJsonObject, jsonKind } from './json.ts';
import {
  MAX_ARGUMENT_BYTES,
  MAX_CHECKS,
  MAX_DESCRIPTION,
  MAX_ID_BYTES,
  MAX_REASON,
  MAX_TITLE_BYTES,
  MAX_TOOL_BYTES,
  type PlanCheck,
  type PlanStep,
} from './state.ts';
import { breaksToken, codePoints, namesWrapper, normaliseText, quote, utf8Length } from './text.ts';

/** Where a declaration stands: the error prefix, the call that repairs it, and the epoch of new checks. */
export interface Place {
  /** `plan: `, or `plan: revise: operation[2]: `. */
  readonly prefix: string;
  readonly repair: string;
  readonly epoch: number;
}

function invalid(place: Place, message: string, details: { value?: unknown; limit?: unknown } = {}): PlanError {
  return new PlanError('plan_invalid', `${place.prefix}${message}`, { repair: place.repair, ...details });
}

/** Explicit ids of drafts, trimmed. */
function explicitIds(drafts: readonly StepDraft[]): readonly string[] {
  return drafts.flatMap((draft) => (draft.id === undefined ? [] : [draft.id.trim()]));
}

/** Gives every draft without an id the next free `s1`, `s2`, …; `taken` are ids that may not be used. */
export function assignIds(drafts: readonly StepDraft[], taken: Iterable<string>): readonly (StepDraft & { readonly id: string })[] {
  const used = new Set([...taken, ...explicitIds(drafts)]);
  let next = 1;
  return drafts.map((draft) => {
    if (draft.id !== undefined) return { ...draft, id: draft.id };
    while (used.has(`s${next}`)) next++;
    const id = `s${next}`;
    used.add(id);
    return { ...draft, id };
  });
}

/** Valid pending steps. `others` are ids of the steps that stay beside them. */
export function validSteps(
  drafts: readonly (StepDraft & { readonly id: string })[],
  others: ReadonlySet<string>,
  place: Place,
): readonly PlanStep[] {
  const used = new Set(others);
  return drafts.map((draft, at) => {
    const here = { ...place, prefix: `${place.prefix}step[${at}]: ` };
    const id = validStepId(draft.id, here);
    if (used.has(id)) throw invalid(here, `duplicate step id ${quote(id)}`, { value: id });
    used.add(id);
    const title = validTitle(draft.title, here);
    return { id, title, note: normaliseText(draft.note), status: 'pending' as const, checks: validChecks(draft.checks, [], here) };
  });
}

function validStepId(raw: string, place: Place): string {
  const id = raw.toWellFormed().trim();
  if (id === '') throw invalid(place, 'id is required');
  const bytes = utf8Length(id);
  if (bytes > MAX_ID_BYTES)
    throw invalid(place, `id is too long (${bytes} > ${MAX_ID_BYTES} chars)`, { value: bytes, limit: MAX_ID_BYTES });
  if (breaksToken(id)) throw invalid(place, `id ${quote(id)} must be a short token without whitespace or brackets`, { value: id });
  if (namesWrapper(id)) throw invalid(place, `id ${quote(id)} must not name the wrapper of untrusted text`, { value: id });
  return id;
}

export function validTitle(raw: string, place: Place): string {
  const title = normaliseText(raw);
  if (title === '') throw invalid(place, 'title is required');
  const bytes = utf8Length(title);
  if (bytes <= MAX_TITLE_BYTES) return title;
  throw invalid(place, `title is too long (${bytes} > ${MAX_TITLE_BYTES} chars)`, { value: bytes, limit: MAX_TITLE_BYTES });
}

/** `existing` checks of the step come first and keep their ids to themselves. Returns the new ones alone. */
export function validChecks(drafts: readonly CheckDraft[], existing: readonly PlanCheck[], place: Place): readonly PlanCheck[] {
  const total = existing.length + drafts.length;
  if (total > MAX_CHECKS)
    throw invalid(place, `a step has at most ${MAX_CHECKS} checks, got ${total}`, { value: total, limit: MAX_CHECKS });
  const used = new Set(existing.map((check) => check.id));
  return drafts.map((draft, at) => {
    const here = { ...place, prefix: `${place.prefix}check[${at}]: ` };
    const check = validCheck(draft, here);
    if (used.has(check.id)) throw invalid(here, `duplicate check id ${quote(check.id)}`, { value: check.id });
    used.add(check.id);
    return check;
  });
}

/** One pending check of the place's epoch. */
export function validCheck(draft: CheckDraft, place: Place): PlanCheck {
  return {
    id: validCheckId(draft.id, place),
    description: validDescription(draft.description, place),
    tool: validTool(draft.tool, place),
    arguments: validArguments(draft, place),
    status: 'pending',
    callId: '',
    epoch: place.epoch,
  };
}

function validCheckId(raw: string, place: Place): string {
  const id = raw.toWellFormed().trim();
  if (!breaksToken(id) && !id.includes('/') && utf8Length(id) <= MAX_ID_BYTES) return id;
  throw invalid(place, `invalid id ${quote(id)} (want 1..${MAX_ID_BYTES} chars without whitespace, brackets or '/')`, {
    value: id,
    limit: MAX_ID_BYTES,
  });
}

function validDescription(raw: string, place: Place): string {
  const description = normaliseText(raw);
  if (description === '') throw invalid(place, 'description is required');
  const length = codePoints(description);
  if (length <= MAX_DESCRIPTION) return description;
  throw invalid(place, `description is too long (${length} > ${MAX_DESCRIPTION} chars)`, { value: length, limit: MAX_DESCRIPTION });
}

function validTool(raw: string, place: Place): string {
  const tool = raw.toWellFormed().trim();
  if (!breaksToken(tool) && tool !== 'plan' && utf8Length(tool) <= MAX_TOOL_BYTES) return tool;
  throw invalid(place, `invalid tool ${quote(tool)} (want the exact name of a tool other than plan)`, { value: tool });
}

function validArguments(draft: CheckDraft, place: Place): string {
  if (!isJsonObject(draft.arguments)) {
    throw invalid(place, `arguments must be an object, got ${jsonKind(draft.arguments)}`, { value: draft.arguments });
  }
  const text = canonicalJson(draft.arguments);
  const bytes = utf8Length(text);
  if (bytes <= MAX_ARGUMENT_BYTES) return text;
  throw invalid(place, `arguments are too long (${bytes} > ${MAX_ARGUMENT_BYTES} bytes of canonical JSON)`, {
    value: bytes,
    limit: MAX_ARGUMENT_BYTES,
  });
}

/** A reason or justification: one line, not blank, at most `max` code points. */
export function validReason(raw: string | undefined, name: string, place: Place, max = MAX_REASON): string {
  const reason = normaliseText(raw ?? '');
  if (reason === '') throw invalid(place, `${name} is required`);
  const length = codePoints(reason);
  if (length <= max) return reason;
  throw invalid(place, `${name} is too long (${length} > ${max} chars)`, { value: length, limit: max });
}

/** The plan as text. Sizes are UTF-8 bytes. The grammar is in `docs/planning.md`. */
import { jsonString } from './json.ts';
import { hasChecks, isStrict, MAX_CALL_ID, type PlanCheck, type PlanRevision, type PlanState, type PlanStep } from './state.ts';
import { countSteps } from './summary.ts';
import { cutUtf8, normaliseText, utf8Length } from './text.ts';

export const PLAN_PREFIX = '[Current plan:';
export const REVISION_PREFIX = '[Plan revision: ';
export const CHECKS_DELIMITER = ' || checks:';
export const NOTE_SEPARATOR = ' — ';
export const TRUNCATION_MARKER = '[plan truncated: exceeded max_render_chars]';

/**
 * The whole plan. Finished plans without checks and revision collapse to one line. Unchecked,
 * unrevised plans over `maxChars` lose done steps, oldest first, and are cut if that is not enough;
 * checked and revised ones are always complete, because their size was tested when they were accepted.
 */
export function renderPlan(state: PlanState, maxChars: number): string {
  const strict = isStrict(state);
  if (!strict && state.steps.length > 0 && state.steps.every((step) => step.status === 'done')) {
    return `${PLAN_PREFIX} v${state.version} — all ${state.steps.length} steps complete.]`;
  }
  const header = renderHeader(state);
  const lines = state.steps.map(renderStep);
  const revision = state.revision === undefined ? [] : [renderRevision(state.revision)];
  const full = [header, ...revision, ...lines].join('\n');
  if (strict || utf8Length(full) <= maxChars) return full;
  return withoutOldDone(state.steps, { header, lines, maxChars }) ?? `${cutUtf8(full, maxChars)}\n${TRUNCATION_MARKER}`;
}

function withoutOldDone(
  steps: readonly PlanStep[],
  text: { readonly header: string; readonly lines: readonly string[]; readonly maxChars: number },
): string | undefined {
  let size = utf8Length(text.header) + text.lines.reduce((sum, line) => sum + 1 + utf8Length(line), 0);
  const omitted = new Set<number>();
  for (const [at, step] of steps.entries()) {
    if (step.status !== 'done') continue;
    omitted.add(at);
    size -= 1 + utf8Length(text.lines[at] ?? '');
    const marker = `[+${omitted.size} done steps omitted]`;
    if (size + 1 + marker.length <= text.maxChars) {
      return [text.header, marker, ...text.lines.filter((_, line) => !omitted.has(line))].join('\n');
    }
  }
  return undefined;
}

function renderHeader(state: PlanState): string {
  const { done, blocked, steps } = countSteps(state.steps);
  return headerText({ version: state.version, done, steps, blocked, checks: hasChecks(state.steps) });
}

/** The first line of a plan that is not collapsed. */
export function headerText(of: { version: number; done: number; steps: number; blocked: number; checks: boolean }): string {
  const flag = of.checks ? ', checks' : '';
  return `${PLAN_PREFIX} v${of.version} — ${of.done}/${of.steps} done, ${of.blocked} blocked${flag}. Structured state, not instructions.]`;
}

export function renderRevision(revision: PlanRevision): string {
  const summary = revision.summary.map(jsonString).join(',');
  return `${REVISION_PREFIX}{"reason":${jsonString(normaliseText(revision.reason))},"summary":[${summary}]}]`;
}

const renderedSteps = new WeakMap<PlanStep, string>();

function renderStep(step: PlanStep): string {
  const known = renderedSteps.get(step);
  if (known !== undefined) return known;
  const line = stepLine(step, step.status, (check) => checkText(check, check.status, check.callId));
  renderedSteps.set(step, line);
  return line;
}

const LONGEST_CALL_ID = 'x'.repeat(MAX_CALL_ID);
const reservedSteps = new WeakMap<PlanStep, number>();

/** Bytes a step's line may come to need: in progress, each check pending under the longest call id. */
export function reservedStepSize(step: PlanStep): number {
  const known = reservedSteps.get(step);
  if (known !== undefined) return known;
  const size = utf8Length(stepLine(step, 'in_progress', (check) => checkText(check, 'pending', LONGEST_CALL_ID)));
  reservedSteps.set(step, size);
  return size;
}

function stepLine(step: PlanStep, status: string, check: (check: PlanCheck) => string): string {
  const note = normaliseText(step.note);
  const words = `${step.id} [${status}] ${normaliseText(step.title)}${note === '' ? '' : `${NOTE_SEPARATOR}${note}`}`;
  return step.checks.length === 0 ? words : `${words}${CHECKS_DELIMITER}[${step.checks.map(check).join(',')}]`;
}

function checkText(check: PlanCheck, status: string, callId: string): string {
  const evidence = callId === '' ? '' : `,"call_id":${jsonString(callId)}`;
  const declared = `"id":${jsonString(check.id)},"description":${jsonString(check.description)},"tool":${jsonString(check.tool)}`;
  return `{${declared},"arguments":${check.arguments},"status":"${status}"${evidence}}`;
}

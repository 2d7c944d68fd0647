/** The strict, total parser of a rendered plan message. Any deviation gives `undefined`, never an approximation. */
import { checkDraft } from './input.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, readJson } from './json.ts';
import { CHECKS_DELIMITER, NOTE_SEPARATOR, PLAN_PREFIX, REVISION_PREFIX } from './render.ts';
import {
  CHECK_STATUSES,
  hasChecks,
  MAX_CALL_ID,
  MAX_CHECKS,
  MAX_ID_BYTES,
  MAX_OPERATIONS,
  MAX_REASON,
  MAX_SUMMARY_ITEM,
  type PlanCheck,
  type PlanRevision,
  type PlanState,
  type PlanStep,
  STEP_STATUSES,
} from './state.ts';
import { countSteps } from './summary.ts';
import { breaksToken, codePoints, utf8Length } from './text.ts';
import { validCheck } from './validate.ts';

/** `total` is the step count of the header; a collapsed plan has it although its rows are gone. */
export interface ParsedPlan {
  readonly state: PlanState;
  readonly total: number;
}

/** Longest message that is looked at, in UTF-16 units. */
export const MAX_MESSAGE_CHARS = 65_536;

const COLLAPSED = /^\[Current plan: v(\d{1,9}) — all (\d{1,9}) steps complete\.\]$/;
const HEADER =
  /^\[Current plan: v(\d{1,9}) — (\d{1,9})\/(\d{1,9}) done, (\d{1,9}) blocked(, checks)?\. Structured state, not instructions\.\]$/;
const OPENING = /^<untrusted_content_[^\s<>]+(?: source="[^"]*")?>$/;
const CLOSING = /^<\/untrusted_content_[^\s<>]+>$/;
const ROW = /^(\S+) \[([a-z_]+)\] (.+)$/s;

class Rejected extends Error {}

/** True for the protected message: by role and prefix alone. */
export function isPlanMessage(message: { readonly role: string; readonly content: string }): boolean {
  return message.role === 'system' && message.content.startsWith(PLAN_PREFIX);
}

/** Reads a plan message's content. `maxSteps` rejects larger plans. Never throws. */
export function parsePlan(content: string, maxSteps: number): ParsedPlan | undefined {
  if (content.length > MAX_MESSAGE_CHARS) return undefined;
  try {
    return parseMessage(content.trim().split('\n'), maxSteps);
  } catch (error) {
    if (error instanceof Rejected) return undefined;
    throw error;
  }
}

function parseMessage(lines: readonly string[], maxSteps: number): ParsedPlan {
  const [first = '', ...rest] = lines;
  const collapsed = COLLAPSED.exec(first);
  if (collapsed !== null) {
    const total = Number(collapsed[2]);
    if (rest.length > 0 || total === 0) throw new Rejected();
    return { state: { version: Number(collapsed[1]), steps: [] }, total };
  }
  const header = HEADER.exec(first);
  if (header === null) throw new Rejected();
  return parseBody(header, unwrap(rest), maxSteps);
}

function parseBody(header: RegExpExecArray, body: readonly string[], maxSteps: number): ParsedPlan {
  const [version, done, total, blocked] = [Number(header[1]), Number(header[2]), Number(header[3]), Number(header[4])];
  const checked = header[5] !== undefined;
  const revision = parseRevision(body[0]);
  const rows = revision === undefined ? body : body.slice(1);
  if (rows.length === 0 || rows.length !== total || total > maxSteps) throw new Rejected();
  const steps = rows.map((row) => parseRow(row, checked));
  const counts = countSteps(steps);
  if (counts.done !== done || counts.blocked !== blocked || hasChecks(steps) !== checked) throw new Rejected();
  if (new Set(steps.map((step) => step.id)).size !== steps.length) throw new Rejected();
  return { state: revision === undefined ? { version, steps } : { version, steps, revision }, total };
}

function unwrap(lines: readonly string[]): readonly string[] {
  if (!lines[0]?.startsWith('<untrusted_content')) return lines;
  if (lines.length < 3 || !OPENING.test(lines[0]) || !CLOSING.test(lines.at(-1) ?? '')) throw new Rejected();
  return lines.slice(1, -1);
}

function parseRevision(line: string | undefined): PlanRevision | undefined {
  if (!line?.startsWith(REVISION_PREFIX)) return undefined;
  if (!line.endsWith(']')) throw new Rejected();
  const object = readObject(line.slice(REVISION_PREFIX.length, -1));
  const reason = object.get('reason');
  const summary = object.get('summary');
  if (object.size !== 2 || typeof reason !== 'string' || !isJsonArray(summary)) throw new Rejected();
  if (reason.trim() === '' || /[\n\r]/.test(reason) || codePoints(reason) > MAX_REASON) throw new Rejected();
  if (summary.length < 1 || summary.length > MAX_OPERATIONS || !summary.every(isSummaryItem)) throw new Rejected();
  return { reason, summary };
}

function isSummaryItem(item: JsonValue): item is string {
  return typeof item === 'string' && item !== '' && !/[\n\r]/.test(item) && codePoints(item) <= MAX_SUMMARY_ITEM;
}

function readObject(text: string): JsonObject {
  const reading = readJson(text);
  if (!reading.ok || !isJsonObject(reading.value)) throw new Rejected();
  return reading.value;
}

function parseRow(row: string, checked: boolean): PlanStep {
  const [, id = '', token, text = ''] = ROW.exec(row) ?? [];
  const status = STEP_STATUSES.find((each) => each === token);
  if (status === undefined || breaksToken(id) || utf8Length(id) > MAX_ID_BYTES) throw new Rejected();
  const delimiter = checked ? ` ${text}`.indexOf(CHECKS_DELIMITER) : -1;
  const words = delimiter === -1 ? text : text.slice(0, Math.max(0, delimiter - 1));
  const checks = delimiter === -1 ? [] : parseChecks(text.slice(delimiter - 1 + CHECKS_DELIMITER.length));
  const separator = words.indexOf(NOTE_SEPARATOR);
  const title = (separator === -1 ? words : words.slice(0, separator)).trim();
  const note = separator === -1 ? '' : words.slice(separator + NOTE_SEPARATOR.length).trim();
  if (title === '') throw new Rejected();
  return { id, title, note, status, checks };
}

function parseChecks(text: string): readonly PlanCheck[] {
  const reading = readJson(text);
  if (!reading.ok || !isJsonArray(reading.value)) throw new Rejected();
  const list = reading.value;
  if (list.length < 1 || list.length > MAX_CHECKS) throw new Rejected();
  const checks = list.map(parseCheck);
  if (new Set(checks.map((check) => check.id)).size !== checks.length) throw new Rejected();
  return checks;
}

const CHECK_KEYS: ReadonlySet<string> = new Set(['id', 'description', 'tool', 'arguments', 'status', 'call_id']);

function parseCheck(entry: JsonValue): PlanCheck {
  if (!isJsonObject(entry) || ![...entry.keys()].every((key) => CHECK_KEYS.has(key))) throw new Rejected();
  const token = entry.get('status') ?? 'pending';
  const status = CHECK_STATUSES.find((each) => each === token);
  const callId = entry.get('call_id') ?? '';
  if (status === undefined || typeof callId !== 'string') throw new Rejected();
  if (codePoints(callId) > MAX_CALL_ID || /\p{Cc}/u.test(callId)) throw new Rejected();
  return { ...declaration(entry), status, callId };
}

function declaration(entry: JsonObject): PlanCheck {
  try {
    return validCheck(checkDraft(entry, ''), { prefix: '', repair: '', epoch: 0 });
  } catch {
    throw new Rejected();
  }
}

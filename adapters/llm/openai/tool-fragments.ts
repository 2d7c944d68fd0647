import type { JsonObject } from '../json-reading.ts';
import { asObject, asText, parseJson } from '../json-reading.ts';

/** A tool call that is still being streamed. Empty text means "not told so far". */
export interface CallDraft {
  /** The service's own index, where it sent one. */
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface CallDrafts {
  readonly drafts: readonly CallDraft[];
  /** Position of the draft that the last fragment went to; -1 before the first. */
  readonly current: number;
}

interface Fragment {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Adds one element of `delta.tool_calls`: by index, else by id, else to the call now being streamed. */
export function addFragment(calls: CallDrafts, raw: unknown): CallDrafts {
  const fragment = readFragment(raw);
  if (fragment === undefined) return calls;
  const at = findDraft(calls, fragment);
  if (at === -1) return { drafts: [...calls.drafts, fragment], current: calls.drafts.length };
  return { drafts: calls.drafts.with(at, mergeFragment(calls.drafts[at] as CallDraft, fragment)), current: at };
}

function readFragment(raw: unknown): Fragment | undefined {
  const call = asObject(raw);
  if (call === undefined) return undefined;
  const target = asObject(call.function) ?? {};
  const index = typeof call.index === 'number' ? call.index : undefined;
  return { index, id: asText(call.id) ?? '', name: asText(target.name) ?? '', arguments: readArguments(target) };
}

function readArguments(target: JsonObject): string {
  const value = target.arguments;
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function findDraft(calls: CallDrafts, fragment: Fragment): number {
  const { drafts } = calls;
  if (fragment.index !== undefined) {
    const at = drafts.findLastIndex((draft) => draft.index === fragment.index);
    if (at === -1) return fragment.name === '' && drafts[calls.current]?.index === undefined ? calls.current : -1;
    return startsAnotherCall(drafts[at] as CallDraft, fragment) ? -1 : at;
  }
  if (fragment.id !== '') {
    const at = drafts.findLastIndex((draft) => draft.id === fragment.id);
    if (at !== -1 || fragment.name !== '') return at;
    const current = drafts[calls.current];
    return current === undefined || current.id !== '' ? -1 : calls.current;
  }
  const current = drafts[calls.current];
  return current === undefined || startsAnotherCall(current, fragment) ? -1 : calls.current;
}

/**
 * Some services give every parallel call the same index, or none. A fragment with a name opens a
 * new call when its id is another one, or when the call so far is complete and fresh arguments begin.
 */
function startsAnotherCall(draft: CallDraft, fragment: Fragment): boolean {
  if (fragment.name === '') return false;
  if (fragment.id !== '' && draft.id !== '') return fragment.id !== draft.id;
  const complete = asObject(parseJson(draft.arguments)?.value) !== undefined;
  return complete && (fragment.name !== draft.name || fragment.arguments.trimStart().startsWith('{'));
}

function mergeFragment(draft: CallDraft, fragment: Fragment): CallDraft {
  return {
    index: draft.index ?? fragment.index,
    id: draft.id || fragment.id,
    name: mergeName(draft, fragment.name),
    arguments: draft.arguments + fragment.arguments,
  };
}

/** A name may be repeated, grow from delta to delta, or be split; once arguments have begun it is fixed. */
function mergeName(draft: CallDraft, name: string): string {
  if (name === '' || draft.arguments !== '') return draft.name || name;
  return name.startsWith(draft.name) ? name : draft.name + name;
}

import type { ModelRequest } from '../../../ports/llm.ts';
import type { ToolCall } from '../../../ports/message.ts';

/** What a format demands of the ids of tool calls. */
export interface CallIdRule {
  /** One character that is allowed. */
  readonly allowed: RegExp;
  readonly maxLength: number;
}

const HASH_LENGTH = 9;

/**
 * An id that the format takes, the same for a call and its result. An id that fits stays; another one
 * loses what does not fit and gets a mark of its own, so that two different ids stay different.
 */
export function wireCallId(id: string, { allowed, maxLength }: CallIdRule): string {
  const fits = id !== '' && id.length <= maxLength && [...id].every((character) => allowed.test(character));
  if (fits) return id;
  const kept = [...id].map((character) => (allowed.test(character) ? character : '_')).join('');
  return `${kept.slice(0, maxLength - HASH_LENGTH)}_${mark(id)}`;
}

/** Eight hexadecimal digits (32-bit FNV-1a). */
function mark(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** `it<n>` with the number of the model's turn, or the next number that no earlier call of the request uses. */
function freeCallPrefix(request: ModelRequest): string {
  const used = new Set<string>();
  let turn = 1;
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue;
    turn += 1;
    for (const call of message.toolCalls ?? []) used.add(call.id.slice(0, call.id.lastIndexOf('-call')));
  }
  while (used.has(`it${turn}`)) turn += 1;
  return `it${turn}`;
}

/** True for an id that odek made because the service gave none. */
export function isSyntheticId(id: string): boolean {
  return /^it\d+-call\d+/.test(id);
}

interface DraftCall {
  /** Empty where the service gave none. */
  readonly id: string;
  readonly name: string;
  /** JSON text, perhaps cut or empty. */
  readonly arguments: string;
}

/**
 * The calls of a finished reply: missing and repeated ids replaced, and blank arguments `{}` when the
 * model stopped by itself (`complete`); cut ones stay as they are.
 */
export function nameCalls(drafts: readonly DraftCall[], complete: boolean, request: ModelRequest): ToolCall[] {
  const taken = new Set<string>();
  let prefix: string | undefined;
  return drafts.map((draft, index) => {
    let id = draft.id;
    if (id === '' || taken.has(id)) {
      prefix ??= freeCallPrefix(request);
      id = `${prefix}-call${index}`;
    }
    taken.add(id);
    return { id, name: draft.name, arguments: complete && draft.arguments.trim() === '' ? '{}' : draft.arguments };
  });
}

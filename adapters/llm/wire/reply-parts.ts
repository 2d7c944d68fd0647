import type { AssistantMessage, ToolCall } from '../../../ports/message.ts';
import { parseJson } from '../json-reading.ts';

/**
 * One part of an assistant's turn in the order in which the model made it. `sign` is what the service
 * wants back with the part, unread: a signature, encrypted reasoning. `hidden` is a part of which
 * nothing else is known.
 */
export type ReplyPart =
  | { readonly kind: 'reasoning'; readonly text: string; readonly sign?: string }
  | { readonly kind: 'hidden'; readonly sign: string }
  | { readonly kind: 'text'; readonly text: string; readonly sign?: string }
  | { readonly kind: 'call'; readonly call: ToolCall; readonly sign?: string };

type Mark = 'r' | 'h' | 't' | 'c';
/** Kind, length of the text where there is one, sign. Short, as it is stored with every message. */
type Entry = readonly [mark: Mark, length: number, sign?: string];

const MARKS: Readonly<Record<ReplyPart['kind'], Mark>> = { reasoning: 'r', hidden: 'h', text: 't', call: 'c' };

/**
 * What has to be stored as `reasoningSignature` so that {@link partsOf} can lay the turn out again;
 * undefined when nothing in it is signed. `format` keeps one format's signs from another's requests.
 */
export function signParts(format: string, parts: readonly ReplyPart[]): string | undefined {
  if (parts.every((part) => part.sign === undefined)) return undefined;
  const entries = parts.map((part): Entry => {
    const length = 'text' in part ? part.text.length : 0;
    return part.sign === undefined ? [MARKS[part.kind], length] : [MARKS[part.kind], length, part.sign];
  });
  return JSON.stringify({ format, parts: entries });
}

/**
 * The parts of a turn as `provider` may see them. Reasoning comes back only when this provider made
 * and signed it in this format; everything else is text and calls. Where the text was changed since
 * (a secret was masked), the signed reasoning goes first, as all formats allow.
 */
export function partsOf(message: AssistantMessage, format: string, provider: string): readonly ReplyPart[] {
  const calls = message.toolCalls ?? [];
  const isForeign = message.origin !== undefined && message.origin !== provider;
  const entries = isForeign ? undefined : readEntries(message.reasoningSignature, format);
  if (entries === undefined) return plainParts(message, []);
  const reasoning = message.reasoning ?? '';
  if (lengthOf(entries, 'r') !== reasoning.length) return plainParts(message, []);
  const isWhole = lengthOf(entries, 't') === message.content.length && entries.filter(([mark]) => mark === 'c').length === calls.length;
  const layout = isWhole ? entries : entries.filter(([mark]) => mark === 'r' || mark === 'h');
  const parts = layOut(layout, { reasoning, text: message.content, calls });
  return isWhole ? parts : plainParts(message, parts);
}

function plainParts(message: AssistantMessage, before: readonly ReplyPart[]): readonly ReplyPart[] {
  const text: ReplyPart[] = message.content === '' ? [] : [{ kind: 'text', text: message.content }];
  return [...before, ...text, ...(message.toolCalls ?? []).map((call): ReplyPart => ({ kind: 'call', call }))];
}

interface Material {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

function layOut(entries: readonly Entry[], { reasoning, text, calls }: Material): ReplyPart[] {
  const at = { r: 0, t: 0, c: 0 };
  return entries.map(([mark, length, sign]): ReplyPart => {
    const signed = sign === undefined ? {} : { sign };
    switch (mark) {
      case 'h':
        return { kind: 'hidden', sign: sign ?? '' };
      case 'r':
        at.r += length;
        return { kind: 'reasoning', text: reasoning.slice(at.r - length, at.r), ...signed };
      case 't':
        at.t += length;
        return { kind: 'text', text: text.slice(at.t - length, at.t), ...signed };
      default:
        at.c += 1;
        return { kind: 'call', call: calls[at.c - 1] as ToolCall, ...signed };
    }
  });
}

function lengthOf(entries: readonly Entry[], wanted: Mark): number {
  return entries.reduce((sum, [mark, length]) => (mark === wanted ? sum + length : sum), 0);
}

/** Sessions come from disk: what is not an envelope of this format is none. */
function readEntries(signature: string | undefined, format: string): readonly Entry[] | undefined {
  if (signature === undefined) return undefined;
  const envelope = parseJson(signature)?.value as { readonly format?: unknown; readonly parts?: unknown } | null | undefined;
  if (envelope?.format !== format || !Array.isArray(envelope.parts)) return undefined;
  return envelope.parts.every(isEntry) ? envelope.parts : undefined;
}

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value)) return false;
  const [mark, length, sign] = value as readonly unknown[];
  const isMark = mark === 'r' || mark === 'h' || mark === 't' || mark === 'c';
  return isMark && Number.isSafeInteger(length) && (length as number) >= 0 && (sign === undefined || typeof sign === 'string');
}

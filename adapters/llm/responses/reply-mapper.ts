import type { FinishReason, ModelEvent, ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { AssistantMessage, Usage } from '../../../ports/message.ts';
import type { JsonObject } from '../json-reading.ts';
import { asCount, asObject, asText } from '../json-reading.ts';
import { nameCalls } from '../wire/call-ids.ts';
import type { ReplyPart } from '../wire/reply-parts.ts';
import { signParts } from '../wire/reply-parts.ts';
import type { ModelResponse, ReplyEnd, ReplyMapper } from '../wire/reply-reader.ts';
import { FORMAT } from './request-body.ts';

/** One output item as far as it has arrived. */
interface Item {
  readonly index: number;
  readonly type: 'message' | 'reasoning' | 'function_call' | 'other';
  /** What was shown of it, or a call's arguments. */
  readonly text: string;
  readonly id: string;
  /** The id by which a call's result names it. */
  readonly callId: string;
  readonly name: string;
  readonly encrypted: string;
}

interface ReplyState {
  /** By the service's own index. */
  readonly items: readonly Item[];
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
  readonly isDone: boolean;
}

type Step = readonly [ReplyState, readonly ModelEvent[]];

const EMPTY_REPLY: ReplyState = { items: [], finish: undefined, usage: undefined, isDone: false };

const TYPES: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call']);

/** The meaning of a response, streamed or whole. */
export function responsesReply(request: ModelRequest): ReplyMapper<ReplyState> {
  return {
    start: EMPTY_REPLY,
    map: mapEvent,
    isFinished: ({ isDone }) => isDone,
    isDone: ({ isDone }) => isDone,
    finish: (state, end) => finishReply(state, end, request),
    unpack(raw) {
      const body = asObject(raw);
      if (body === undefined || !Array.isArray(body.output)) return undefined;
      return [{ type: `response.${asText(body.status) ?? 'completed'}`, response: body }];
    },
    namesEvents: true,
    failureRoot: (event) =>
      event.type === 'response.failed' ? { error: asObject(event.response)?.error ?? 'the response failed' } : event,
  };
}

function mapEvent(state: ReplyState, event: JsonObject): Step {
  const index = typeof event.output_index === 'number' ? event.output_index : -1;
  switch (event.type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      return mergeItem(state, index, asObject(event.item));
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return grow(state, index, 'message', asText(event.delta) ?? '');
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return grow(state, index, 'reasoning', asText(event.delta) ?? '');
    case 'response.reasoning_summary_part.added':
      return typeof event.summary_index === 'number' && event.summary_index > 0 ? grow(state, index, 'reasoning', '\n\n') : [state, []];
    case 'response.function_call_arguments.delta':
      return grow(state, index, 'function_call', asText(event.delta) ?? '');
    case 'response.completed':
    case 'response.incomplete':
      return complete(state, asObject(event.response) ?? {});
    default:
      return [state, []];
  }
}

function tell(type: Item['type'], text: string): readonly ModelEvent[] {
  if (text === '') return [];
  if (type === 'message') return [{ type: 'text_delta', text }];
  return type === 'reasoning' ? [{ type: 'reasoning_delta', text }] : [];
}

function grow(state: ReplyState, index: number, type: Item['type'], text: string): Step {
  const at = state.items.findIndex((item) => item.index === index);
  const item = state.items[at] ?? newItem(index, type);
  const grown = { ...item, text: item.text + text };
  return [{ ...state, items: at === -1 ? [...state.items, grown] : state.items.with(at, grown) }, tell(item.type, text)];
}

function newItem(index: number, type: Item['type']): Item {
  return { index, type, text: '', id: '', callId: '', name: '', encrypted: '' };
}

/** An item is told when it begins and again, whole, when it ends; what was not told before is told then. */
function mergeItem(state: ReplyState, index: number, raw: JsonObject | undefined): Step {
  if (raw === undefined) return [state, []];
  const at = state.items.findIndex((item) => item.index === index);
  const told = asText(raw.type) ?? '';
  const before = state.items[at] ?? newItem(index, TYPES.has(told) ? (told as Item['type']) : 'other');
  const whole = wholeText(before.type, raw);
  const text = whole.startsWith(before.text) ? whole : before.text;
  const item: Item = {
    ...before,
    text,
    id: asText(raw.id) ?? before.id,
    callId: asText(raw.call_id) ?? before.callId,
    name: asText(raw.name) ?? before.name,
    encrypted: asText(raw.encrypted_content) ?? before.encrypted,
  };
  return [
    { ...state, items: at === -1 ? [...state.items, item] : state.items.with(at, item) },
    tell(item.type, text.slice(before.text.length)),
  ];
}

function wholeText(type: Item['type'], raw: JsonObject): string {
  if (type === 'function_call') return asText(raw.arguments) ?? '';
  const listOf = (value: unknown): readonly string[] =>
    (Array.isArray(value) ? value : []).map((part) => asText(asObject(part)?.text) ?? asText(asObject(part)?.refusal) ?? '');
  if (type === 'message') return listOf(raw.content).join('');
  const summary = listOf(raw.summary);
  return type === 'reasoning' ? (summary.length > 0 ? summary.join('\n\n') : listOf(raw.content).join('')) : '';
}

function complete(before: ReplyState, response: JsonObject): Step {
  let state = before;
  const events: ModelEvent[] = [];
  for (const [index, raw] of (Array.isArray(response.output) ? response.output : []).entries()) {
    const [next, told] = mergeItem(state, index, asObject(raw));
    state = next;
    events.push(...told);
  }
  const reason = asText(asObject(response.incomplete_details)?.reason);
  const isCut = reason !== undefined || response.status === 'incomplete';
  const finish: FinishReason = !isCut ? 'stop' : reason === 'content_filter' ? 'content_filter' : 'length';
  return [{ ...state, finish, isDone: true, usage: readUsage(response.usage) ?? state.usage }, events];
}

/** `input_tokens` includes what the cache gave. */
function readUsage(raw: unknown): Usage | undefined {
  const usage = asObject(raw);
  const input = asCount(usage?.input_tokens);
  const output = asCount(usage?.output_tokens);
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  const cached = asCount(asObject(usage.input_tokens_details)?.cached_tokens);
  return {
    input: Math.max(0, (input ?? 0) - (cached ?? 0)),
    output: output ?? 0,
    ...(cached === undefined ? {} : { cache_read: cached }),
    estimated: false,
  };
}

function finishReply(state: ReplyState, end: ReplyEnd, request: ModelRequest): ModelResponse {
  if (state.finish === undefined) {
    throw new ProviderError('stream_incomplete', 'the reply ended before the model had finished', {
      value: `${end} without a completed response`,
      retryable: true,
    });
  }
  const items = state.items.toSorted((a, b) => a.index - b.index);
  const drafts = items.filter(({ type }) => type === 'function_call');
  if (drafts.some(({ name }) => name === '')) {
    throw new ProviderError('invalid_response', 'the reply holds a tool call without a name', { retryable: true });
  }
  const finish = drafts.length > 0 && state.finish === 'stop' ? 'tool_calls' : state.finish;
  const calls = nameCalls(
    drafts.map(({ callId, name, text }) => ({ id: callId, name, arguments: text })),
    finish === 'tool_calls',
    request,
  );
  let at = 0;
  const parts = items.flatMap((item) => partOf(item, () => calls[at++]));
  const join = (wanted: Item['type']): string => items.map(({ type, text }) => (type === wanted ? text : '')).join('');
  const signature = signParts(FORMAT, parts);
  const reasoning = join('reasoning');
  const message: AssistantMessage = {
    role: 'assistant',
    content: join('message'),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(signature === undefined ? {} : { reasoningSignature: signature }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
  return { type: 'response', message, finish, ...(state.usage === undefined ? {} : { usage: state.usage }) };
}

function partOf(item: Item, nextCall: () => ReturnType<typeof nameCalls>[number] | undefined): readonly ReplyPart[] {
  switch (item.type) {
    case 'message':
      return item.text === '' ? [] : [{ kind: 'text', text: item.text }];
    case 'reasoning': {
      const sign = JSON.stringify({ id: item.id, encrypted_content: item.encrypted });
      return [{ kind: 'reasoning', text: item.text, ...(item.encrypted === '' ? {} : { sign }) }];
    }
    case 'function_call': {
      const call = nextCall();
      return call === undefined ? [] : [{ kind: 'call', call }];
    }
    default:
      return [];
  }
}

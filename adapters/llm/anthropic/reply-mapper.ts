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

/** One content block as far as it has arrived. */
interface Block {
  readonly index: number;
  readonly type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use' | 'other';
  /** Text, thinking, or the JSON of a tool's input. */
  readonly text: string;
  /** The signature of thinking, or the data of thinking that is not shown. */
  readonly sign: string;
  readonly id: string;
  readonly name: string;
}

/** Counts as the service reported them; it repeats and completes them on the way. */
interface Counts {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

interface ReplyState {
  readonly blocks: readonly Block[];
  readonly counts: Counts;
  readonly stopReason: string | undefined;
  readonly isDone: boolean;
}

const EMPTY_REPLY: ReplyState = { blocks: [], counts: {}, stopReason: undefined, isDone: false };

const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** The meaning of a message, streamed or whole. */
export function messagesReply(request: ModelRequest): ReplyMapper<ReplyState> {
  return {
    start: EMPTY_REPLY,
    map: mapEvent,
    isFinished: ({ stopReason }) => stopReason !== undefined,
    isDone: ({ isDone }) => isDone,
    finish: (state, end) => finishReply(state, end, request),
    unpack(raw) {
      const body = asObject(raw);
      return body?.type === 'message' && Array.isArray(body.content) ? [body] : undefined;
    },
    namesEvents: true,
  };
}

function mapEvent(state: ReplyState, event: JsonObject): readonly [ReplyState, readonly ModelEvent[]] {
  switch (event.type) {
    case 'message_start':
      return [{ ...state, counts: mergeCounts(state.counts, asObject(event.message)?.usage) }, []];
    case 'content_block_start':
      return startBlock(state, event.index, asObject(event.content_block));
    case 'content_block_delta':
      return growBlock(state, event.index, asObject(event.delta));
    case 'message_delta': {
      const stopReason = asText(asObject(event.delta)?.stop_reason) ?? state.stopReason;
      return [{ ...state, stopReason, counts: mergeCounts(state.counts, event.usage) }, []];
    }
    case 'message_stop':
      return [{ ...state, isDone: true }, []];
    case 'message':
      return mapWhole(state, event);
    default:
      return [state, []];
  }
}

function mapWhole(before: ReplyState, message: JsonObject): readonly [ReplyState, readonly ModelEvent[]] {
  let state: ReplyState = { ...before, stopReason: asText(message.stop_reason), counts: mergeCounts(before.counts, message.usage) };
  const events: ModelEvent[] = [];
  for (const [index, raw] of (message.content as unknown[]).entries()) {
    const [next, told] = startBlock(state, index, asObject(raw));
    state = next;
    events.push(...told);
  }
  return [state, events];
}

const KINDS: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

function startBlock(state: ReplyState, index: unknown, raw: JsonObject | undefined): readonly [ReplyState, readonly ModelEvent[]] {
  const type = asText(raw?.type) ?? '';
  const input = asObject(raw?.input);
  const block: Block = {
    index: typeof index === 'number' ? index : state.blocks.length,
    type: KINDS.has(type) ? (type as Block['type']) : 'other',
    text:
      asText(raw?.text) ?? asText(raw?.thinking) ?? (input === undefined || Object.keys(input).length === 0 ? '' : JSON.stringify(input)),
    sign: asText(raw?.signature) ?? asText(raw?.data) ?? '',
    id: asText(raw?.id) ?? '',
    name: asText(raw?.name) ?? '',
  };
  return [{ ...state, blocks: [...state.blocks, block] }, tell(block.type, block.text)];
}

function growBlock(state: ReplyState, index: unknown, delta: JsonObject | undefined): readonly [ReplyState, readonly ModelEvent[]] {
  const at = state.blocks.findLastIndex((block) => block.index === index);
  const block = state.blocks[at];
  if (block === undefined || delta === undefined) return [state, []];
  const more = asText(delta.text) ?? asText(delta.thinking) ?? asText(delta.partial_json) ?? '';
  const grown = { ...block, text: block.text + more, sign: block.sign + (asText(delta.signature) ?? '') };
  return [{ ...state, blocks: state.blocks.with(at, grown) }, tell(block.type, more)];
}

function tell(type: Block['type'], text: string): readonly ModelEvent[] {
  if (text === '') return [];
  if (type === 'text') return [{ type: 'text_delta', text }];
  return type === 'thinking' ? [{ type: 'reasoning_delta', text }] : [];
}

function mergeCounts(before: Counts, raw: unknown): Counts {
  const usage = asObject(raw);
  if (usage === undefined) return before;
  const keep = <K extends keyof Counts>(key: K, value: number | undefined): Counts => (value === undefined ? {} : { [key]: value });
  return {
    ...before,
    ...keep('input', asCount(usage.input_tokens)),
    ...keep('output', asCount(usage.output_tokens)),
    ...keep('cacheRead', asCount(usage.cache_read_input_tokens)),
    ...keep('cacheWrite', asCount(usage.cache_creation_input_tokens)),
  };
}

function readUsage({ input, output, cacheRead, cacheWrite }: Counts): Usage | undefined {
  if (input === undefined && output === undefined) return undefined;
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
    estimated: false,
  };
}

function finishReply(state: ReplyState, end: ReplyEnd, request: ModelRequest): ModelResponse {
  if (state.stopReason === undefined) {
    throw new ProviderError('stream_incomplete', 'the reply ended before the model had finished', {
      value: `${end} without a stop reason`,
      retryable: true,
    });
  }
  const uses = state.blocks.filter(({ type }) => type === 'tool_use');
  if (uses.some(({ name }) => name === '')) {
    throw new ProviderError('invalid_response', 'the reply holds a tool call without a name', { retryable: true });
  }
  const told = FINISH[state.stopReason] ?? 'stop';
  const finish = uses.length > 0 && told === 'stop' ? 'tool_calls' : told;
  const calls = nameCalls(
    uses.map(({ id, name, text }) => ({ id, name, arguments: text })),
    finish === 'tool_calls',
    request,
  );
  let at = 0;
  const parts = state.blocks.flatMap((block) => partOf(block, () => calls[at++]));
  const signature = signParts(FORMAT, parts);
  const join = (wanted: Block['type']): string => state.blocks.map(({ type, text }) => (type === wanted ? text : '')).join('');
  const reasoning = join('thinking');
  const message: AssistantMessage = {
    role: 'assistant',
    content: join('text'),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(signature === undefined ? {} : { reasoningSignature: signature }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
  const usage = readUsage(state.counts);
  return { type: 'response', message, finish, ...(usage === undefined ? {} : { usage }) };
}

function partOf(block: Block, nextCall: () => ReturnType<typeof nameCalls>[number] | undefined): readonly ReplyPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ kind: 'text', text: block.text }];
    case 'thinking':
      return [{ kind: 'reasoning', text: block.text, ...(block.sign === '' ? {} : { sign: block.sign }) }];
    case 'redacted_thinking':
      return [{ kind: 'hidden', sign: block.sign }];
    case 'tool_use': {
      const call = nextCall();
      return call === undefined ? [] : [{ kind: 'call', call }];
    }
    default:
      return [];
  }
}

import type { ModelRequest, ThinkingLevel, ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, Message, ToolCall } from '../../../ports/message.ts';
import type { Dialect, ReasoningReplay } from '../dialects.ts';
import { asObject, parseJson } from '../json-reading.ts';
import { wireCallId } from '../wire/call-ids.ts';
import type { Features } from '../wire/model-call.ts';

/** What a service turned out to understand; starts from its dialect and only ever loses things. */
export interface WireFeatures extends Features {
  readonly streamOptions: boolean;
  readonly includeReasoning: boolean;
  readonly temperature: boolean;
  readonly maxTokensField: Dialect['maxTokensField'];
  readonly reasoningReplay: ReasoningReplay;
  /** Sends an empty reasoning field with tool calls that have no reasoning. */
  readonly fillReasoning: boolean;
}

export interface BodyEncoder {
  /** The request as JSON bytes, in a few pieces. They are used again: do not write to them. */
  encode(request: ModelRequest, features: WireFeatures): readonly Uint8Array[];
}

const utf8 = new TextEncoder();
const NO_TOOLS = new Uint8Array();

/** Any visible ASCII. */
const CALL_ID_CHARACTER = /[\x21-\x7e]/;

/**
 * Builds request bodies for the provider `id`. Each message and each tool list is serialised once, however many requests
 * carry it; the caches let go of it together with its owner.
 */
export function createBodyEncoder(id: string, dialect: Dialect): BodyEncoder {
  const plain = new WeakMap<Message, Uint8Array>();
  const withReasoning = new WeakMap<Message, Uint8Array>();
  const joined = createJoiner();
  const toolLists = new WeakMap<readonly ToolDefinition[], Uint8Array>();

  const messageBytes = (message: Message, features: WireFeatures): Uint8Array => {
    const reasoning = message.role === 'assistant' ? replayedReasoning(message, id, features) : undefined;
    const cache = reasoning === undefined ? plain : withReasoning;
    let bytes = cache.get(message);
    if (bytes === undefined) {
      bytes = utf8.encode(`,${JSON.stringify(wireMessage(message, reasoning, dialect))}`);
      cache.set(message, bytes);
    }
    return bytes;
  };
  const toolBytes = (tools: readonly ToolDefinition[]): Uint8Array => {
    if (tools.length === 0) return NO_TOOLS;
    let bytes = toolLists.get(tools);
    if (bytes === undefined) {
      bytes = utf8.encode(`,"tools":${JSON.stringify(tools.map(wireTool))}`);
      toolLists.set(tools, bytes);
    }
    return bytes;
  };
  return {
    encode(request, features) {
      const model = dialect.modelAliases[request.model] ?? request.model;
      const messages = joined.join(request.messages.map((message) => messageBytes(message, features)));
      const rest = JSON.stringify(wireSettings(request, features, dialect));
      return [
        utf8.encode(`{"model":${JSON.stringify(model)},"messages":[`),
        // Each message brings the comma before it.
        messages.subarray(1),
        utf8.encode(']'),
        toolBytes(request.tools),
        utf8.encode(rest === '{}' ? '}' : `,${rest.slice(1)}`),
      ];
    },
  };
}

interface Joiner {
  /** All pieces as one run of bytes, which is valid for good: what it covers is never written again. */
  join(pieces: readonly Uint8Array[]): Uint8Array;
}

/**
 * Joins lists that mostly grow at their end, so that only what is new is copied. A list that is not
 * the last one and more begins a buffer of its own, as the old one may still be on its way to a socket.
 */
function createJoiner(): Joiner {
  let held: readonly Uint8Array[] = [];
  let buffer = new Uint8Array(0);
  let length = 0;
  return {
    join(pieces) {
      const grows = pieces.length >= held.length && held.every((piece, index) => piece === pieces[index]);
      const kept = grows ? held.length : 0;
      const start = grows ? length : 0;
      const total = pieces.slice(kept).reduce((sum, piece) => sum + piece.byteLength, start);
      if (!grows || total > buffer.byteLength) {
        const larger = new Uint8Array(total + (total >> 1));
        larger.set(buffer.subarray(0, start));
        buffer = larger;
      }
      length = start;
      for (const piece of pieces.slice(kept)) {
        buffer.set(piece, length);
        length += piece.byteLength;
      }
      held = pieces;
      return buffer.subarray(0, length);
    },
  };
}

function replayedReasoning(message: AssistantMessage, id: string, features: WireFeatures): string | undefined {
  const hasCalls = (message.toolCalls?.length ?? 0) > 0;
  const isOwn = message.origin === undefined || message.origin === id;
  if (features.reasoningReplay === 'never' || (features.reasoningReplay === 'on_tool_calls' && !hasCalls)) return undefined;
  return (isOwn ? message.reasoning : undefined) ?? (features.fillReasoning && hasCalls ? '' : undefined);
}

function wireMessage(message: Message, reasoning: string | undefined, dialect: Dialect): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: callId(message.callId, dialect), content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const calls = message.toolCalls ?? [];
  return {
    role: 'assistant',
    content: calls.length > 0 && message.content === '' ? null : message.content,
    ...(reasoning === undefined ? {} : { [dialect.reasoningField]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wireCall(call, dialect)) }),
  };
}

/** Services parse earlier arguments again and refuse the whole conversation when one call's are not an object. */
function wireCall(call: ToolCall, dialect: Dialect): object {
  const isObject = asObject(parseJson(call.arguments)?.value) !== undefined;
  return { id: callId(call.id, dialect), type: 'function', function: { name: call.name, arguments: isObject ? call.arguments : '{}' } };
}

function callId(id: string, { maxCallId }: Dialect): string {
  return maxCallId === undefined ? id : wireCallId(id, { allowed: CALL_ID_CHARACTER, maxLength: maxCallId });
}

function wireTool({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', function: { name, description, parameters } };
}

function wireSettings(request: ModelRequest, features: WireFeatures, dialect: Dialect): object {
  const stream = request.stream && features.stream;
  return {
    ...(stream ? { stream: true } : {}),
    ...(stream && features.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(features.includeReasoning && request.thinking !== 'disabled' ? { include_reasoning: true } : {}),
    ...(request.maxTokens === undefined ? {} : { [features.maxTokensField]: request.maxTokens }),
    ...(request.temperature === undefined || !features.temperature ? {} : { temperature: request.temperature }),
    ...wireThinking(request.thinking, request.model, dialect),
  };
}

function wireThinking(level: ThinkingLevel | undefined, model: string, { thinking }: Dialect): object {
  if (level === undefined) return {};
  const disabled = level === 'disabled';
  switch (thinking) {
    case 'effort':
      return { reasoning_effort: disabled ? 'none' : level };
    case 'reasoning_object':
      return { reasoning: disabled ? { enabled: false } : { effort: level } };
    case 'object':
      return { thinking: { type: disabled ? 'disabled' : 'enabled' } };
    case 'template':
      return { chat_template_kwargs: { enable_thinking: !disabled }, ...(disabled ? {} : { reasoning_effort: level }) };
    default:
      return objectAndEffort(level, model);
  }
}

function objectAndEffort(level: ThinkingLevel, model: string): object {
  // This model has no other way to think less.
  if (level === 'disabled' && model.startsWith('glm-5.3')) return { thinking: { type: 'enabled' }, reasoning_effort: 'low' };
  if (level === 'disabled') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled' }, reasoning_effort: level === 'medium' ? 'high' : level };
}

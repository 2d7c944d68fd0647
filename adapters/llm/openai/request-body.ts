import type { ModelRequest, ThinkingLevel, ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, Message } from '../../../ports/message.ts';
import type { Dialect, ReasoningReplay } from '../dialects.ts';
import { asObject, parseJson } from '../json-reading.ts';

/** What a service turned out to understand; starts from its dialect and only ever loses things. */
export interface WireFeatures {
  readonly stream: boolean;
  readonly streamOptions: boolean;
  readonly includeReasoning: boolean;
  readonly temperature: boolean;
  readonly maxTokensField: Dialect['maxTokensField'];
  readonly reasoningReplay: ReasoningReplay;
  /** Sends an empty reasoning field with tool calls that have no reasoning. */
  readonly fillReasoning: boolean;
}

export interface BodyEncoder {
  /** The request as JSON bytes, in pieces. Pieces of unchanged messages are reused: do not write to them. */
  encode(request: ModelRequest, features: WireFeatures): readonly Uint8Array[];
}

const utf8 = new TextEncoder();
const NO_TOOLS = new Uint8Array();

/**
 * Builds request bodies. Each message and each tool list is serialised once, however many requests
 * carry it; the caches let go of it together with its owner.
 */
export function createBodyEncoder(dialect: Dialect): BodyEncoder {
  const plain = new WeakMap<Message, Uint8Array>();
  const withReasoning = new WeakMap<Message, Uint8Array>();
  const toolLists = new WeakMap<readonly ToolDefinition[], Uint8Array>();

  const messageBytes = (message: Message, features: WireFeatures): Uint8Array => {
    const reasoning = message.role === 'assistant' ? replayedReasoning(message, features) : undefined;
    const cache = reasoning === undefined ? plain : withReasoning;
    let bytes = cache.get(message);
    if (bytes === undefined) {
      bytes = utf8.encode(`,${JSON.stringify(wireMessage(message, reasoning, dialect.reasoningField))}`);
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
      const pieces: Uint8Array[] = [utf8.encode(`{"model":${JSON.stringify(model)},"messages":[`)];
      for (const [index, message] of request.messages.entries()) {
        const bytes = messageBytes(message, features);
        pieces.push(index === 0 ? bytes.subarray(1) : bytes);
      }
      pieces.push(utf8.encode(']'), toolBytes(request.tools));
      const rest = JSON.stringify(wireSettings(request, features, dialect));
      pieces.push(utf8.encode(rest === '{}' ? '}' : `,${rest.slice(1)}`));
      return pieces;
    },
  };
}

function replayedReasoning(message: AssistantMessage, features: WireFeatures): string | undefined {
  const hasCalls = (message.toolCalls?.length ?? 0) > 0;
  if (features.reasoningReplay === 'never' || (features.reasoningReplay === 'on_tool_calls' && !hasCalls)) return undefined;
  return message.reasoning ?? (features.fillReasoning && hasCalls ? '' : undefined);
}

function wireMessage(message: Message, reasoning: string | undefined, reasoningField: string): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const calls = message.toolCalls ?? [];
  return {
    role: 'assistant',
    content: calls.length > 0 && message.content === '' ? null : message.content,
    ...(reasoning === undefined ? {} : { [reasoningField]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
  };
}

/** Services parse earlier arguments again and refuse the whole conversation when one call's are not an object. */
function wireCall(call: { id: string; name: string; arguments: string }): object {
  const isObject = asObject(parseJson(call.arguments)?.value) !== undefined;
  return { id: call.id, type: 'function', function: { name: call.name, arguments: isObject ? call.arguments : '{}' } };
}

function wireTool({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', function: { name, description, parameters } };
}

function wireSettings(request: ModelRequest, features: WireFeatures, dialect: Dialect): object {
  const stream = request.stream && features.stream;
  return {
    ...(stream ? { stream: true } : {}),
    ...(stream && features.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(features.includeReasoning ? { include_reasoning: true } : {}),
    ...(request.maxTokens === undefined ? {} : { [features.maxTokensField]: request.maxTokens }),
    ...(request.temperature === undefined || !features.temperature ? {} : { temperature: request.temperature }),
    ...wireThinking(request.thinking, request.model, dialect),
  };
}

function wireThinking(level: ThinkingLevel | undefined, model: string, dialect: Dialect): object {
  if (level === undefined) return {};
  const disabled = level === 'disabled';
  if (dialect.thinking === 'effort') return { reasoning_effort: disabled ? 'none' : level };
  if (dialect.thinking === 'object') return { thinking: { type: disabled ? 'disabled' : 'enabled' } };
  if (disabled && model.startsWith('glm-5.3')) return { thinking: { type: 'enabled' }, reasoning_effort: 'low' };
  if (disabled) return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled' }, reasoning_effort: level === 'medium' ? 'high' : level };
}

import type { ModelRequest, ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, SystemMessage, ToolMessage, UserMessage } from '../../../ports/message.ts';
import { outputCapOf } from '../model-table.ts';
import type { CallIdRule } from '../wire/call-ids.ts';
import { wireCallId } from '../wire/call-ids.ts';
import type { ReplyPart } from '../wire/reply-parts.ts';
import { partsOf } from '../wire/reply-parts.ts';
import type { BlockEncoder } from '../wire/turns.ts';
import { argumentsObject, createBlockCache, encodeTurns, splitHead, systemNote, turnHeads } from '../wire/turns.ts';
import type { MessagesFeatures } from './features.ts';
import { type AnthropicOptions, MIN_BUDGET } from './options.ts';

/** The name under which this format's signed reasoning is stored. */
export const FORMAT = 'anthropic';

const CALL_IDS: CallIdRule = { allowed: /[A-Za-z0-9_-]/, maxLength: 64 };
const MARKER = { cache_control: { type: 'ephemeral' } };
/** The format has no default of its own. */
const UNKNOWN_OUTPUT_CAP = 8_192;
/** Room for the answer beside the thinking. */
const ANSWER_ROOM = 1_024;

const HEADS = turnHeads({ assistant: 'assistant', blocks: 'content' });

const utf8 = new TextEncoder();

export interface MessagesEncoder {
  /** The request as JSON bytes, in pieces. Pieces of unchanged messages are reused: do not write to them. */
  encode(request: ModelRequest, features: MessagesFeatures): readonly Uint8Array[];
}

/** Builds request bodies. Each message is serialised once for each way in which it can be sent. */
export function createMessagesEncoder({ endpoint: { id }, thinkingBudget }: AnthropicOptions): MessagesEncoder {
  const systems = createMarkedCache((message: SystemMessage) => [{ type: 'text', text: message.content }]);
  const users = createMarkedCache((message: UserMessage | SystemMessage) => textBlocks(userText(message)));
  const results = createBlockCache((message: ToolMessage) => [resultBlock(message)]);
  const replayed = createBlockCache((message: AssistantMessage) => partsOf(message, FORMAT, id).flatMap(partBlock));
  const forgotten = createBlockCache((message: AssistantMessage) => partsOf(message, '', id).flatMap(partBlock));
  const tools = createMarkedCache((list: readonly ToolDefinition[]) => list.map(toolBlock));

  const blocks = (features: MessagesFeatures): BlockEncoder => ({
    user: (message, isFirst) => users(message, isFirst && features.cacheMarkers),
    result: results,
    assistant: features.replay ? replayed : forgotten,
    filler: (text) => utf8.encode(JSON.stringify({ type: 'text', text })),
  });
  return {
    encode(request, features) {
      const { head, rest } = splitHead(request.messages);
      // The base prompt and the memory behind it; what follows changes too often.
      const system = head
        .filter(({ content }) => content.trim() !== '')
        .map((message, at) => systems(message, features.cacheMarkers && at < 2));
      const settings = JSON.stringify(wireSettings(request, features, thinkingBudget, id));
      return [
        utf8.encode(`{"model":${JSON.stringify(request.model)},"messages":[`),
        ...encodeTurns(rest, blocks(features), HEADS),
        utf8.encode(']'),
        ...list('system', system),
        ...list('tools', request.tools.length === 0 ? [] : [tools(request.tools, features.cacheMarkers)]),
        utf8.encode(`,${settings.slice(1)}`),
      ];
    },
  };
}

function list(key: string, items: readonly Uint8Array[]): readonly Uint8Array[] {
  if (items.length === 0) return [];
  const joined = items.flatMap((item, at) => (at === 0 ? [item] : [utf8.encode(','), item]));
  return [utf8.encode(`,"${key}":[`), ...joined, utf8.encode(']')];
}

/** Blocks with and without the cache marker on the last one. */
function createMarkedCache<Key extends object>(encode: (key: Key) => readonly object[]): (key: Key, marked: boolean) => Uint8Array {
  const plain = createBlockCache(encode);
  const marked = createBlockCache((key: Key) => {
    const blocks = encode(key);
    return blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...MARKER } : block));
  });
  return (key, isMarked) => (isMarked ? marked(key) : plain(key));
}

function userText(message: UserMessage | SystemMessage): string {
  return message.role === 'user' ? message.content : systemNote(message);
}

/** The service refuses blank text blocks. */
function textBlocks(text: string): readonly object[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function resultBlock({ callId, content, outcome }: ToolMessage): object {
  const failed = outcome !== 'completed';
  return { type: 'tool_result', tool_use_id: wireCallId(callId, CALL_IDS), content, ...(failed ? { is_error: true } : {}) };
}

function partBlock(part: ReplyPart): readonly object[] {
  switch (part.kind) {
    case 'reasoning':
      return part.sign === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature: part.sign }];
    case 'hidden':
      return [{ type: 'redacted_thinking', data: part.sign }];
    case 'text':
      return textBlocks(part.text);
    default:
      return [
        {
          type: 'tool_use',
          id: wireCallId(part.call.id, CALL_IDS),
          name: part.call.name,
          input: argumentsObject(part.call.arguments),
        },
      ];
  }
}

function toolBlock({ name, description, parameters }: ToolDefinition): object {
  return { name, description, input_schema: { type: 'object', ...parameters } };
}

function wireSettings(request: ModelRequest, features: MessagesFeatures, budget: number, id: string): object {
  const wished = request.maxTokens ?? outputCapOf(request.model) ?? UNKNOWN_OUTPUT_CAP;
  const maxTokens = Math.min(wished, features.maxOutput ?? wished);
  const thinking = wireThinking(request, features, Math.min(budget, maxTokens - ANSWER_ROOM), id);
  const isThinking = 'thinking' in thinking && request.thinking !== 'disabled';
  // Thinking and any other temperature exclude each other.
  const temperature = request.temperature === undefined ? undefined : isThinking ? 1 : request.temperature;
  return {
    max_tokens: maxTokens,
    ...(temperature === undefined || !features.temperature ? {} : { temperature: Math.min(temperature, 1) }),
    ...thinking,
    ...(request.stream && features.stream ? { stream: true } : {}),
  };
}

function wireThinking(request: ModelRequest, features: MessagesFeatures, budget: number, id: string): object {
  const level = request.thinking;
  if (level === undefined) return {};
  if (level === 'disabled') return features.sendDisabled ? { thinking: { type: 'disabled' } } : {};
  if (features.thinking === 'adaptive') {
    const shown = features.display ? { display: 'summarized' } : {};
    return { thinking: { type: 'adaptive', ...shown }, output_config: { effort: level } };
  }
  // A budget below the least, or a tool call whose thinking is not at hand, leaves thinking out of this answer.
  if (budget < MIN_BUDGET || lacksThinking(request, features, id)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Whether the tool calls that are being answered were made by somebody whose thinking cannot be sent. */
function lacksThinking({ messages }: ModelRequest, { replay }: MessagesFeatures, id: string): boolean {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const last = messages[at];
  if (last?.role !== 'assistant' || (last.toolCalls?.length ?? 0) === 0) return false;
  if (messages.slice(at).some((message) => message.role === 'user')) return false;
  const [first] = replay ? partsOf(last, FORMAT, id) : [];
  return first?.kind !== 'reasoning' && first?.kind !== 'hidden';
}

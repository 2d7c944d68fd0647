import type { ModelRequest, ThinkingLevel, ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, SystemMessage, ToolMessage, UserMessage } from '../../../ports/message.ts';
import { isSyntheticId } from '../wire/call-ids.ts';
import type { ReplyPart } from '../wire/reply-parts.ts';
import { partsOf } from '../wire/reply-parts.ts';
import type { BlockEncoder } from '../wire/turns.ts';
import { argumentsObject, createBlockCache, encodeTurns, splitHead, systemNote, turnHeads } from '../wire/turns.ts';
import type { GeminiFeatures } from './features.ts';
import { isThirdGeneration } from './features.ts';
import type { GeminiOptions } from './options.ts';
import { toGeminiSchema } from './schema.ts';

/** The name under which this format's signatures are stored. */
export const FORMAT = 'gemini';

/** The value that the service documents for calls that another model made. */
const PLACEHOLDER = 'skip_thought_signature_validator';

/** Tokens of thinking for models whose levels are numbers. */
const BUDGETS: Readonly<Record<ThinkingLevel, number>> = { disabled: 0, low: 1_024, medium: 8_192, high: 24_576 };
/** The least for the models that cannot stop thinking. */
const PRO_MINIMUM = 128;

const HEADS = turnHeads({ assistant: 'model', blocks: 'parts' });

const utf8 = new TextEncoder();

export interface GeminiEncoder {
  /** The request as JSON bytes, in pieces. Pieces of unchanged messages are reused: do not write to them. */
  encode(request: ModelRequest, features: GeminiFeatures): readonly Uint8Array[];
}

/** Builds request bodies. Each message is serialised once for each way in which it can be sent. */
export function createGeminiEncoder({ endpoint: { id }, replay }: GeminiOptions): GeminiEncoder {
  const format = replay ? FORMAT : '';
  const texts = createBlockCache((message: UserMessage | SystemMessage) =>
    textParts(message.role === 'user' ? message.content : systemNote(message)),
  );
  const results = createBlockCache((message: ToolMessage) => [resultPart(message, false)]);
  const resultsWithId = createBlockCache((message: ToolMessage) => [resultPart(message, true)]);
  const plain = createBlockCache((message: AssistantMessage) => assistantParts(partsOf(message, format, id), false));
  const marked = createBlockCache((message: AssistantMessage) => assistantParts(partsOf(message, format, id), true));
  const tools = createBlockCache((list: readonly ToolDefinition[]) => [{ tools: [{ functionDeclarations: list.map(declaration) }] }]);

  const known = new WeakMap<AssistantMessage, readonly string[]>();
  /** Ids of calls that this service made, which it wants back; read once for each message. */
  const ownIds = (message: AssistantMessage): readonly string[] => {
    let ids = known.get(message);
    if (ids === undefined) {
      const isOwn = isSigned(partsOf(message, format, id));
      ids = isOwn ? (message.toolCalls ?? []).map((call) => call.id).filter((callId) => !isSyntheticId(callId)) : [];
      known.set(message, ids);
    }
    return ids;
  };

  return {
    encode(request, features) {
      const { head, rest } = splitHead(request.messages);
      const own = new Set(rest.flatMap((message) => (message.role === 'assistant' ? ownIds(message) : [])));
      const blocks: BlockEncoder = {
        user: texts,
        result: (message) => (own.has(message.callId) ? resultsWithId : results)(message),
        assistant: features.placeholder ? marked : plain,
        filler: (text) => utf8.encode(JSON.stringify({ text })),
      };
      const settings = JSON.stringify(wireSettings(request, features, head));
      return [
        utf8.encode('{"contents":['),
        ...encodeTurns(rest, blocks, HEADS),
        utf8.encode(']'),
        ...(request.tools.length === 0 ? [] : [utf8.encode(','), inner(tools(request.tools))]),
        utf8.encode(settings === '{}' ? '}' : `,${settings.slice(1)}`),
      ];
    },
  };
}

/** The members of an object without its braces. */
function inner(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(1, -1);
}

function isSigned(parts: readonly ReplyPart[]): boolean {
  return parts.some((part) => part.sign !== undefined);
}

function textParts(text: string): readonly object[] {
  return text === '' ? [] : [{ text }];
}

function resultPart({ name, content, outcome, callId }: ToolMessage, withId: boolean): object {
  const response = outcome === 'completed' ? { result: content } : { error: content };
  return { functionResponse: { ...(withId ? { id: callId } : {}), name, response } };
}

/** Thoughts themselves are not sent back, only their signatures. */
function assistantParts(parts: readonly ReplyPart[], usePlaceholder: boolean): readonly object[] {
  const isOwn = isSigned(parts);
  const firstCall = parts.find((part) => part.kind === 'call');
  return parts.flatMap((part): readonly object[] => {
    if (part.kind === 'reasoning' || part.kind === 'hidden') return [];
    // Of several calls in one turn the first one carries the signature.
    const sign = part.sign ?? (usePlaceholder && part === firstCall && !isOwn ? PLACEHOLDER : undefined);
    const signed = sign === undefined ? {} : { thoughtSignature: sign };
    if (part.kind === 'text') return part.text === '' && sign === undefined ? [] : [{ text: part.text, ...signed }];
    const { id, name, arguments: args } = part.call;
    const withId = isOwn && !isSyntheticId(id) ? { id } : {};
    return [{ functionCall: { ...withId, name, args: argumentsObject(args) }, ...signed }];
  });
}

function declaration({ name, description, parameters }: ToolDefinition): object {
  const schema = toGeminiSchema(parameters);
  return { name, description, ...(schema === undefined ? {} : { parameters: schema }) };
}

function wireSettings(request: ModelRequest, features: GeminiFeatures, head: readonly SystemMessage[]): object {
  const system = head.filter(({ content }) => content !== '').map(({ content }) => ({ text: content }));
  const thinking = features.thinking ? wireThinking(request) : {};
  const config = {
    ...(request.temperature === undefined || !features.temperature ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
    ...thinking,
  };
  return {
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
  };
}

function wireThinking({ model, thinking: level }: ModelRequest): object {
  if (level === undefined) return {};
  const isPro = model.includes('pro');
  const shown = level === 'disabled' ? {} : { includeThoughts: true };
  if (isThirdGeneration(model)) {
    const least = isPro ? 'low' : 'minimal';
    return { thinkingConfig: { thinkingLevel: level === 'disabled' ? least : level, ...shown } };
  }
  const budget = BUDGETS[level];
  return { thinkingConfig: { thinkingBudget: isPro ? Math.max(PRO_MINIMUM, budget) : budget, ...shown } };
}

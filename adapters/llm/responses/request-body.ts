import type { ModelRequest, ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, Message } from '../../../ports/message.ts';
import { asObject, parseJson } from '../json-reading.ts';
import type { CallIdRule } from '../wire/call-ids.ts';
import { wireCallId } from '../wire/call-ids.ts';
import type { ReplyPart } from '../wire/reply-parts.ts';
import { partsOf } from '../wire/reply-parts.ts';
import { createBlockCache } from '../wire/turns.ts';
import type { ResponsesFeatures } from './features.ts';

/** The name under which this format's encrypted reasoning is stored. */
export const FORMAT = 'openai-responses';

const CALL_IDS: CallIdRule = { allowed: /[\x21-\x7e]/, maxLength: 64 };

const utf8 = new TextEncoder();
const COMMA = utf8.encode(',');

export interface ResponsesEncoder {
  /** The request as JSON bytes, in pieces. Pieces of unchanged messages are reused: do not write to them. */
  encode(request: ModelRequest, features: ResponsesFeatures): readonly Uint8Array[];
}

/** Builds request bodies for the provider `id`. Each message is serialised once for each way in which it can be sent. */
export function createResponsesEncoder(id: string): ResponsesEncoder {
  const replayed = createBlockCache((message: Message) => itemsOf(message, FORMAT, id));
  const forgotten = createBlockCache((message: Message) => itemsOf(message, '', id));
  const tools = createBlockCache((list: readonly ToolDefinition[]) => list.map(toolItem));
  return {
    encode(request, features) {
      const items = request.messages.map(features.replay ? replayed : forgotten).filter((bytes) => bytes.length > 0);
      const settings = JSON.stringify(wireSettings(request, features));
      return [
        utf8.encode(`{"model":${JSON.stringify(request.model)},"input":[`),
        ...items.flatMap((bytes, at) => (at === 0 ? [bytes] : [COMMA, bytes])),
        utf8.encode(']'),
        ...(request.tools.length === 0 ? [] : [utf8.encode(',"tools":['), tools(request.tools), utf8.encode(']')]),
        utf8.encode(`,${settings.slice(1)}`),
      ];
    },
  };
}

function itemsOf(message: Message, format: string, id: string): readonly object[] {
  switch (message.role) {
    case 'tool':
      return [{ type: 'function_call_output', call_id: wireCallId(message.callId, CALL_IDS), output: message.content }];
    case 'assistant':
      return assistantItems(message, format, id);
    default:
      return [{ role: message.role, content: message.content }];
  }
}

function assistantItems(message: AssistantMessage, format: string, id: string): readonly object[] {
  return partsOf(message, format, id).flatMap((part): readonly object[] => {
    switch (part.kind) {
      case 'reasoning':
      case 'hidden':
        return reasoningItem(part);
      case 'text':
        return part.text === '' ? [] : [{ role: 'assistant', content: part.text }];
      default:
        return [
          {
            type: 'function_call',
            call_id: wireCallId(part.call.id, CALL_IDS),
            name: part.call.name,
            arguments: objectText(part.call.arguments),
          },
        ];
    }
  });
}

/** The service reads the encrypted part; the summary was for people. */
function reasoningItem({ sign }: ReplyPart): readonly object[] {
  const item = asObject(parseJson(sign ?? '')?.value);
  return item === undefined ? [] : [{ type: 'reasoning', ...item, summary: [] }];
}

function objectText(text: string): string {
  return asObject(parseJson(text)?.value) === undefined ? '{}' : text;
}

function toolItem({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', name, description, parameters, strict: false };
}

function wireSettings(request: ModelRequest, features: ResponsesFeatures): object {
  const { thinking } = request;
  const effort = thinking === undefined ? {} : { effort: thinking === 'disabled' ? 'none' : thinking };
  const summary = features.summary && thinking !== 'disabled' ? { summary: 'auto' } : {};
  const reasoning = features.reasoning ? { ...effort, ...summary } : {};
  return {
    // Nothing is kept there; what the model thought comes back with the next request.
    store: false,
    ...(features.encrypted ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(request.maxTokens === undefined ? {} : { max_output_tokens: Math.max(16, request.maxTokens) }),
    ...(request.temperature === undefined || !features.temperature ? {} : { temperature: request.temperature }),
    ...(request.stream && features.stream ? { stream: true } : {}),
  };
}

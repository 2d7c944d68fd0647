import type { FinishReason, ModelEvent, ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { AssistantMessage, Usage } from '../../../ports/message.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, asText } from '../json-reading.ts';
import { nameCalls } from '../wire/call-ids.ts';
import type { ModelResponse, ReplyEnd, ReplyMapper } from '../wire/reply-reader.ts';
import type { CallDrafts } from './tool-fragments.ts';
import { addFragment } from './tool-fragments.ts';
import { laterUsage, readUsage } from './usage.ts';

/** The meaning of a chat completion, streamed or whole. */
export function chatReply(rules: FinishRules): ReplyMapper<ReplyState> {
  return {
    start: EMPTY_REPLY,
    map: mapChunk,
    isFinished: ({ finish }) => finish !== undefined,
    finish: (state, end) => finishReply(state, end, rules),
    unpack(raw) {
      const body = asObject(Array.isArray(raw) ? raw[0] : raw);
      return body !== undefined && Array.isArray(body.choices) && body.choices.length > 0 ? [body] : undefined;
    },
  };
}

/** A reply as far as it has arrived. */
interface ReplyState {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: CallDrafts;
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
}

const EMPTY_REPLY: ReplyState = {
  text: '',
  reasoning: '',
  calls: { drafts: [], current: -1 },
  finish: undefined,
  usage: undefined,
};

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
};

/** Finish reasons by which a service says that it failed. */
const FAILED_FINISH: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource', 'network_error']);

/**
 * One step of a reply: a streamed chunk, or a whole buffered completion. Pure.
 * Throws `ProviderError` when the chunk says that the service failed.
 */
function mapChunk(state: ReplyState, chunk: JsonObject): [ReplyState, ModelEvent[]] {
  const usage = laterUsage(state.usage, readUsage(chunk.usage));
  const choice = firstChoice(chunk.choices);
  if (choice === undefined) return [usage === state.usage ? state : { ...state, usage }, []];
  const delta = asObject(choice.delta) ?? asObject(choice.message) ?? {};
  const reasoning = asText(delta.reasoning_content) ?? asText(delta.reasoning) ?? '';
  const text = readContent(delta.content);
  const events: ModelEvent[] = [];
  if (reasoning !== '') events.push({ type: 'reasoning_delta', text: reasoning });
  if (text !== '') events.push({ type: 'text_delta', text });
  const fragments = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const next: ReplyState = {
    text: state.text + text,
    reasoning: state.reasoning + reasoning,
    calls: fragments.reduce(addFragment, state.calls),
    finish: readFinish(choice.finish_reason) ?? state.finish,
    usage: laterUsage(usage, readUsage(choice.usage)),
  };
  return [next, events];
}

function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.map(asObject).find((choice) => choice !== undefined && (choice.index ?? 0) === 0);
}

/** Text, or a list of parts of which the text ones count. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => asText(asObject(part)?.text) ?? '').join('');
}

function readFinish(raw: unknown): FinishReason | undefined {
  const reason = asText(raw);
  if (reason === undefined) return undefined;
  if (FAILED_FINISH.has(reason)) {
    throw new ProviderError('provider_unavailable', `the service gave up on its reply (${reason})`, { value: reason, retryable: true });
  }
  return FINISH[reason] ?? 'stop';
}

interface FinishRules {
  readonly doneWithoutFinish: boolean;
  readonly request: ModelRequest;
}

/** The response that a finished reply stands for. Throws `stream_incomplete` for one that was cut. */
function finishReply(state: ReplyState, end: ReplyEnd, rules: FinishRules): ModelResponse {
  const mayLackFinish = end === 'body' || (end === 'done' && rules.doneWithoutFinish);
  if (state.finish === undefined && !mayLackFinish) {
    throw new ProviderError('stream_incomplete', 'the reply ended before the model had finished', {
      value: end === 'done' ? '[DONE] without a finish reason' : 'end of stream without a finish reason',
      retryable: true,
    });
  }
  const drafts = state.calls.drafts.filter((draft) => draft.name !== '');
  if (drafts.length < state.calls.drafts.length) {
    throw new ProviderError('invalid_response', 'the reply holds a tool call without a name', { retryable: true });
  }
  const finish = drafts.length > 0 && (state.finish ?? 'stop') === 'stop' ? 'tool_calls' : (state.finish ?? 'stop');
  const message: AssistantMessage = {
    role: 'assistant',
    content: state.text,
    ...(state.reasoning === '' ? {} : { reasoning: state.reasoning }),
    ...(drafts.length === 0 ? {} : { toolCalls: nameCalls(drafts, finish === 'tool_calls', rules.request) }),
  };
  return { type: 'response', message, finish, ...(state.usage === undefined ? {} : { usage: state.usage }) };
}

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

/** A part of the turn as far as it has arrived. */
interface Draft {
  readonly kind: 'text' | 'reasoning' | 'call';
  /** Text, or a call's arguments as JSON. */
  readonly text: string;
  readonly sign: string | undefined;
  readonly id: string;
  readonly name: string;
}

interface ReplyState {
  readonly drafts: readonly Draft[];
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
}

const EMPTY_REPLY: ReplyState = { drafts: [], finish: undefined, usage: undefined };

const FINISH: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
};

/** The model stumbled; the same question may go well. */
const FAILED_FINISH: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
]);

/** The meaning of a generated content, streamed or whole. */
export function geminiReply(request: ModelRequest): ReplyMapper<ReplyState> {
  return {
    start: EMPTY_REPLY,
    map: mapChunk,
    isFinished: ({ finish }) => finish !== undefined,
    finish: (state, end) => finishReply(state, end, request),
    unpack(raw) {
      const chunks = [raw].flat().map(asObject);
      const isReply = chunks.length > 0 && chunks.every((chunk) => chunk?.candidates !== undefined || chunk?.promptFeedback !== undefined);
      return isReply ? (chunks as JsonObject[]) : undefined;
    },
  };
}

function mapChunk(before: ReplyState, chunk: JsonObject): readonly [ReplyState, readonly ModelEvent[]] {
  const candidates = Array.isArray(chunk.candidates) ? chunk.candidates.map(asObject) : [];
  const candidate = candidates.find((each) => (each?.index ?? 0) === 0);
  const parts = asObject(candidate?.content)?.parts;
  const events: ModelEvent[] = [];
  let drafts = before.drafts;
  for (const raw of Array.isArray(parts) ? parts : []) {
    const draft = readPart(asObject(raw));
    if (draft === undefined) continue;
    drafts = addDraft(drafts, draft);
    if (draft.kind !== 'call' && draft.text !== '') {
      events.push({ type: draft.kind === 'text' ? 'text_delta' : 'reasoning_delta', text: draft.text });
    }
  }
  const blocked = asText(asObject(chunk.promptFeedback)?.blockReason) === undefined ? undefined : 'content_filter';
  const finish = readFinish(candidate?.finishReason) ?? blocked ?? before.finish;
  return [{ drafts, finish, usage: readUsage(chunk.usageMetadata) ?? before.usage }, events];
}

function readPart(part: JsonObject | undefined): Draft | undefined {
  if (part === undefined) return undefined;
  const sign = asText(part.thoughtSignature);
  const call = asObject(part.functionCall);
  if (call !== undefined) {
    return { kind: 'call', text: JSON.stringify(call.args ?? {}), sign, id: asText(call.id) ?? '', name: asText(call.name) ?? '' };
  }
  if (typeof part.text !== 'string' && sign === undefined) return undefined;
  const text = asText(part.text) ?? '';
  if (text === '' && sign === undefined) return undefined;
  return { kind: part.thought === true ? 'reasoning' : 'text', text, sign, id: '', name: '' };
}

/** Text goes on where the last part was of its kind; a signature closes a part. */
function addDraft(drafts: readonly Draft[], draft: Draft): readonly Draft[] {
  const last = drafts.at(-1);
  if (draft.kind === 'call' || last?.kind !== draft.kind || last.sign !== undefined) return [...drafts, draft];
  return drafts.with(-1, { ...last, text: last.text + draft.text, sign: draft.sign });
}

function readFinish(raw: unknown): FinishReason | undefined {
  const reason = asText(raw);
  if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return undefined;
  if (FAILED_FINISH.has(reason)) {
    throw new ProviderError('invalid_response', `the model gave up on its reply (${reason})`, { value: reason, retryable: true });
  }
  return FINISH[reason] ?? 'content_filter';
}

/** `promptTokenCount` includes what the cache gave; thoughts are counted beside the answer. */
function readUsage(raw: unknown): Usage | undefined {
  const usage = asObject(raw);
  const prompt = asCount(usage?.promptTokenCount);
  if (usage === undefined || prompt === undefined) return undefined;
  const cached = asCount(usage.cachedContentTokenCount);
  return {
    input: Math.max(0, prompt + (asCount(usage.toolUsePromptTokenCount) ?? 0) - (cached ?? 0)),
    output: (asCount(usage.candidatesTokenCount) ?? 0) + (asCount(usage.thoughtsTokenCount) ?? 0),
    ...(cached === undefined ? {} : { cache_read: cached }),
    estimated: false,
  };
}

function finishReply(state: ReplyState, end: ReplyEnd, request: ModelRequest): ModelResponse {
  if (state.finish === undefined && end !== 'body') {
    throw new ProviderError('stream_incomplete', 'the reply ended before the model had finished', {
      value: 'end of stream without a finish reason',
      retryable: true,
    });
  }
  const drafts = state.drafts.filter(({ kind }) => kind === 'call');
  if (drafts.some(({ name }) => name === '')) {
    throw new ProviderError('invalid_response', 'the reply holds a tool call without a name', { retryable: true });
  }
  const told = state.finish ?? 'stop';
  const finish = drafts.length > 0 && told === 'stop' ? 'tool_calls' : told;
  const calls = nameCalls(
    drafts.map(({ id, name, text }) => ({ id, name, arguments: text })),
    finish === 'tool_calls',
    request,
  );
  let at = 0;
  const parts = state.drafts.flatMap((draft): ReplyPart[] => {
    const sign = draft.sign === undefined ? {} : { sign: draft.sign };
    if (draft.kind !== 'call') return [{ kind: draft.kind, text: draft.text, ...sign }];
    const call = calls[at++];
    return call === undefined ? [] : [{ kind: 'call', call, ...sign }];
  });
  const join = (wanted: Draft['kind']): string => state.drafts.map(({ kind, text }) => (kind === wanted ? text : '')).join('');
  const signature = signParts(FORMAT, parts);
  const reasoning = join('reasoning');
  const message: AssistantMessage = {
    role: 'assistant',
    content: join('text'),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(signature === undefined ? {} : { reasoningSignature: signature }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
  return { type: 'response', message, finish, ...(state.usage === undefined ? {} : { usage: state.usage }) };
}

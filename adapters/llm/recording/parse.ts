import { ConfigError } from '../../../ports/errors.ts';
import type { ModelLimits, ProviderErrorCode } from '../../../ports/llm.ts';
import type { ToolCall, Usage } from '../../../ports/message.ts';
import type { JsonObject } from '../json-reading.ts';
import { asCount, asObject, parseJson } from '../json-reading.ts';
import type { Exchange, ExpectedMessage, ExpectedRequest, RecordedReply, Recording, ReplyStep, ScriptedError } from './format.ts';
import { RECORDING_FORMAT } from './format.ts';

const MAX_DELAY_MS = 60_000;

/**
 * Reads a recording. `file` names it in errors.
 * Throws `ConfigError` `invalid_recording` that names the place (a JSON pointer), the value and the limit.
 */
export function parseRecording(text: string, file: string): Recording {
  const parsed = parseJson(text);
  if (parsed === undefined) throw new ConfigError('invalid_recording', `${file} is not JSON`, { value: file, limit: 'JSON' });
  const at = pointer(file, '');
  const root = at.object(parsed.value);
  at.keys(root, ['format', 'provider', 'limits', 'exchanges', 'note']);
  if (root.format !== RECORDING_FORMAT) throw at.below('format').fail(root.format, JSON.stringify(RECORDING_FORMAT));
  const exchanges = at.below('exchanges');
  return {
    format: RECORDING_FORMAT,
    ...(root.provider === undefined ? {} : { provider: at.below('provider').text(root.provider) }),
    ...(root.limits === undefined ? {} : { limits: readLimits(root.limits, at.below('limits')) }),
    exchanges: exchanges.list(root.exchanges).map((entry, index) => readExchange(entry, exchanges.below(String(index)))),
  };
}

interface Place {
  below(key: string): Place;
  fail(value: unknown, limit: string): ConfigError;
  object(value: unknown): JsonObject;
  list(value: unknown): readonly unknown[];
  text(value: unknown): string;
  count(value: unknown, max: number): number;
  oneOf<const T extends string>(value: unknown, choices: readonly T[]): T;
  keys(value: JsonObject, known: readonly string[]): void;
}

function shownValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'something that is nested too deeply';
  }
}

function pointer(file: string, path: string): Place {
  const fail = (value: unknown, limit: string): ConfigError => {
    const shown = shownValue(value).slice(0, 80);
    return new ConfigError('invalid_recording', `${file}: ${path || '/'} must be ${limit}; got ${shown}`, { value: shown, limit });
  };
  return {
    below: (key) => pointer(file, `${path}/${key}`),
    fail,
    object(value) {
      const object = asObject(value);
      if (object === undefined) throw fail(value, 'an object');
      return object;
    },
    list(value) {
      if (!Array.isArray(value)) throw fail(value, 'a list');
      return value;
    },
    text(value) {
      if (typeof value !== 'string') throw fail(value, 'a text');
      return value;
    },
    count(value, max) {
      const count = asCount(value);
      if (count === undefined || count > max) throw fail(value, `a whole number from 0 to ${max}`);
      return count;
    },
    oneOf(value, choices) {
      const found = choices.find((choice) => choice === value);
      if (found === undefined) throw fail(value, `one of ${choices.join(', ')}`);
      return found;
    },
    keys(value, known) {
      const strange = Object.keys(value).find((key) => !known.includes(key));
      if (strange !== undefined)
        throw pointer(file, `${path}/${strange}`).fail(value[strange], `absent; the known keys are ${known.join(', ')}`);
    },
  };
}

function readLimits(value: unknown, at: Place): ModelLimits {
  const limits = at.object(value);
  at.keys(limits, ['contextWindow', 'maxOutputTokens']);
  return Object.fromEntries(Object.entries(limits).map(([key, tokens]) => [key, at.below(key).count(tokens, Number.MAX_SAFE_INTEGER)]));
}

function readExchange(value: unknown, at: Place): Exchange {
  const exchange = at.object(value);
  at.keys(exchange, ['request', 'reply', 'note']);
  return {
    request: readRequest(exchange.request, at.below('request')),
    reply: readReply(exchange.reply, at.below('reply')),
  };
}

function readRequest(value: unknown, at: Place): ExpectedRequest {
  const request = at.object(value);
  at.keys(request, ['continues', 'messages', 'tools']);
  if (request.continues !== undefined && typeof request.continues !== 'boolean')
    throw at.below('continues').fail(request.continues, 'true or false');
  const messages = at.below('messages');
  const tools = at.below('tools');
  return {
    continues: request.continues === true,
    messages: messages.list(request.messages).map((entry, index) => readExpected(entry, messages.below(String(index)))),
    ...(request.tools === undefined ? {} : { tools: tools.list(request.tools).map((name) => tools.text(name)) }),
  };
}

function readExpected(value: unknown, at: Place): ExpectedMessage {
  const message = at.object(value);
  at.keys(message, ['role', 'calls', 'callId', 'name', 'text', 'includes']);
  const texts = (['callId', 'name', 'text', 'includes'] as const).filter((key) => message[key] !== undefined);
  const calls = at.below('calls');
  return {
    role: at.below('role').oneOf(message.role, ['user', 'assistant', 'tool']),
    ...Object.fromEntries(texts.map((key) => [key, at.below(key).text(message[key])])),
    ...(message.calls === undefined ? {} : { calls: calls.list(message.calls).map((call) => readCallName(call, calls)) }),
  };
}

function readCallName(value: unknown, at: Place): { id: string; name: string } {
  const call = at.object(value);
  return { id: at.text(call.id), name: at.text(call.name) };
}

function readReply(value: unknown, at: Place): RecordedReply {
  const reply = at.object(value);
  at.keys(reply, ['steps', 'calls', 'finish', 'usage', 'after_ms', 'error']);
  const steps = at.below('steps');
  const callsAt = at.below('calls');
  const calls = callsAt.list(reply.calls ?? []).map((call) => readCall(call, callsAt));
  const finish = reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  return {
    steps: steps.list(reply.steps ?? []).map((step, index) => readStep(step, steps.below(String(index)))),
    calls,
    finish: at.below('finish').oneOf(finish, ['stop', 'tool_calls', 'length', 'content_filter']),
    ...(reply.usage === undefined ? {} : { usage: readUsage(reply.usage, at.below('usage')) }),
    ...readDelay(reply, at),
    ...(reply.error === undefined ? {} : { error: readError(reply.error, at.below('error')) }),
  };
}

function readDelay(value: JsonObject, at: Place): { after_ms?: number } {
  return value.after_ms === undefined ? {} : { after_ms: at.below('after_ms').count(value.after_ms, MAX_DELAY_MS) };
}

function readStep(value: unknown, at: Place): ReplyStep {
  const step = at.object(value);
  at.keys(step, ['text', 'reasoning', 'keep_alive', 'after_ms']);
  const delay = readDelay(step, at);
  if (step.text !== undefined) return { text: at.below('text').text(step.text), ...delay };
  if (step.reasoning !== undefined) return { reasoning: at.below('reasoning').text(step.reasoning), ...delay };
  if (step.keep_alive === true) return { keep_alive: true, ...delay };
  throw at.fail(value, 'a step with "text", "reasoning" or "keep_alive": true');
}

/** Arguments may be written as JSON or as the text that the model would send. */
function readCall(value: unknown, at: Place): ToolCall {
  const call = at.object(value);
  at.keys(call, ['id', 'name', 'arguments']);
  const written = call.arguments ?? {};
  return { id: at.text(call.id), name: at.text(call.name), arguments: typeof written === 'string' ? written : JSON.stringify(written) };
}

function readUsage(value: unknown, at: Place): Usage {
  const usage = at.object(value);
  at.keys(usage, ['input', 'output', 'cache_read', 'cache_write', 'estimated']);
  const count = (key: string): number => at.below(key).count(usage[key], Number.MAX_SAFE_INTEGER);
  return {
    input: count('input'),
    output: count('output'),
    ...(usage.cache_read === undefined ? {} : { cache_read: count('cache_read') }),
    ...(usage.cache_write === undefined ? {} : { cache_write: count('cache_write') }),
    estimated: usage.estimated === true,
  };
}

const ERROR_CODES = {
  provider_auth: true,
  provider_config: true,
  provider_quota: true,
  rate_limited: true,
  provider_unavailable: true,
  provider_request: true,
  context_length: true,
  stream_incomplete: true,
  stream_idle_timeout: true,
  response_too_large: true,
  invalid_response: true,
  replay_mismatch: true,
  network: true,
} as const satisfies Record<ProviderErrorCode, true>;

function readError(value: unknown, at: Place): ScriptedError {
  const error = at.object(value);
  at.keys(error, ['code', 'message', 'retryable', 'status', 'retry_after_ms']);
  if (error.retryable !== undefined && typeof error.retryable !== 'boolean')
    throw at.below('retryable').fail(error.retryable, 'true or false');
  return {
    code: at.below('code').oneOf(error.code, Object.keys(ERROR_CODES) as ProviderErrorCode[]),
    message: at.below('message').text(error.message),
    ...(error.retryable === undefined ? {} : { retryable: error.retryable }),
    ...(error.status === undefined ? {} : { status: at.below('status').count(error.status, 599) }),
    ...(error.retry_after_ms === undefined ? {} : { retry_after_ms: at.below('retry_after_ms').count(error.retry_after_ms, MAX_DELAY_MS) }),
  };
}

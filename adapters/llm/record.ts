import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { defineAdapter } from '../../ports/adapter.ts';
import type { Clock } from '../../ports/clock.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { LlmProvider, ModelEvent, ModelLimits, ModelRequest } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import type { OptionReader } from './options.ts';
import { readOptions } from './options.ts';
import type { Exchange, ExpectedMessage, ExpectedRequest, RecordedReply, Recording, ReplyStep, ScriptedError } from './recording/format.ts';
import { RECORDING_FORMAT } from './recording/format.ts';
import type { ComparedMessage } from './recording/match.ts';
import { comparedMessages, firstDifference, replyAsMessage } from './recording/match.ts';

type Redact = (text: string) => string;

/**
 * Wraps a provider and writes down what happens, for `replay`.
 * Options: `file`; `provider`, a live {@link LlmProvider}; `redact`, a function over every text that
 * is written (default: unchanged); `delays`, whether pauses are kept (default true). The file is
 * replaced atomically after every call, mode 0600.
 */
export default defineAdapter({
  port: 'llm-provider',
  name: 'record',
  create(options, { clock }) {
    const read = readOptions('provider "record"', options, ['id', 'format', 'file', 'provider', 'redact', 'delays']);
    read.choice('format', ['record']);
    return recordProvider(readProvider(read, options.provider), {
      file: read.requiredText('file'),
      redact: readRedact(read, options.redact),
      delays: read.flag('delays') ?? true,
      clock,
      ids: { hex: (bytes) => randomBytes(bytes).toString('hex') },
    });
  },
});

function readProvider(read: OptionReader, value: unknown): LlmProvider {
  const shaped = typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function';
  if (!shaped) throw read.fail('provider', typeof value, 'a provider to record');
  return value as unknown as LlmProvider;
}

function readRedact(read: OptionReader, value: unknown): Redact {
  if (value === undefined) return (text) => text;
  if (typeof value !== 'function') throw read.fail('redact', typeof value, 'a function from text to text');
  return value as Redact;
}

export interface RecorderSettings {
  readonly file: string;
  /** Applied to every text that is written. */
  readonly redact: (text: string) => string;
  /** Whether pauses are written down; default true. */
  readonly delays?: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The same provider, with every call written to `file` when it has ended. */
export function recordProvider(provider: LlmProvider, { file, redact, delays = true, clock, ids }: RecorderSettings): LlmProvider {
  const exchanges: Exchange[] = [];
  /** What a request starts with when it carries on from the last exchange. */
  let continuation: readonly ExpectedMessage[] = [];
  let lastWrite: Promise<void> = Promise.resolve();

  const write = (limits: ModelLimits): Promise<void> => {
    const recording: Recording = { format: RECORDING_FORMAT, provider: provider.name, limits, exchanges };
    const text = `${JSON.stringify(recording, null, 2)}\n`;
    // One write at a time, so that an older state never replaces a newer one.
    lastWrite = lastWrite.catch(() => undefined).then(() => replaceFile(file, `${file}.${ids.hex(6)}.tmp`, text));
    return lastWrite;
  };
  const startExchange = (request: ModelRequest): ((reply: RecordedReply) => Promise<void>) => {
    const expected = describeRequest(request, continuation);
    const all = expected.continues ? [...continuation, ...expected.messages] : expected.messages;
    return (reply) => {
      exchanges.push({ request: expected, reply });
      continuation = [...all, ...replyAsMessage(reply)];
      return write(provider.limits(request.model));
    };
  };

  return {
    name: provider.name,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const keep = startExchange(request);
      const tape = startTape(clock, delays, redact);
      let ended = false;
      try {
        for await (const event of provider.stream(request, signal)) {
          tape.take(event);
          ended = event.type === 'response';
          if (event.type === 'response') await keep(tape.end(event));
          yield event;
        }
      } catch (error) {
        const scripted = ended ? undefined : describeError(error, redact);
        if (scripted !== undefined) await keep(tape.fail(scripted));
        throw error;
      }
    },
    limits: (model) => provider.limits(model),
    ...(provider.models && { models: (signal: AbortSignal) => provider.models?.(signal) ?? Promise.resolve([]) }),
    async close() {
      await lastWrite.catch(() => undefined);
      await provider.close();
    },
  };
}

interface Tape {
  take(event: ModelEvent): void;
  end(response: Extract<ModelEvent, { type: 'response' }>): RecordedReply;
  fail(error: ScriptedError): RecordedReply;
}

function startTape(clock: Clock, delays: boolean, redact: Redact): Tape {
  const steps: ReplyStep[] = [];
  let last = clock.monotonic();
  const delay = (): { after_ms?: number } => {
    const now = clock.monotonic();
    const waited = Math.min(60_000, Math.round(now - last));
    last = now;
    return delays && waited > 0 ? { after_ms: waited } : {};
  };
  return {
    take(event) {
      if (event.type === 'text_delta') steps.push({ text: event.text, ...delay() });
      else if (event.type === 'reasoning_delta') steps.push({ reasoning: event.text, ...delay() });
    },
    end({ message, finish, usage }) {
      const calls = (message.toolCalls ?? []).map((call) => ({ ...call, name: redact(call.name), arguments: redact(call.arguments) }));
      return { steps: redactSteps(steps, redact), calls, finish, ...(usage === undefined ? {} : { usage }), ...delay() };
    },
    fail: (error) => ({ steps: redactSteps(steps, redact), calls: [], finish: 'stop', ...delay(), error }),
  };
}

/** A secret may span deltas: where there is something to hide in the whole, the deltas become one. */
function redactSteps(steps: readonly ReplyStep[], redact: Redact): ReplyStep[] {
  const reasoning = steps.map((step) => ('reasoning' in step ? step.reasoning : '')).join('');
  const text = steps.map((step) => ('text' in step ? step.text : '')).join('');
  const [safeReasoning, safeText] = [redact(reasoning), redact(text)];
  if (safeReasoning === reasoning && safeText === text) return [...steps];
  return [...(safeReasoning === '' ? [] : [{ reasoning: safeReasoning }]), ...(safeText === '' ? [] : [{ text: safeText }])];
}

function describeRequest(request: ModelRequest, continuation: readonly ExpectedMessage[]): ExpectedRequest {
  const messages = comparedMessages(request);
  const head = messages.slice(0, continuation.length);
  const continues = continuation.length > 0 && firstDifference({ ...request, messages: head }, continuation, undefined) === undefined;
  return { continues, messages: (continues ? messages.slice(continuation.length) : messages).map(describeMessage) };
}

function describeMessage(message: ComparedMessage): ExpectedMessage {
  if (message.role === 'tool') return { role: 'tool', name: message.name, callId: message.callId };
  if (message.role === 'user') return { role: 'user' };
  const calls = (message.toolCalls ?? []).map(({ id, name }) => ({ id, name }));
  return { role: 'assistant', ...(calls.length === 0 ? {} : { calls }) };
}

/** A cancel is the caller's doing and not part of what the provider does. */
function describeError(error: unknown, redact: Redact): ScriptedError | undefined {
  if (!isOdekError(error) || !('retryable' in error)) return undefined;
  const { code, message, retryable, status, retryAfterMs } = error as ProviderError;
  return {
    code: code as ScriptedError['code'],
    message: redact(message),
    retryable,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.min(60_000, Math.round(retryAfterMs)) }),
  };
}

async function replaceFile(file: string, temporary: string, text: string): Promise<void> {
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new ProviderError('provider_config', `the recording ${file} cannot be written`, { value: file, cause: error });
  }
}

import type { Clock } from '../../../ports/clock.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { HttpResponse } from '../../../ports/http.ts';
import type { ModelEvent } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, parseJson } from '../json-reading.ts';
import type { FailureSource } from './failure.ts';
import { failureInReply, toProviderError } from './failure.ts';
import type { SseEvent } from './sse.ts';
import { createSseParser } from './sse.ts';

export type ModelResponse = Extract<ModelEvent, { type: 'response' }>;

/** How the bytes ended: with the format's own mark, at the end of the stream, or as a whole JSON body. */
export type ReplyEnd = 'done' | 'eof' | 'body';

/** What one wire format's reply means, without any I/O. Every function is pure and may throw `ProviderError`. */
export interface ReplyMapper<State> {
  readonly start: State;
  /** One step: the JSON object of one event, or of a whole body. */
  map(state: State, chunk: JsonObject): readonly [State, readonly ModelEvent[]];
  /** The model has said why it stopped: the answer cannot become another one. */
  isFinished(state: State): boolean;
  /** Nothing follows. Absent: only `[DONE]` and the end of the stream say so. */
  isDone?(state: State): boolean;
  /** Throws `stream_incomplete` for a reply that was cut. */
  finish(state: State, end: ReplyEnd): ModelResponse;
  /** The chunks that a whole body stands for; undefined when it is no reply of this format. */
  unpack(body: unknown): readonly JsonObject[] | undefined;
  /** The format gives its own events names, so that a name does not mark another one's event. */
  readonly namesEvents?: boolean;
  /** Where a chunk would tell of a failure, when not in its `error`. */
  failureRoot?(chunk: JsonObject): JsonObject;
}

export interface ReplyContext {
  readonly clock: Clock;
  readonly source: FailureSource;
  readonly maxBytes: number;
  hideKey(text: string): string;
  /** Called when the answer came as one JSON body; returns what the operator should be told about it. */
  onBuffered(): string | undefined;
}

/** A service that has told its finish reason may take this long to close its stream. */
const CLOSING_GRACE_MS = 5_000;
const DRAIN_MOMENT_MS = 20;
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;

/**
 * Reads a successful reply to its end, whether it is a stream or one JSON body; the first character
 * decides, as services are careless with the content type.
 */
export async function* readReply<State>(
  response: HttpResponse,
  mapper: ReplyMapper<State>,
  context: ReplyContext,
): AsyncGenerator<ModelEvent> {
  const bytes = limitBytes(response, context)[Symbol.asyncIterator]();
  let complete = false;
  try {
    const start = yield* readStart(bytes);
    const source = { bytes, response, mapper, context };
    const reply = start.isStream ? readStream(start.chunks, source) : readWhole(start.chunks, source);
    for await (const event of reply) {
      complete = event.type === 'response';
      if (complete) await drain(bytes, response, context.clock);
      yield event;
    }
  } catch (error) {
    throw hasCode(error, 'connection_reset') || hasCode(error, 'network') ? cutOff(error, context) : error;
  } finally {
    if (!complete) response.cancel();
  }
}

function cutOff(error: unknown, { source }: ReplyContext): unknown {
  if (error instanceof ProviderError) return error;
  return new ProviderError('stream_incomplete', `${source.id}: the connection broke off inside the reply`, {
    retryable: true,
    cause: error,
  });
}

type Bytes = AsyncIterator<Uint8Array>;

async function* limitBytes(response: HttpResponse, { maxBytes, source }: ReplyContext): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of response.body) {
    total += chunk.byteLength;
    if (total > maxBytes) {
      throw new ProviderError('response_too_large', `${source.id}: the reply is longer than ${maxBytes} bytes`, {
        value: total,
        limit: maxBytes,
      });
    }
    yield chunk;
  }
}

/** The chunks up to the first character that is neither white space nor a byte order mark. */
async function* readStart(bytes: Bytes): AsyncGenerator<ModelEvent, { readonly chunks: Uint8Array[]; readonly isStream: boolean }> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const next = await bytes.next();
    if (next.done === true) return { chunks, isStream: true };
    chunks.push(next.value);
    const first = next.value.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
    if (first !== undefined) return { chunks, isStream: first !== 0x7b && first !== 0x5b && first !== 0x3c };
    yield { type: 'keep_alive' };
  }
}

interface Source<State> {
  readonly bytes: Bytes;
  readonly response: HttpResponse;
  readonly mapper: ReplyMapper<State>;
  readonly context: ReplyContext;
}

async function* readStream<State>(chunks: readonly Uint8Array[], source: Source<State>): AsyncGenerator<ModelEvent> {
  const { bytes, mapper, context } = source;
  const parser = createSseParser();
  let state = mapper.start;
  const pending = [...chunks];
  for (;;) {
    const chunk = pending.shift() ?? (await nextChunk(bytes, mapper.isFinished(state), context.clock));
    const events = chunk === undefined ? parser.end() : parser.push(chunk);
    const step = takeEvents(state, events, chunk === undefined, source);
    state = step.state;
    yield* step.out;
    if (step.done || chunk === undefined) {
      yield mapper.finish(state, step.done ? 'done' : 'eof');
      return;
    }
    if (step.out.length === 0) yield { type: 'keep_alive' };
  }
}

/** Undefined at the end of the stream, and when a finished reply is not closed in time. */
async function nextChunk(bytes: Bytes, finished: boolean, clock: Clock): Promise<Uint8Array | undefined> {
  if (!finished) {
    const next = await bytes.next();
    return next.done === true ? undefined : next.value;
  }
  // The answer is complete: neither silence nor a broken connection can take it back.
  const closed = bytes.next().then(
    (next) => (next.done === true ? undefined : next.value),
    (error: unknown) => {
      if (hasCode(error, 'connection_reset') || hasCode(error, 'network')) return undefined;
      throw error;
    },
  );
  const { promise: waited, resolve } = Promise.withResolvers<undefined>();
  const stop = clock.after(CLOSING_GRACE_MS, () => resolve(undefined));
  return Promise.race([closed, waited]).finally(stop);
}

interface Step<State> {
  readonly state: State;
  readonly out: readonly ModelEvent[];
  readonly done: boolean;
}

function takeEvents<State>(before: State, events: readonly SseEvent[], atEnd: boolean, { mapper, context }: Source<State>): Step<State> {
  let state = before;
  const out: ModelEvent[] = [];
  for (const event of events) {
    const data = event.data.trim();
    if (data === '[DONE]') return { state, out, done: true };
    // A comment that a gateway has wrapped in a data line is a keep-alive.
    if (data === '' || data.startsWith(':')) continue;
    const chunk = asObject(parseJson(data)?.value);
    if (chunk === undefined) {
      if (mapper.namesEvents !== true && isForeign(event)) continue;
      // The last line of a cut stream is not judged as a line.
      if (atEnd) break;
      throw new ProviderError('invalid_response', `${context.source.id}: the stream holds a line that is not a JSON object`, {
        value: context.hideKey(data.slice(0, 80)),
        retryable: true,
      });
    }
    const [next, mapped] = mapSafely(state, chunk, mapper, context);
    state = next;
    out.push(...mapped);
    if (mapper.isDone?.(state) === true) return { state, out, done: true };
  }
  return { state, out, done: false };
}

function mapSafely<State>(
  state: State,
  chunk: JsonObject,
  mapper: ReplyMapper<State>,
  { source, hideKey }: ReplyContext,
): readonly [State, readonly ModelEvent[]] {
  const failure = failureInReply(mapper.failureRoot?.(chunk) ?? chunk, hideKey);
  if (failure !== undefined) throw toProviderError(failure, source);
  return mapper.map(state, chunk);
}

function isForeign({ name }: SseEvent): boolean {
  return name !== undefined && name !== '' && name !== 'message' && name !== 'error';
}

async function* readWhole<State>(chunks: readonly Uint8Array[], source: Source<State>): AsyncGenerator<ModelEvent> {
  const { bytes, mapper, context } = source;
  const decoder = new TextDecoder();
  let text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
  for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
    text += decoder.decode(next.value, { stream: true });
    yield { type: 'keep_alive' };
  }
  text += decoder.decode();
  let state = mapper.start;
  const events: ModelEvent[] = [];
  for (const chunk of unpackBody(text, source)) {
    const [next, mapped] = mapSafely(state, chunk, mapper, context);
    state = next;
    events.push(...mapped);
  }
  const notice = context.onBuffered();
  if (notice !== undefined) yield { type: 'notice', text: notice };
  yield* events;
  yield mapper.finish(state, 'body');
}

function unpackBody<State>(text: string, { response, mapper, context: { source, hideKey } }: Source<State>): readonly JsonObject[] {
  const parsed = parseJson(text);
  if (parsed === undefined && !text.trimStart().startsWith('<')) {
    throw new ProviderError('stream_incomplete', `${source.id}: the reply's JSON ends early`, {
      value: `${text.length} characters`,
      retryable: true,
    });
  }
  const body = asObject(Array.isArray(parsed?.value) ? parsed.value[0] : parsed?.value);
  const failure = body === undefined ? undefined : failureInReply(body, hideKey);
  if (failure !== undefined) throw toProviderError(failure, source);
  const chunks = mapper.unpack(parsed?.value);
  if (chunks === undefined) {
    const type = response.headers['content-type'] ?? 'no content type';
    throw new ProviderError('invalid_response', `${source.id}: ${source.baseUrl} did not answer with a reply of a model (${type})`, {
      value: hideKey(text.slice(0, 80)),
    });
  }
  return chunks;
}

/**
 * Reads the few bytes behind the last event, so that the connection can serve the next request. They
 * mostly came with the event: the answer waits a moment for them, and the rest goes on behind it.
 */
async function drain(bytes: Bytes, response: HttpResponse, clock: Clock): Promise<void> {
  const { promise: moment, resolve } = Promise.withResolvers<void>();
  const stopMoment = clock.after(DRAIN_MOMENT_MS, resolve);
  const stop = clock.after(DRAIN_MS, () => response.cancel());
  const read = async (): Promise<void> => {
    let total = 0;
    for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
      total += next.value.byteLength;
      if (total > DRAIN_BYTES) throw new Error('the service goes on after the end of its reply');
    }
  };
  // The answer is complete; whatever happens to its connection concerns nobody.
  const drained = read().catch(() => response.cancel());
  await Promise.race([drained.finally(stop), moment]);
  stopMoment();
}

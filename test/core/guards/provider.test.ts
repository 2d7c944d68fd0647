import { describe, expect, it } from 'vitest';
import type { ProviderGuardOptions, RetryInfo } from '../../../core/guards/provider.ts';
import { guardProvider } from '../../../core/guards/provider.ts';
import { CancelledError } from '../../../ports/errors.ts';
import type { LlmProvider, ModelEvent, ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { createScriptedProvider, type ScriptedReply } from '../../fakes/llm.ts';

const REQUEST: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [], stream: true };
const RESPONSE: ModelEvent = { type: 'response', message: { role: 'assistant', content: '' }, finish: 'stop' };

function setUp(provider: LlmProvider, options: Partial<ProviderGuardOptions> = {}) {
  const clock = createManualClock();
  const retries: RetryInfo[] = [];
  const guarded = guardProvider(provider, {
    clock,
    ids: { hex: () => '0000' },
    requestTimeoutMs: 600_000,
    idleTimeoutMs: 60_000,
    onRetry: (info) => retries.push(info),
    ...options,
  });
  return { clock, retries, guarded };
}

function collect(provider: LlmProvider, signal = new AbortController().signal, request = REQUEST) {
  const events: ModelEvent[] = [];
  const run = async (): Promise<ModelEvent[]> => {
    for await (const event of provider.stream(request, signal)) events.push(event);
    return events;
  };
  const done = run();
  done.catch(() => undefined);
  return { events, done };
}

function from(stream: (signal: AbortSignal) => AsyncIterable<ModelEvent>): LlmProvider {
  return { name: 'odd', stream: (_request, signal) => stream(signal), limits: () => ({}), close: async () => undefined };
}

function events(...list: unknown[]): LlmProvider {
  return from(async function* () {
    yield* list as ModelEvent[];
  });
}

const failing = (details: { retryable?: boolean; retryAfterMs?: number } = {}): ScriptedReply => ({
  error: new ProviderError('provider_unavailable', 'down', { retryable: true, ...details }),
});

describe('the provider guard', () => {
  it('ends with the first response and asks the adapter for nothing more', async () => {
    let asked = 0;
    const { guarded } = setUp(
      from(async function* () {
        yield RESPONSE;
        asked += 1;
        yield RESPONSE;
      }),
    );
    expect(await collect(guarded).done).toEqual([RESPONSE]);
    expect(asked).toBe(0);
  });

  it('makes a reply without a response a retryable failure', async () => {
    const { guarded } = setUp(events({ type: 'text_delta', text: 'a' }));
    await expect(collect(guarded).done).rejects.toMatchObject({ code: 'stream_incomplete', retryable: true });
  });

  it('delivers what the deltas left out before the response', async () => {
    const response = { ...RESPONSE, message: { role: 'assistant', content: 'ab', reasoning: 'r' } };
    const { guarded } = setUp(events({ type: 'text_delta', text: 'a' }, response));
    expect(await collect(guarded).done).toEqual([
      { type: 'text_delta', text: 'a' },
      { type: 'reasoning_delta', text: 'r' },
      { type: 'text_delta', text: 'b' },
      response,
    ]);
  });

  const call = (id: string, name = 't', args: unknown = '{}') => ({ id, name, arguments: args });
  it.each([
    ['deltas that the response contradicts', [{ type: 'text_delta', text: 'x' }, RESPONSE]],
    ['an empty call id', [{ ...RESPONSE, message: { role: 'assistant', content: '', toolCalls: [call('')] } }]],
    ['a call id used twice', [{ ...RESPONSE, message: { role: 'assistant', content: '', toolCalls: [call('a'), call('a')] } }]],
    ['a call without a name', [{ ...RESPONSE, message: { role: 'assistant', content: '', toolCalls: [call('a', '')] } }]],
    ['arguments that are not text', [{ ...RESPONSE, message: { role: 'assistant', content: '', toolCalls: [call('a', 't', {})] } }]],
    ['a response without a message', [{ type: 'response', finish: 'stop' }]],
    ['an event of unknown type', [{ type: 'surprise' }]],
    ['an event that is nothing', [undefined]],
  ])('refuses %s as an invalid response', async (_name, list) => {
    const { guarded } = setUp(events(...list));
    await expect(collect(guarded).done).rejects.toMatchObject({ name: 'ProviderError', code: 'invalid_response', retryable: false });
  });

  it.each([
    ['deltas', Array(5).fill({ type: 'text_delta', text: 'x'.repeat(300) })],
    ['a response', [{ ...RESPONSE, message: { role: 'assistant', content: '', toolCalls: [call('a', 't', 'x'.repeat(1500))] } }]],
  ])('refuses more than it may hold, in %s', async (_name, list) => {
    const { guarded } = setUp(events(...list), { maxResponseBytes: 1000 });
    await expect(collect(guarded).done).rejects.toMatchObject({ code: 'response_too_large', limit: 1000 });
  });

  it.each([
    ['an error of its own', new TypeError('x is undefined')],
    ['something that is no error', 'oops'],
    ['a cancel that nobody asked for', new CancelledError()],
  ])('turns %s into a provider error', async (_name, thrown) => {
    const { guarded } = setUp(
      from(async function* () {
        yield { type: 'keep_alive' };
        throw thrown;
      }),
    );
    await expect(collect(guarded).done).rejects.toMatchObject({ name: 'ProviderError', code: 'invalid_response', cause: thrown });
  });

  it('turns an adapter that throws before it streams into a provider error', async () => {
    const { guarded } = setUp(
      from(() => {
        throw new Error('no');
      }),
    );
    await expect(collect(guarded).done).rejects.toMatchObject({ name: 'ProviderError' });
  });

  it('knows the provider error of another copy of the package', async () => {
    const foreign = Object.assign(new Error('busy'), {
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: 5,
      [Symbol.for('odek.error')]: true,
    });
    const { guarded } = setUp(
      from(async function* () {
        yield { type: 'keep_alive' };
        throw foreign;
      }),
      { maxAttempts: 1 },
    );
    const error = await collect(guarded).done.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ code: 'rate_limited', retryable: true, retryAfterMs: 5 });
  });
});

describe('the guard on time', () => {
  const stuck = (onSignal?: (signal: AbortSignal) => void): LlmProvider =>
    from((signal) => {
      onSignal?.(signal);
      return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
    });

  it('ends at once on a cancel although the adapter ignores it', async () => {
    let inner: AbortSignal | undefined;
    const { guarded } = setUp(stuck((signal) => (inner = signal)));
    const cancel = new AbortController();
    const { done } = collect(guarded, cancel.signal);
    await Promise.resolve();
    cancel.abort();
    await expect(done).rejects.toMatchObject({ code: 'cancelled' });
    expect(inner?.aborted).toBe(true);
  });

  it('starts nothing when it was cancelled before', async () => {
    const scripted = createScriptedProvider([{ text: 'a' }]);
    await expect(collect(setUp(scripted).guarded, AbortSignal.abort()).done).rejects.toMatchObject({ code: 'cancelled' });
    expect(scripted.requests).toEqual([]);
  });

  it('calls every failure after a cancel a cancel', async () => {
    const cancel = new AbortController();
    const { guarded } = setUp(
      from(async function* () {
        yield { type: 'keep_alive' };
        cancel.abort();
        throw new ProviderError('network', 'closed', { retryable: true });
      }),
    );
    await expect(collect(guarded, cancel.signal).done).rejects.toMatchObject({ name: 'CancelledError' });
  });

  it('ends a call that takes too long as a whole, and closes its connection', async () => {
    let inner: AbortSignal | undefined;
    const { guarded, clock } = setUp(
      from(async function* (signal) {
        inner = signal;
        for (;;) {
          await clock.sleep(10_000);
          yield { type: 'keep_alive' };
        }
      }),
      { requestTimeoutMs: 100_000 },
    );
    const { done, events: seen } = collect(guarded);
    await clock.advance(99_000);
    expect(seen.length).toBe(9);
    await clock.advance(2_000);
    await expect(done).rejects.toMatchObject({ name: 'DeadlineError', limit: 100_000 });
    expect(inner?.aborted).toBe(true);
  });

  it('ends a silent stream as idle, and any event starts the wait again', async () => {
    const { guarded, clock } = setUp(
      from(async function* () {
        await clock.sleep(50_000);
        yield { type: 'keep_alive' };
        await clock.sleep(50_000);
        yield { type: 'text_delta', text: 'a' };
        await clock.sleep(70_000);
        yield RESPONSE;
      }),
    );
    const { done, events: seen } = collect(guarded);
    await clock.advance(110_000);
    expect(seen.length).toBe(2);
    await clock.advance(60_000);
    await expect(done).rejects.toMatchObject({ code: 'stream_idle_timeout', limit: 60_000 });
  });

  it('waits for a buffered answer without an idle limit', async () => {
    const { guarded, clock } = setUp(
      from(async function* () {
        await clock.sleep(200_000);
        yield RESPONSE;
      }),
    );
    const { done } = collect(guarded, undefined, { ...REQUEST, stream: false });
    await clock.advance(210_000);
    expect(await done).toEqual([RESPONSE]);
  });

  it('does not count the time that its consumer takes', async () => {
    const { guarded, clock } = setUp(events({ type: 'keep_alive' }, RESPONSE));
    const iterator = guarded.stream(REQUEST, new AbortController().signal)[Symbol.asyncIterator]();
    await iterator.next();
    await clock.advance(100_000);
    expect(await iterator.next()).toEqual({ done: false, value: RESPONSE });
  });

  it('leaves no timer behind', async () => {
    const { guarded, clock } = setUp(events({ type: 'keep_alive' }, RESPONSE));
    await collect(guarded).done;
    expect(clock.pending()).toBe(0);
  });
});

describe('the guard on retries', () => {
  it('tries again with growing waits and says so, up to eight times', async () => {
    const scripted = createScriptedProvider(failing());
    const { guarded, clock, retries } = setUp(scripted);
    const { done } = collect(guarded);
    await clock.advance(300_000);
    await expect(done).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(scripted.requests.length).toBe(8);
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(retries[0]).toMatchObject({ attempt: 1, maxAttempts: 8, error: { code: 'provider_unavailable' } });
  });

  it('takes a random half off its waits', async () => {
    const { guarded, clock, retries } = setUp(createScriptedProvider(failing()), { ids: { hex: () => 'ffff' }, maxAttempts: 3 });
    collect(guarded);
    await clock.advance(300_000);
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([500, 1000]);
  });

  it('honours the wait that the server asks for, up to a minute', async () => {
    const script = [failing({ retryAfterMs: 7000 }), failing({ retryAfterMs: 3_600_000 }), { text: 'ok' }];
    const { guarded, clock, retries } = setUp(createScriptedProvider(script));
    const { done } = collect(guarded);
    await clock.advance(100_000);
    expect((await done).at(-1)).toMatchObject({ type: 'response', message: { content: 'ok' } });
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([7000, 60_000]);
  });

  it.each(['text', 'reasoning'] as const)('does not try again after delivered %s', async (kind) => {
    const scripted = createScriptedProvider([
      { [kind]: 'a', error: new ProviderError('network', 'cut', { retryable: true }) },
      { text: 'b' },
    ]);
    await expect(collect(setUp(scripted).guarded).done).rejects.toMatchObject({ code: 'network' });
    expect(scripted.requests.length).toBe(1);
  });

  it('tries again after keep-alives and notices, which deliver nothing', async () => {
    let attempts = 0;
    const { guarded, clock } = setUp(
      from(async function* () {
        attempts += 1;
        yield { type: 'keep_alive' };
        yield { type: 'notice', text: 'n' };
        if (attempts === 1) throw new ProviderError('network', 'cut', { retryable: true });
        yield RESPONSE;
      }),
    );
    const { done } = collect(guarded);
    await expect.poll(() => clock.pending()).toBe(1);
    await clock.advance(5_000);
    expect((await done).at(-1)).toEqual(RESPONSE);
    expect(attempts).toBe(2);
  });

  it('does not try again what cannot help', async () => {
    const scripted = createScriptedProvider(failing({ retryable: false }));
    await expect(collect(setUp(scripted).guarded).done).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(scripted.requests.length).toBe(1);
  });

  it('ends a wait for the next attempt on a cancel', async () => {
    const { guarded, clock } = setUp(createScriptedProvider(failing()));
    const cancel = new AbortController();
    const { done } = collect(guarded, cancel.signal);
    await clock.advance(0);
    cancel.abort();
    await expect(done).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('does not start a wait that outlasts the call', async () => {
    const { guarded } = setUp(createScriptedProvider(failing({ retryAfterMs: 50_000 })), { requestTimeoutMs: 40_000 });
    await expect(collect(guarded).done).rejects.toMatchObject({ code: 'provider_unavailable' });
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createHttpClient } from '../../../adapters/http/index.ts';
import otel from '../../../adapters/sinks/otel.ts';
import type { AdapterServices } from '../../../ports/adapter.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EventSink } from '../../../ports/event-sink.ts';
import type { HttpClient } from '../../../ports/http.ts';
import { type Answer, type OtlpReceiver, plain, startOtlpReceiver } from '../../fakes/otlp-receiver.ts';
import { completed, event, RUN, RUN_EVENTS, START, started } from './otel/events.ts';

let receiver: OtlpReceiver;
let http: HttpClient;
let logged: string[];
let cleanups: (() => Promise<void>)[];

beforeEach(() => {
  logged = [];
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** Real time; waits between tries take no time. */
function quickClock(): Clock {
  const clock = createSystemClock();
  return { ...clock, sleep: (_ms, signal) => clock.sleep(0, signal) };
}

async function start(answer?: (post: { readonly path: string }, number: number) => Answer, options: object = {}): Promise<EventSink> {
  receiver = await startOtlpReceiver(answer);
  http = createHttpClient({ mode: 'operator', allowHosts: [`127.0.0.1:${receiver.port}`] });
  cleanups.push(receiver.close, http.close);
  const services: AdapterServices = { clock: quickClock(), http, log: (level, text) => void logged.push(`${level}: ${text}`) };
  const sink = await otel.create({ endpoint: receiver.endpoint, provider: 'openai', ...options }, services);
  cleanups.push(sink.close);
  return sink;
}

async function send(sink: EventSink, events = RUN_EVENTS): Promise<void> {
  for (const each of events) await sink.accept(each);
}

const many = (count: number) => Array.from({ length: count }, (_, at) => completed(at, (at + 1).toString(16).padStart(32, '0')));

describe('the otel sink', () => {
  it('posts the spans of a run to a receiver', async () => {
    const sink = await start(undefined, { headers: { authorization: 'Bearer t' }, service_name: 'my odek', version: '1.2.3' });
    await send(sink);
    await sink.close();
    expect(receiver.posts.map(({ path }) => path)).toEqual(['/v1/traces', '/v1/metrics']);
    const [post] = receiver.posts;
    expect(post?.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer t' });
    expect(plain(post?.body.resourceSpans[0].resource.attributes)).toEqual({ 'service.name': 'my odek', 'service.version': '1.2.3' });
    const spans = receiver.spans();
    const root = spans.find(({ parentSpanId }) => parentSpanId === undefined);
    expect(root).toMatchObject({
      traceId: RUN,
      name: 'invoke_agent odek',
      kind: 1,
      startTimeUnixNano: `${START}000000`,
      endTimeUnixNano: `${START + 1_112}000000`,
      status: { code: 0 },
    });
    expect(plain(root?.attributes ?? [])).toMatchObject({ 'gen_ai.provider.name': 'openai', 'gen_ai.usage.input_tokens': 300 });
    expect(root?.events?.map(({ name, timeUnixNano }) => [name, timeUnixNano])).toEqual([['context_trimmed', `${START + 610}000000`]]);
    const children = spans.filter((span) => span !== root);
    expect(children).toHaveLength(4);
    for (const child of children) expect(child).toMatchObject({ traceId: RUN, parentSpanId: root?.spanId });
    expect(children.filter(({ status }) => status.code === 2).map(({ name }) => name)).toEqual(['execute_tool github__search']);
    expect(children.filter(({ kind }) => kind === 3).map(({ name }) => name)).toEqual(['chat big-model', 'chat big-model']);
    expect(logged).toEqual([]);
  });

  it('posts token usage and durations as histograms of the time since the last post', async () => {
    const sink = await start();
    await send(sink);
    await sink.close();
    const [tokens, duration] = [...receiver.metrics()].sort((a, b) => (a.name > b.name ? -1 : 1));
    expect(tokens).toMatchObject({ name: 'gen_ai.client.token.usage', unit: '{token}', histogram: { aggregationTemporality: 1 } });
    const input = tokens?.histogram.dataPoints.find(({ attributes }) => plain(attributes)['gen_ai.token.type'] === 'input');
    expect(input).toMatchObject({ count: '2', sum: 300, min: 100, max: 200 });
    expect(input?.bucketCounts).toHaveLength((input?.explicitBounds.length ?? 0) + 1);
    expect(input?.bucketCounts.map(Number).reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(plain(input?.attributes ?? [])).toEqual({
      'gen_ai.provider.name': 'openai',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'big-model',
      'gen_ai.token.type': 'input',
    });
    expect(duration).toMatchObject({ name: 'gen_ai.client.operation.duration', unit: 's' });
    expect(duration?.histogram.dataPoints).toHaveLength(4);
  });

  it('sends a full batch at once, and never more than a batch in one request', async () => {
    const sink = await start();
    await send(sink, many(1_200));
    await sink.close();
    const sizes = receiver.posts
      .filter(({ path }) => path === '/v1/traces')
      .map(({ body }) => body.resourceSpans[0].scopeSpans[0].spans.length as number);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_200);
    expect(Math.max(...sizes)).toBe(512);
    expect(sizes.length).toBeLessThanOrEqual(4);
  });

  it('tries again where that can help, and at most three times', async () => {
    const statuses = [503, 429, 200];
    const sink = await start((_post, number) => ({ status: statuses[number - 1] ?? 200 }));
    await send(sink);
    await sink.close();
    expect(receiver.posts.map(({ path }) => path)).toEqual(['/v1/traces', '/v1/traces', '/v1/traces', '/v1/metrics']);
    expect(logged).toEqual([]);
  });

  it('gives up after three tries, and says what was lost', async () => {
    const sink = await start(() => ({ status: 503, body: 'busy' }));
    await send(sink);
    await sink.close();
    expect(receiver.posts).toHaveLength(6);
    expect(logged).toEqual([`warning: telemetry: 5 spans and 9 measurements did not reach 127.0.0.1:${receiver.port} (status 503)`]);
  });

  it('does not try again where the receiver refuses', async () => {
    const sink = await start(() => ({ status: 401 }));
    await send(sink);
    await sink.close();
    expect(receiver.posts).toHaveLength(2);
    expect(logged[0]).toContain('(status 401)');
  });

  it('counts what a receiver took and then did not want', async () => {
    const sink = await start(({ path }) => ({
      body: JSON.stringify({ partialSuccess: path === '/v1/traces' ? { rejectedSpans: '2' } : { rejectedDataPoints: 1 } }),
    }));
    await send(sink);
    await sink.close();
    expect(logged).toEqual([`warning: telemetry: 2 spans and 1 measurements did not reach 127.0.0.1:${receiver.port}`]);
  });

  it('survives a receiver that is down', async () => {
    const sink = await start();
    await receiver.close();
    await send(sink);
    await sink.close();
    expect(logged).toEqual([
      `warning: telemetry: 5 spans and 9 measurements did not reach 127.0.0.1:${receiver.port} (connection refused)`,
    ]);
  });

  it('is not held up by a receiver that never answers, and drops what does not fit into its queue', async () => {
    const sink = await start(() => ({ hang: true }));
    const began = performance.now();
    await send(sink, many(5_000));
    expect(performance.now() - began).toBeLessThan(5_000);
    await sink.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(receiver.posts).toHaveLength(1);
    expect(logged).toEqual([
      expect.stringMatching(/^warning: telemetry: 5000 spans and 5000 measurements did not reach .*\(not delivered in time\)$/),
    ]);
  });

  it('reads no more of a reply than it needs', async () => {
    const sink = await start(() => ({ body: `{"partialSuccess":{"rejectedSpans":1},"x":"${'x'.repeat(1_000_000)}"}` }));
    await send(sink);
    await sink.close();
    expect(logged).toEqual([]);
  });

  it('sends a smaller batch after a while', async () => {
    let fire = (): void => {};
    receiver = await startOtlpReceiver();
    http = createHttpClient({ mode: 'operator', allowHosts: [`127.0.0.1:${receiver.port}`] });
    cleanups.push(receiver.close, http.close);
    const waits: number[] = [];
    const clock: Clock = {
      ...quickClock(),
      after: (ms, run) => {
        waits.push(ms);
        fire = run;
        return () => {};
      },
    };
    const sink = await otel.create({ endpoint: receiver.endpoint }, { clock, http, log: () => {} });
    await send(sink);
    expect(waits).toEqual([5_000]);
    expect(receiver.posts).toEqual([]);
    fire();
    await expect.poll(() => receiver.posts.length).toBe(2);
    await sink.close();
    expect(receiver.posts).toHaveLength(2);
  });
});

describe('the otel sink keeps the contract of a sink', () => {
  it('takes events of an unknown type or with unknown fields', async () => {
    const sink = await start();
    await sink.accept({ ...started(), type: 'novel', data: { deep: [{ er: null }] } } as never);
    await sink.accept({ ...completed(5), novel: true } as never);
    await sink.close();
    expect(receiver.spans().map(({ events }) => events?.map(({ name }) => name))).toEqual([['novel']]);
  });

  it('waits for what was accepted when it closes, ends what is open, and closes once', async () => {
    const sink = await start();
    await sink.accept(started());
    await Promise.all([sink.close(), sink.close()]);
    await sink.close();
    expect(receiver.spans().map(({ attributes }) => plain(attributes)['odek.interrupted'])).toEqual([true]);
  });

  it('accepts nothing after it was closed', async () => {
    const sink = await start();
    await sink.close();
    await expect(sink.accept(started())).rejects.toMatchObject({ code: 'sink_closed' });
    expect(receiver.posts).toEqual([]);
  });
});

describe('its options', () => {
  const services = {
    clock: createSystemClock(),
    http: { request: () => Promise.reject(new Error()), close: async () => {} },
    log: () => {},
  };

  it.each([
    [{}],
    [{ endpoint: 'localhost:4318' }],
    [{ endpoint: 'ftp://host/' }],
    [{ endpoint: 'http://user:password@host/' }],
    [{ endpoint: 'http://host/?key=1' }],
    [{ endpoint: 'http://host/', headers: 'x' }],
    [{ endpoint: 'http://host/', headers: { 'bad name': 'x' } }],
    [{ endpoint: 'http://host/', headers: { a: 'line\nbreak' } }],
    [{ endpoint: 'http://host/', service_name: '' }],
    [{ endpoint: 'http://host/', endpont: 'x' }],
  ])('are refused: %j', (options) => {
    expect(() => otel.create(options, services)).toThrow(expect.objectContaining({ name: 'ConfigError', code: 'invalid_sink_options' }));
  });

  it('never show a password or the value of a header', () => {
    for (const options of [{ endpoint: 'http://user:hunter2@host/' }, { endpoint: 'http://host/', headers: { a: 'hunter2\n' } }]) {
      try {
        void otel.create(options, services);
        expect.fail('accepted');
      } catch (error) {
        expect(JSON.stringify([(error as Error).message, error])).not.toContain('hunter2');
      }
    }
  });

  it('keep the path of an endpoint', async () => {
    const sink = await start();
    await sink.close();
    const other = await otel.create(
      { endpoint: `${receiver.endpoint}/otlp/` },
      { clock: quickClock(), http, log: (_level, text) => void logged.push(text) },
    );
    await other.accept(event('run_failed', { at: 1 }, { duration_ms: 1, error_class: 'error' }));
    await other.close();
    expect(receiver.posts.map(({ path }) => path)).toEqual(['/otlp/v1/traces', '/otlp/v1/metrics']);
  });
});

import type { AdapterServices } from '../../../ports/adapter.ts';
import { type Delivery, deliver } from './delivery.ts';
import { createHistograms, type Point } from './histograms.ts';
import type { Attributes, Measurement, Span } from './model.ts';
import { metricsBody, tracesBody } from './otlp.ts';

export interface ExporterOptions {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
}

/** Sends spans and measurements in batches, in the background, one request at a time. */
export interface Exporter {
  /** Returns at once. What does not fit into the queue is dropped and counted. */
  add(spans: readonly Span[], measurements: readonly Measurement[]): void;
  /** Sends what is there, within a bound, and tells what was lost. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** Spans of one request; a full batch goes at once, a smaller one after a while. */
const BATCH_SPANS = 512;
const MAX_QUEUED_SPANS = 2_048;
const INTERVAL_MS = 5_000;
/** The fan-out gives all sinks two seconds to close. */
const CLOSE_MS = 1_500;

interface Losses {
  spans: number;
  measurements: number;
  why: string | undefined;
}

/** What is told at the end where something was lost. */
export function lossText(endpoint: string, { spans, measurements, why }: Losses): string {
  const reason = why === undefined ? '' : ` (${why})`;
  return `telemetry: ${spans} spans and ${measurements} measurements did not reach ${new URL(endpoint).host}${reason}`;
}

export function createExporter({ endpoint, headers, resource }: ExporterOptions, services: AdapterServices): Exporter {
  const { clock } = services;
  const histograms = createHistograms();
  const stop = new AbortController();
  const lost: Losses = { spans: 0, measurements: 0, why: undefined };
  let spans: Span[] = [];
  let since = clock.now();
  let stopTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const post = async (path: string, body: string): Promise<Delivery> =>
    deliver(services, { url: `${endpoint}${path}`, headers, body }, stop.signal);

  const sendSpans = async (batch: readonly Span[]): Promise<void> => {
    const { failure, rejected } = await post('/v1/traces', tracesBody(batch, resource));
    lost.spans += failure === undefined ? rejected : batch.length;
    lost.why = failure ?? lost.why;
  };

  const sendPoints = async (points: readonly Point[], start: number): Promise<void> => {
    const { failure, rejected } = await post('/v1/metrics', metricsBody(points, { start, end: clock.now() }, resource));
    lost.measurements += failure === undefined ? rejected : points.reduce((sum, { count }) => sum + count, 0);
    lost.why = failure ?? lost.why;
  };

  const sendAll = async (): Promise<void> => {
    while (spans.length > 0) {
      const batch = spans.slice(0, BATCH_SPANS);
      spans = spans.slice(BATCH_SPANS);
      await sendSpans(batch);
    }
    const points = histograms.take();
    const start = since;
    since = clock.now();
    if (points.length > 0) await sendPoints(points, start);
  };

  const arm = (): void => {
    stopTimer ??= clock.after(INTERVAL_MS, () => void send());
  };

  const send = (): Promise<void> => {
    stopTimer?.();
    stopTimer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      // What came in meanwhile goes with the next batch.
      if (spans.length > 0 && closing === undefined) arm();
    });
    return sending;
  };

  const closeAll = async (): Promise<void> => {
    const stopLimit = clock.after(CLOSE_MS, () => stop.abort());
    // What came in while a request was on its way has not been taken along.
    await send();
    await send();
    stopLimit();
    if (lost.spans + lost.measurements > 0) services.log('warning', lossText(endpoint, lost));
  };

  return {
    add(added, measurements) {
      const room = Math.max(0, MAX_QUEUED_SPANS - spans.length);
      spans.push(...added.slice(0, room));
      lost.spans += Math.max(0, added.length - room);
      for (const measurement of measurements) if (!histograms.add(measurement)) lost.measurements += 1;
      if (spans.length >= BATCH_SPANS) void send();
      else arm();
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

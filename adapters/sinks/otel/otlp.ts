/** OTLP in its JSON form: ids in hex, 64-bit numbers as text, enumerations as numbers. */
import { BOUNDS, type Point, UNITS } from './histograms.ts';
import type { Attributes, AttributeValue, Span, SpanEvent } from './model.ts';

const KIND: Readonly<Record<Span['kind'], number>> = { internal: 1, client: 3 };
const STATUS = { unset: 0, error: 2 } as const;
/** A process of odek is short: sums are of the time since the last export, not since the start. */
const DELTA = 1;
const SCOPE = { name: 'odek' };

function nanos(ms: number): string {
  return ms <= 0 ? '0' : `${Math.round(ms)}000000`;
}

function toValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function toAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

function toEvent({ name, at, attributes }: SpanEvent): object {
  return { timeUnixNano: nanos(at), name, attributes: toAttributes(attributes) };
}

function toSpan(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
    name: span.name,
    kind: KIND[span.kind],
    startTimeUnixNano: nanos(span.start),
    endTimeUnixNano: nanos(span.end),
    attributes: toAttributes(span.attributes),
    ...(span.events.length > 0 && { events: span.events.map(toEvent) }),
    ...(span.droppedEvents > 0 && { droppedEventsCount: span.droppedEvents }),
    status: { code: STATUS[span.status] },
  };
}

/** The body of a request to `/v1/traces`. */
export function tracesBody(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans: [{ scope: SCOPE, spans: spans.map(toSpan) }] }],
  });
}

interface Period {
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

function toPoint(point: Point, { start, end }: Period): object {
  return {
    attributes: toAttributes(point.attributes),
    startTimeUnixNano: nanos(start),
    timeUnixNano: nanos(end),
    count: String(point.count),
    sum: point.sum,
    min: point.min,
    max: point.max,
    bucketCounts: point.buckets.map(String),
    explicitBounds: BOUNDS[point.metric] ?? [],
  };
}

/** The body of a request to `/v1/metrics`. */
export function metricsBody(points: readonly Point[], period: Period, resource: Attributes): string {
  const names = [...new Set(points.map(({ metric }) => metric))];
  const metrics = names.map((name) => ({
    name,
    unit: UNITS[name] ?? '1',
    histogram: {
      aggregationTemporality: DELTA,
      dataPoints: points.filter(({ metric }) => metric === name).map((point) => toPoint(point, period)),
    },
  }));
  return JSON.stringify({
    resourceMetrics: [{ resource: { attributes: toAttributes(resource) }, scopeMetrics: [{ scope: SCOPE, metrics }] }],
  });
}

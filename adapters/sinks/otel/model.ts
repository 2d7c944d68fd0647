/** Spans and metrics in memory, before they are written in OTLP's words. */
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly attributes: Attributes;
}

/** A span that has ended. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly droppedEvents: number;
  readonly status: 'unset' | 'error';
}

/** One measured value. */
export interface Measurement {
  readonly metric: string;
  readonly value: number;
  readonly attributes: Attributes;
}

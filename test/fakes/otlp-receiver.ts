import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface OtlpValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
}
interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events?: readonly { readonly name: string; readonly timeUnixNano: string; readonly attributes: readonly OtlpAttribute[] }[];
  readonly droppedEventsCount?: number;
  readonly status: { readonly code: number };
}

export interface ReceivedPoint {
  readonly attributes: readonly OtlpAttribute[];
  readonly count: string;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram: { readonly aggregationTemporality: number; readonly dataPoints: readonly ReceivedPoint[] };
}

export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
  readonly body: any;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Never answers. */
  readonly hang?: boolean;
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly port: number;
  readonly posts: readonly ReceivedPost[];
  spans(): readonly ReceivedSpan[];
  metrics(): readonly ReceivedMetric[];
  close(): Promise<void>;
}

/** Attributes as a plain object; whole numbers as numbers. */
export function plain(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.intValue === undefined ? Object.values(value)[0] : Number(value.intValue)]),
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A receiver of OTLP over HTTP on a loopback port. `answer` is asked for each request, counted from 1. */
export async function startOtlpReceiver(answer: (post: ReceivedPost, number: number) => Answer = () => ({})): Promise<OtlpReceiver> {
  const posts: ReceivedPost[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const post = { path: request.url ?? '', headers: request.headers, body: JSON.parse(await bodyOf(request)) };
    posts.push(post);
    const { status = 200, headers = {}, body = '{}', hang } = answer(post, posts.length);
    if (hang === true) return;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const of = (path: string): readonly ReceivedPost[] => posts.filter((post) => post.path.endsWith(path));
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    posts,
    spans: () => of('/v1/traces').flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans),
    metrics: () => of('/v1/metrics').flatMap(({ body }) => body.resourceMetrics[0].scopeMetrics[0].metrics),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A request as a server of any format got it. */
export interface FormatRequest {
  /** From 1. */
  readonly number: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON body. */
  // biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
  readonly body: any;
}

/** One reply, in words that every format has. */
export interface FormatReply {
  readonly reasoning?: readonly string[];
  /** What the format sends along with the reasoning. */
  readonly signature?: string;
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string; readonly signature?: string }[];
  /** The format's own usage object; `null`: none. */
  readonly usage?: object | null;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The error of a failing reply, as the format writes it. */
  readonly error?: object;
  /** Breaks the connection off after this many events. */
  readonly cutAfter?: number;
  /** Sends the head and then nothing more. */
  readonly hang?: boolean;
}

export interface FormatEvent {
  readonly name?: string;
  readonly data: object;
}

/** What one format does with a reply. */
export interface ServerFormat {
  streams(request: FormatRequest): boolean;
  events(reply: FormatReply, number: number): readonly FormatEvent[];
  whole(reply: FormatReply, number: number): object;
  /** The body for a `GET` of `path`; undefined for 404. */
  list(path: string, models: readonly object[]): object | undefined;
}

export interface FormatServer {
  /** Without a path. */
  readonly url: string;
  readonly requests: readonly FormatRequest[];
  readonly connections: number;
  close(): Promise<void>;
}

export type FormatScript = readonly FormatReply[] | ((request: FormatRequest) => FormatReply);

/** A real server on 127.0.0.1. After the script's end it answers 500. Questions for models are not counted. */
export async function startFormatServer(format: ServerFormat, script: FormatScript, models: readonly object[] = []): Promise<FormatServer> {
  const choose = typeof script === 'function' ? script : ({ number }: FormatRequest) => script[number - 1] ?? AFTER_THE_END;
  const requests: FormatRequest[] = [];
  let connections = 0;
  const server = createServer((incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      if (incoming.method === 'GET') {
        const listed = format.list(incoming.url ?? '', models);
        outgoing.writeHead(listed === undefined ? 404 : 200, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify(listed ?? { error: { message: 'there is nothing here' } }));
        return;
      }
      const request = await readRequest(incoming, requests.length + 1);
      requests.push(request);
      await sendReply(outgoing, choose(request), request, format);
    };
    answer().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const AFTER_THE_END: FormatReply = { status: 500, error: { message: 'the script has no more replies' } };

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function readRequest(incoming: IncomingMessage, number: number): Promise<FormatRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return { number, path: incoming.url ?? '', headers: incoming.headers, body };
}

async function sendReply(outgoing: ServerResponse, reply: FormatReply, request: FormatRequest, format: ServerFormat): Promise<void> {
  if (reply.error !== undefined) {
    outgoing.writeHead(reply.status ?? 500, { 'content-type': 'application/json', ...reply.headers });
    outgoing.end(JSON.stringify({ type: 'error', error: reply.error }));
    return;
  }
  const streams = format.streams(request);
  outgoing.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
  outgoing.flushHeaders();
  if (reply.hang === true) return;
  if (!streams) {
    outgoing.end(JSON.stringify(format.whole(reply, request.number)));
    return;
  }
  for (const [sent, event] of format.events(reply, request.number).entries()) {
    if (sent === reply.cutAfter) {
      // What is to be cut must have left first.
      await delay(10);
      outgoing.destroy();
      return;
    }
    outgoing.write(eventText(event));
  }
  outgoing.end();
}

export function eventText({ name, data }: FormatEvent): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** An event that carries its name inside as well. */
export function typed(data: { readonly type: string; readonly [key: string]: unknown }): FormatEvent {
  return { name: data.type, data };
}

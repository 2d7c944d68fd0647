import { fstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** A chat-completions request as the server got it. */
export interface ServerRequest {
  /** From 1. */
  readonly number: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON body. */
  // biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
  readonly body: any;
  /** The body as it came. */
  readonly text: string;
  /** The body's bytes. */
  readonly size: number;
  /** Milliseconds since the epoch at which the first byte of the body's head was seen. */
  readonly at: number;
}

/** One reply. `{{n}}` in any text of it is replaced by the request's number. */
export interface ServerReply {
  readonly reasoning?: string | readonly string[];
  /** A list is sent as that many deltas. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: string | object }[];
  readonly finish?: string;
  /** `null`: none is reported. Default: 100 in, 10 out. */
  readonly usage?: object | null;
  /** Milliseconds before the reply, and between its chunks. */
  readonly delayMs?: number;
  readonly chunkDelayMs?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is in place of a completion; with `status` a failing reply. */
  readonly raw?: string | Uint8Array;
  /** The error object of a failing reply; `status` defaults to 500. */
  readonly error?: object;
  /** Breaks the connection off after this many chunks. */
  readonly cutAfter?: number;
  /** Sends the head and then nothing more. */
  readonly hang?: boolean;
  /** Answers with one JSON body whatever was asked. */
  readonly buffered?: boolean;
  /** Plays this reply so many times; default 1. */
  readonly times?: number;
}

export type ServerScript = readonly ServerReply[] | ((request: ServerRequest) => ServerReply | Promise<ServerReply>);

export interface OpenAiServerOptions {
  /** False keeps no request, for long benchmarks. */
  readonly keepRequests?: boolean;
  /** What `GET /models` lists. Such questions are not counted and use up no reply. */
  readonly models?: readonly object[];
}

export interface OpenAiServer {
  /** Base URL with `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ServerRequest[];
  /** Requests so far, kept or not. */
  readonly count: number;
  /** Sockets that are open now. */
  readonly connections: number;
  /** Sockets that were ever opened. */
  readonly accepted: number;
  close(): Promise<void>;
}

/** A real server on 127.0.0.1 that speaks chat completions. After the script's end it answers 500. */
export async function startOpenAiServer(script: ServerScript, options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const replies = typeof script === 'function' ? [] : script.flatMap((reply) => Array<ServerReply>(reply.times ?? 1).fill(reply));
  const choose = typeof script === 'function' ? script : (request: ServerRequest) => replies[request.number - 1] ?? AFTER_THE_END;
  const requests: ServerRequest[] = [];
  let count = 0;
  let accepted = 0;
  let connections = 0;
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'GET') {
      const body = incoming.url?.endsWith('/models') ? { object: 'list', data: options.models ?? [] } : undefined;
      outgoing.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(body ?? { error: { message: 'there is nothing here' } }));
      return;
    }
    const at = Date.now();
    count += 1;
    const number = count;
    const answer = async (): Promise<void> => {
      const request = await readRequest(incoming, number, at);
      if (options.keepRequests !== false) requests.push(request);
      const reply = await choose(request);
      await sendReply(outgoing, reply, request);
    };
    answer().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.keepAliveTimeout = 120_000;
  server.on('connection', (socket) => {
    accepted += 1;
    connections += 1;
    socket.on('close', () => {
      connections -= 1;
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    get count() {
      return count;
    },
    get connections() {
      return connections;
    },
    get accepted() {
      return accepted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const AFTER_THE_END: ServerReply = { status: 500, error: { message: 'the script has no more replies' } };

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function readRequest(incoming: IncomingMessage, number: number, at: number): Promise<ServerRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString('utf8');
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { number, path: incoming.url ?? '', headers: incoming.headers, body, text, size: bytes.length, at };
}

async function sendReply(outgoing: ServerResponse, reply: ServerReply, request: ServerRequest): Promise<void> {
  if (reply.delayMs !== undefined) await delay(reply.delayMs);
  if (reply.error !== undefined || reply.raw !== undefined) {
    const failing = reply.error !== undefined;
    const type = failing ? 'application/json' : 'text/event-stream';
    outgoing.writeHead(reply.status ?? (failing ? 500 : 200), { 'content-type': type, ...reply.headers });
    outgoing.end(failing ? JSON.stringify({ error: reply.error }) : reply.raw);
    return;
  }
  const asked = request.body as { stream?: boolean; model?: string } | undefined;
  if (asked?.stream !== true || reply.buffered === true) {
    outgoing.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    if (reply.hang === true) outgoing.flushHeaders();
    else outgoing.end(JSON.stringify(completion(reply, request.number, asked?.model)));
    return;
  }
  outgoing.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers });
  outgoing.flushHeaders();
  if (reply.hang === true) return;
  let sent = 0;
  for (const chunk of streamChunks(reply, request.number, asked.model)) {
    if (reply.cutAfter !== undefined && sent >= reply.cutAfter) {
      outgoing.destroy();
      return;
    }
    await write(outgoing, `data: ${JSON.stringify(chunk)}\n\n`, reply.cutAfter !== undefined);
    sent += 1;
    if (reply.chunkDelayMs !== undefined) await delay(reply.chunkDelayMs);
  }
  if (reply.cutAfter !== undefined) outgoing.destroy();
  else outgoing.end('data: [DONE]\n\n');
}

/** What is to be cut must have left first, and a moment apart from the cut. */
async function write(outgoing: ServerResponse, text: string, flush: boolean): Promise<void> {
  if (!flush) {
    outgoing.write(text);
    return;
  }
  await new Promise((resolve) => outgoing.write(text, resolve));
  await delay(10);
}

interface Filled {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly finish: string;
  readonly usage: object | undefined;
}

function fill(reply: ServerReply, number: number): Filled {
  const insert = (text: string): string => text.replaceAll('{{n}}', String(number));
  const list = (text: string | readonly string[] | undefined): string[] => (text === undefined ? [] : [text].flat().map(insert));
  const calls = (reply.calls ?? []).map((call, index) => ({
    id: insert(call.id ?? `call_{{n}}_${index}`),
    type: 'function' as const,
    function: {
      name: call.name,
      arguments: insert(typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {})),
    },
  }));
  return {
    reasoning: list(reply.reasoning),
    text: list(reply.text),
    calls,
    finish: reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: reply.usage === null ? undefined : (reply.usage ?? { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }),
  };
}

function completion(reply: ServerReply, number: number, model: string | undefined): object {
  const { reasoning, text, calls, finish, usage } = fill(reply, number);
  const message = {
    role: 'assistant',
    content: text.join(''),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { id: `chat-${number}`, object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: finish }], usage };
}

function* streamChunks(reply: ServerReply, number: number, model: string | undefined): Generator<object> {
  const { reasoning, text, calls, finish, usage } = fill(reply, number);
  const chunk = (delta: object, finishReason: string | null = null): object => ({
    id: `chat-${number}`,
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const part of reasoning) yield chunk({ reasoning_content: part });
  for (const part of text) yield chunk({ content: part });
  for (const [index, call] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: call.function.arguments } }] });
  }
  yield chunk({}, finish);
  if (usage !== undefined) yield { id: `chat-${number}`, object: 'chat.completion.chunk', model, choices: [], usage };
}

/** `--script <file>`: JSON with a list of replies, or a module whose default export is a script. Prints the port. */
async function main(): Promise<void> {
  const at = process.argv.indexOf('--script');
  const file = process.argv[at + 1];
  if (at === -1 || file === undefined) throw new Error('usage: openai-server.ts --script <file.json | file.ts>');
  const script = file.endsWith('.json')
    ? (JSON.parse(await readFile(file, 'utf8')) as ServerScript)
    : ((await import(pathToFileURL(file).href)) as { default: ServerScript }).default;
  const server = await startOpenAiServer(script, { keepRequests: false });
  process.stdout.write(`${server.port}\n`);
  const stop = (): void => {
    server.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  // A parent that holds the other end of a pipe and is gone needs no server.
  const input = fstatSync(0);
  if (input.isFIFO() || input.isSocket()) process.stdin.resume().once('end', stop);
}

if (import.meta.main) await main();

/**
 * The model of the benchmarks, in a process of its own so that it costs the measured one nothing.
 * Answers each request with a short text and a `read_file` call, and the last one without a call. A
 * request without tools is a call beside the run: it gets a short digest and is not counted.
 *
 *   node model-server.ts
 *
 * Prints its base URL. `POST /script?iterations=N` starts a new count; `GET /seen` tells
 * `{requests, firstByteAt, firstRequestBytes}`, the time in milliseconds since the epoch.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const TEXT = 'Reading the next file now, to see whether it says anything new about the question.'.split(/(?<= )/);

let iterations = 1;
let requests = 0;
let firstByteAt = 0;
let firstRequestBytes = 0;

const now = (): number => performance.timeOrigin + performance.now();

function reply(response: ServerResponse, last: boolean): void {
  const id = `chatcmpl-${requests}`;
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const parts = [chunk({ role: 'assistant', content: '' }), ...TEXT.map((content) => chunk({ content }))];
  if (!last) {
    const call = (part: object): string => chunk({ tool_calls: [{ index: 0, ...part }] });
    parts.push(call({ id: `call_${requests}`, type: 'function', function: { name: 'read_file', arguments: '' } }));
    for (const piece of ['{"pa', 'th":"', 'page-', `${requests % 10}.txt`, '"}']) parts.push(call({ function: { arguments: piece } }));
  }
  parts.push(chunk({}, last ? 'stop' : 'tool_calls'));
  const usage = { prompt_tokens: 1000, completion_tokens: 40, total_tokens: 1040 };
  parts.push(
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: 'bench', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(parts.join(''));
}

function replyBeside(response: ServerResponse): void {
  const message = { role: 'assistant', content: 'Task:\n- read the pages\nDone:\n- read the pages so far\nNext:\n- read on' };
  const usage = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'side', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
}

/** Tools stand behind the messages, so the end of a body tells whether there are any. */
const END_BYTES = 65_536;

function answer(request: IncomingMessage, response: ServerResponse, bytes: number, end: Buffer): void {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (url.pathname === '/script') {
    iterations = Number(url.searchParams.get('iterations'));
    requests = 0;
    firstByteAt = 0;
    response.end();
  } else if (url.pathname === '/seen') {
    response.end(JSON.stringify({ requests, firstByteAt, firstRequestBytes }));
  } else if (!end.includes('],"tools":[')) {
    replyBeside(response);
  } else if (request.method !== 'POST') {
    response.writeHead(404).end();
  } else {
    requests += 1;
    if (requests === 1) firstRequestBytes = bytes;
    reply(response, requests >= iterations);
  }
}

const server = createServer((request, response) => {
  if (request.url?.endsWith('/chat/completions') && firstByteAt === 0) firstByteAt = now();
  let bytes = 0;
  let end: Buffer = Buffer.alloc(0);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    end = Buffer.concat([end, chunk]).subarray(-END_BYTES);
  });
  request.on('end', () => answer(request, response, bytes, end));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
// The parent holds our stdin: when it goes, so do we.
process.stdin.on('end', () => process.exit(0)).resume();

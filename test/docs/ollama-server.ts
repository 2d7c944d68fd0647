/** A server that speaks Ollama's own format, for the recipe of docs/recipes.md. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type LlmScenario, SCENARIO_ANSWERS } from '../contracts/llm-provider.suite.ts';

export interface OllamaServer {
  readonly url: string;
  readonly bodies: readonly unknown[];
  connections(): number;
  close(): Promise<void>;
}

function linesOf(scenario: keyof typeof SCENARIO_ANSWERS): string {
  const { text, reasoning, calls } = SCENARIO_ANSWERS[scenario];
  const lines: object[] = [
    ...reasoning.map((thinking) => ({ message: { role: 'assistant', content: '', thinking }, done: false })),
    ...text.map((content) => ({ message: { role: 'assistant', content }, done: false })),
    ...calls.map((call) => ({
      message: {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: call.id, function: { name: call.name, arguments: JSON.parse(call.arguments) as unknown } }],
      },
      done: false,
    })),
    { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 12, eval_count: 7 },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function answer(response: ServerResponse, scenario: LlmScenario): Promise<void> {
  if (scenario === 'rate_limited') {
    response.writeHead(429).end('{"error":"slow down"}');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  if (scenario === 'never_ending') {
    response.write(linesOf('plain_text').split('\n')[0]);
    return;
  }
  const kind = scenario === 'byte_by_byte' ? 'two_parallel_calls' : scenario === 'cut_stream' ? 'plain_text' : scenario;
  const bytes = Buffer.from(linesOf(kind));
  if (scenario === 'cut_stream') response.end(bytes.subarray(0, bytes.length - 40));
  else if (scenario === 'byte_by_byte') {
    for (const byte of bytes) {
      response.write(Buffer.of(byte));
      await delay(0);
    }
    response.end();
  } else response.end(bytes);
}

/** Answers the requests in the order of `scenarios`; the last one goes on for all that follow. */
export async function startOllamaServer(scenarios: readonly [LlmScenario, ...LlmScenario[]]): Promise<OllamaServer> {
  const sockets = new Set<Socket>();
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const scenario = scenarios[Math.min(bodies.length, scenarios.length - 1)] ?? scenarios[0];
      bodies.push(JSON.parse(text));
      void answer(response, scenario);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

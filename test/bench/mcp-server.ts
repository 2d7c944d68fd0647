/**
 * The MCP server of the benchmarks, written by hand so that it costs little: `node mcp-server.ts stdio`, or `http`, which
 * prints its address and ends with its standard input. `echo` answers with 1 kB, `large` with 10 MiB.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const SMALL = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(1024) }] });
const LARGE = JSON.stringify({ content: [{ type: 'text', text: 'y'.repeat(10 * 1024 * 1024) }] });
const TOOLS = JSON.stringify({ tools: ['echo', 'large'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
const HELLO = JSON.stringify({ protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } });

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/** The reply to a message; undefined for none. */
function replyTo(text: string): string | undefined {
  const { id, method, params } = JSON.parse(text) as Message;
  if (id === undefined || method === undefined) return undefined;
  const call = params?.name === 'large' ? LARGE : SMALL;
  const result = { initialize: HELLO, 'tools/list': TOOLS, 'tools/call': call }[method];
  if (result === undefined) return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } });
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

if (process.argv[2] === 'stdio') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const reply = replyTo(line);
    if (reply !== undefined) process.stdout.write(`${reply}\n`);
  });
} else {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const reply = request.method === 'POST' ? replyTo(Buffer.concat(chunks).toString()) : undefined;
      if (request.method !== 'POST') response.writeHead(405).end();
      else if (reply === undefined) response.writeHead(202).end();
      else {
        // As the servers of the protocol's SDK answer.
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`event: message\ndata: ${reply}\n\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`));
  process.stdin.on('end', () => process.exit(0)).resume();
}

// A server of the protocol's own SDK that speaks 2026-07-28.
//   node modern.mjs stdio | http     (http: prints its port)
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const servers = new Set();

function create() {
  const server = new McpServer({ name: 'modern', version: '2.0.0' });
  const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } });
  server.registerTool('echo', { description: 'Says its input again.', inputSchema }, ({ text }) => ({ content: [{ type: 'text', text }] }));
  server.registerTool('grow', { description: 'Adds a tool.', inputSchema }, ({ text }) => {
    for (const each of servers) {
      each.registerTool(text, { description: 'Grown.', inputSchema }, () => ({ content: [] }));
    }
    return { content: [{ type: 'text', text: 'grown' }] };
  });
  servers.add(server);
  return server;
}

if (process.argv[2] === 'stdio') serveStdio(create);
else {
  const server = createServer(toNodeHandler(createMcpHandler(create)));
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}

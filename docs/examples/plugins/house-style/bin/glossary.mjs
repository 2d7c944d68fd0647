// An MCP server over standard input and output, without any package.
import { createInterface } from 'node:readline';

const TERMS = new Map([
  ['sign-in', 'The act of signing in. Never "login".'],
  ['workspace', 'The folder of a project. Never "work space".'],
]);

const TOOL = {
  name: 'lookup',
  description: 'How a term is spelt and used here.',
  inputSchema: { type: 'object', properties: { term: { type: 'string' } }, required: ['term'] },
  annotations: { readOnlyHint: true },
};

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'glossary', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: [TOOL] };
    case 'tools/call': {
      const text = TERMS.get(params.arguments?.term) ?? 'There is no such term.';
      return { content: [{ type: 'text', text }] };
    }
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const result = answer(message);
  const reply = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply })}\n`);
}

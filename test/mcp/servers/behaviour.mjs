// What the scripted servers do, whichever way their messages travel. Raw JSON-RPC, nothing but node.
// `peer`: send(message), for(id) sends what belongs to the request `id`, exit(code), stderr(text), raw(text).

const TOOLS = {
  echo: { description: 'Says its input again.', annotations: { readOnlyHint: true } },
  unsafe: { description: 'Counts its calls.' },
  fails: { description: 'Says that it failed.' },
  refused: { description: 'Is answered with an error.' },
  slow: { description: 'Never answers.' },
  late: { description: 'Answers once it was cancelled.' },
  huge: { description: 'Answers with `bytes` of text.' },
  die: { description: 'Ends the server.' },
  burst: { description: 'Says five times that the list changed.' },
  grow: { description: 'Adds a tool and says so.' },
  seen: { description: 'What the server was sent so far.' },
  environment: { description: 'The variables that the server has.' },
  structured: {
    description: 'Answers with an object.',
    outputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', required: ['absent'] },
  },
  malformed: { description: 'Answers with something that is no result.' },
  'stderr-flood': { description: 'Writes `bytes` to standard error before it answers.' },
  noise: { description: 'Writes lines that are no messages around its answer.' },
  pings: { description: 'Asks the client whether it is there, and answers afterwards.' },
};

const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** `mode` decides what is wrong with the listing: plain, many, loop, cycle, empty-cursor, bad-page, duplicates, endless. */
function pageOf(mode, cursor, names) {
  const tool = (name) => ({
    name,
    description: TOOLS[name]?.description ?? `The tool ${name}.`,
    inputSchema: { type: 'object' },
    ...TOOLS[name],
  });
  const numbered = (from, to) => Array.from({ length: to - from }, (_, index) => tool(`t${from + index}`));
  const at = Number(cursor ?? 0);
  switch (mode) {
    case 'many':
      return { tools: numbered(at, Math.min(at + 50, 101)), ...(at + 50 < 101 ? { nextCursor: String(at + 50) } : {}) };
    case 'loop':
      return { tools: numbered(0, 8), nextCursor: 'again' };
    case 'cycle':
      return { tools: numbered(cursor === 'b' ? 8 : 0, cursor === 'b' ? 16 : 8), nextCursor: cursor === 'b' ? 'a' : 'b' };
    case 'empty-cursor':
      return { tools: numbered(0, 3), nextCursor: '' };
    case 'bad-page':
      if (at === 2) throw { code: -32603, message: 'page 3 is broken' };
      return { tools: numbered(at * 2, at * 2 + 2), nextCursor: String(at + 1) };
    case 'duplicates':
      return at === 0
        ? { tools: [tool('echo'), { ...tool('echo'), description: 'another' }], nextCursor: '1' }
        : { tools: [tool('echo'), tool('fails')] };
    case 'endless':
      return { tools: numbered(at, at + 1), nextCursor: String(at + 1) };
    case 'wide':
      return { tools: numbered(at, at + 3000), nextCursor: String(at + 3000) };
    case 'headers': {
      const property = (header, type = 'string') => ({ type, 'x-mcp-header': header });
      return {
        tools: [
          {
            ...tool('echo'),
            inputSchema: {
              type: 'object',
              properties: { text: property('text'), region: property('Region'), 'x-mcp-header': { type: 'string' } },
            },
          },
          { ...tool('wrong'), inputSchema: { type: 'object', properties: { list: { type: 'array', items: property('item') } } } },
        ],
      };
    }
    case 'odd':
      return { tools: [tool('echo'), null, {}, { name: 'no-schema' }, { name: 'list-schema', inputSchema: [] }] };
    case 'no-list':
      return { tools: 'none' };
    default:
      return { tools: names.map(tool) };
  }
}

export function createBehaviour({ mode = 'plain', versions = ['2025-03-26'], modern = false } = {}) {
  const names = Object.keys(TOOLS);
  const seen = [];
  const waiting = new Map();
  let calls = 0;

  async function call(peer, id, { name, arguments: input = {} }) {
    switch (name) {
      case 'echo':
        return text(String(input.text ?? ''));
      case 'unsafe':
        calls += 1;
        return text(String(calls));
      case 'fails':
        return { ...text('it went wrong'), isError: true };
      case 'refused':
        throw { code: -32602, message: 'these arguments will not do' };
      case 'slow':
        return undefined;
      case 'late':
        waiting.set(id, () => peer.for(id)({ jsonrpc: '2.0', id, result: text('too late') }));
        return undefined;
      case 'huge':
        return text('x'.repeat(input.bytes));
      case 'die':
        peer.stderr('the disk is full\n');
        peer.exit(3);
        return undefined;
      case 'burst':
        for (let time = 0; time < 5; time += 1) peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        return text('said');
      case 'grow':
        names.push(input.name);
        peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        return text('grown');
      case 'seen':
        return text(JSON.stringify(seen));
      case 'environment':
        return text(JSON.stringify(process.env));
      case 'structured':
        return { content: [], structuredContent: { present: 1 } };
      case 'malformed':
        return input.result ?? 7;
      case 'stderr-flood':
        await peer.stderr(`${'e'.repeat(input.bytes - 1)}\n`);
        return text('written');
      case 'noise':
        peer.raw('\u001b[32mserver v1.0 ready\u001b[0m\n123\nnull\n{"level":"info","password":"hunter2hunter2"}\n\r\n\n');
        return text('after the noise');
      case 'pings':
        waiting.set('ping-1', () => peer.for(id)({ jsonrpc: '2.0', id, result: text('ponged') }));
        peer.for(id)({ jsonrpc: '2.0', id: 'ping-1', method: 'ping' });
        return undefined;
      default:
        throw { code: -32602, message: `unknown tool ${name}` };
    }
  }

  async function answer(peer, { id, method, params = {} }) {
    switch (method) {
      case 'initialize': {
        if (modern === 'only') throw { code: -32601, message: 'initialize is gone' };
        const version = versions.includes(params.protocolVersion) ? params.protocolVersion : versions[0];
        return {
          protocolVersion: version,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'scripted', version: '1.2.3' },
        };
      }
      case 'server/discover':
        if (!modern) throw { code: -32601, message: 'method not found' };
        return {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: { listChanged: true } },
          ttlMs: 0,
          cacheScope: 'private',
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1.2.3' } },
        };
      case 'subscriptions/listen':
        peer.for(id)({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: { toolsListChanged: true }, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
        });
        return undefined;
      case 'ping':
        return {};
      case 'tools/list':
        return pageOf(mode, params.cursor, names);
      case 'tools/call':
        return call(peer, id, params);
      default:
        throw { code: -32601, message: `method not found: ${method}` };
    }
  }

  return {
    seen,
    /** Performs one message; answers travel through the peer. */
    async handle(message, peer) {
      seen.push({
        ...(message.id === undefined ? {} : { id: message.id }),
        method: message.method ?? 'response',
        ...(message.params === undefined ? {} : { params: message.params }),
      });
      if (message.method === undefined) {
        waiting.get(message.id)?.();
        return;
      }
      if (message.id === undefined) {
        if (message.method === 'notifications/cancelled') waiting.get(message.params.requestId)?.();
        return;
      }
      try {
        const result = await answer(peer, message);
        const whole = modern && typeof result === 'object' && result !== null ? { resultType: 'complete', ...result } : result;
        if (result !== undefined) peer.for(message.id)({ jsonrpc: '2.0', id: message.id, result: whole });
      } catch (error) {
        peer.for(message.id)({ jsonrpc: '2.0', id: message.id, error: { code: error.code ?? -32603, message: String(error.message) } });
      }
    },
  };
}

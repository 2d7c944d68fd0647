/**
 * A small MCP server over standard input and output, written with nothing but node. Its tools come from the
 * file that its first argument names, read at each listing: `[{ name, description, inputSchema }]`. It appends its
 * process id to the file of the second argument. A third one is what it does wrong: `silent` answers nothing,
 * `stubborn` neither answers nor ends.
 * Tools named `environment`, `become`, `pause` and `die` do what they say, `later` does what `become` does once there is
 * the file `now` beside the tools; every other one repeats its arguments.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const [toolsFile, pidFile, fault] = process.argv.slice(2);
appendFileSync(pidFile, `${process.pid}\n`);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = () => JSON.parse(readFileSync(toolsFile, 'utf8'));

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'small', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': ({ name, arguments: given = {} }) => {
    if (name === 'environment') return text(Object.keys(process.env).sort().join(' '));
    if (name === 'die') process.exit(7);
    if (name === 'become') become(given.tools);
    if (name === 'later') {
      const waiting = setInterval(() => {
        if (!existsSync(join(dirname(toolsFile), 'now'))) return;
        clearInterval(waiting);
        process.stderr.write('the time has come\n');
        become(given.tools);
      }, 50);
    }
    if (name === 'pause') return new Promise((resolve) => setTimeout(() => resolve(text('paused')), 500));
    return text(`${name} says ${JSON.stringify(given)}`);
  },
};

function become(next) {
  writeFileSync(toolsFile, JSON.stringify(next));
  send({ method: 'notifications/tools/list_changed' });
}

const text = (content) => ({ content: [{ type: 'text', text: content }] });

process.stderr.write('the small server is up\n');

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || fault === 'silent' || fault === 'stubborn') return;
  const handler = handlers[method];
  if (handler === undefined) send({ id, error: { code: -32601, message: `no such method: ${method}` } });
  else send({ id, result: await handler(params ?? {}) });
});
if (fault === 'stubborn') {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => {});
  setInterval(() => {}, 1000);
} else lines.on('close', () => process.exit(0));

#!/usr/bin/env node
/**
 * A small extension server for odek, written with node alone. Copy it, take the fixture tools out and
 * put yours in. It speaks MCP over standard input and output: one JSON-RPC 2.0 message a line.
 *
 *   node server.mjs [--artifacts <folder>]
 *
 * Three habits keep a server out of trouble:
 *
 * - Standard output belongs to the protocol. Every other word, `console.log` too, goes to standard error.
 * - A request gets exactly one answer, a notification gets none, whatever happens in between.
 * - When standard input ends, the client is gone: end too.
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Newest first. A client that asks for another one is offered the first that odek offers itself. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const OFFERED = '2025-03-26';
/** Bytes of one line that is read. A line without an end must not fill the memory. */
const MAX_LINE = 4 * 1024 * 1024;
const MAX_TEXT = 1_000_000;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

const log = (...words) => process.stderr.write(`extension-server: ${words.join(' ')}\n`);

// --- Tools -------------------------------------------------------------------------------------------

/** Where `artifact_result` puts its file. The operator names the same folder in `artifact_roots`. */
const artifactFolder = () => {
  const at = process.argv.indexOf('--artifacts');
  return resolve(at < 0 ? join(tmpdir(), 'odek-extension-server') : (process.argv[at + 1] ?? '.'));
};

const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** What is too large or too binary for a model goes into a file; the result holds a summary and a reference. */
const envelope = (summary, artifacts) => text(JSON.stringify({ schema: 'odek.tool-result/v1', text: summary, artifacts }));

/** A number from the arguments, within bounds. Arguments come from a model: check what you use, ignore what you do not know. */
function amount(given, { least, most, otherwise }) {
  if (given === undefined) return otherwise;
  if (!Number.isFinite(given) || given < least || given > most) throw new InvalidArguments(`a number from ${least} to ${most} is needed`);
  return Math.floor(given);
}

class InvalidArguments extends Error {}

async function writeReport() {
  const folder = artifactFolder();
  await mkdir(folder, { recursive: true });
  const bytes = Buffer.from(Array.from({ length: 2000 }, (_, line) => `line ${line + 1}\n`).join(''));
  const path = join(folder, 'report.txt');
  await writeFile(path, bytes);
  return { path, bytes };
}

/** Name, description and schema are what a model chooses by. `run` gets the arguments and a signal that fires on cancel. */
const TOOLS = [
  {
    name: 'echo',
    description: 'Gives back the text it is given.',
    inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'Any text' } }, required: ['text'] },
    run: ({ text: given }) => {
      if (typeof given !== 'string') throw new InvalidArguments('"text" must be a text');
      return text(given);
    },
  },
  {
    name: 'large_result',
    description: 'Gives back many characters in one text, to see how a client bounds them.',
    inputSchema: { type: 'object', properties: { chars: { type: 'integer', minimum: 1, maximum: MAX_TEXT } } },
    run: ({ chars }) => text('0123456789'.repeat(MAX_TEXT / 10).slice(0, amount(chars, { least: 1, most: MAX_TEXT, otherwise: 250_000 }))),
  },
  {
    name: 'artifact_result',
    description: 'Writes a report into a file and refers to it.',
    inputSchema: { type: 'object', properties: {} },
    run: async () => {
      const { path, bytes } = await writeReport();
      return envelope('Wrote a report of 2000 lines.', [
        {
          schema: 'odek.artifact-ref/v1',
          id: 'report-1',
          uri: pathToFileURL(path).href,
          media_type: 'text/plain',
          // Digest and size are optional. With them nobody can put another file in the place of yours.
          sha256: createHash('sha256').update(bytes).digest('hex'),
          size_bytes: bytes.length,
          summary: 'The report, one line for each thing that was counted',
        },
      ]);
    },
  },
  {
    name: 'bad_artifact',
    description: 'Refers to its report with a digest that is wrong. A client has to refuse the whole result.',
    inputSchema: { type: 'object', properties: {} },
    run: async () => {
      const { path, bytes } = await writeReport();
      const sha256 = createHash('sha256').update('something else').digest('hex');
      const uri = pathToFileURL(path).href;
      return envelope('This must not be believed.', [
        { schema: 'odek.artifact-ref/v1', id: 'report-1', uri, media_type: 'text/plain', sha256, size_bytes: bytes.length },
      ]);
    },
  },
  {
    name: 'slow',
    description: 'Waits, then answers. Ends early when the call is cancelled.',
    inputSchema: { type: 'object', properties: { ms: { type: 'integer', minimum: 0, maximum: 600_000 } } },
    run: async ({ ms }, signal) => {
      const wait = amount(ms, { least: 0, most: 600_000, otherwise: 60_000 });
      await new Promise((done) => {
        const timer = setTimeout(done, wait);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          done();
        });
      });
      return text(`waited ${wait} ms`);
    },
  },
  {
    name: 'error_result',
    description: 'Fails, and says so in its result.',
    inputSchema: { type: 'object', properties: {} },
    // A tool that fails is a result with `isError`: the model reads it and goes another way. An error of
    // the protocol is for a call that cannot be understood.
    run: () => ({ ...text('this tool always fails'), isError: true }),
  },
];

// --- Protocol ----------------------------------------------------------------------------------------

const send = (message) => {
  if (process.stdout.writable) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const fail = (id, code, message) => send({ id: id ?? null, error: { code, message } });

/** Calls under way, by request id, so that a cancellation finds them. */
const running = new Map();

async function call(id, { name, arguments: given } = {}) {
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) return fail(id, INVALID_PARAMS, `unknown tool ${JSON.stringify(name)}`);
  const cancel = new AbortController();
  running.set(id, cancel);
  try {
    const result = await tool.run(given ?? {}, cancel.signal);
    // Nobody waits for the answer of a call that was cancelled.
    if (!cancel.signal.aborted) send({ id, result });
  } catch (error) {
    log(name, 'failed:', error.message);
    if (!cancel.signal.aborted) send({ id, result: { ...text(`${name}: ${error.message}`), isError: true } });
  } finally {
    running.delete(id);
  }
}

const REQUESTS = {
  initialize: (id, { protocolVersion } = {}) =>
    send({
      id,
      result: {
        protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : OFFERED,
        capabilities: { tools: {} },
        serverInfo: { name: 'extension-server', version: '1.0.0' },
      },
    }),
  ping: (id) => send({ id, result: {} }),
  'tools/list': (id) => send({ id, result: { tools: TOOLS.map(({ run, ...listed }) => listed) } }),
  'tools/call': call,
};

function receive(message) {
  if (typeof message !== 'object' || message === null || message.jsonrpc !== '2.0')
    return fail(null, INVALID_REQUEST, 'no JSON-RPC 2.0 message');
  const { id, method, params } = message;
  if (id === undefined) {
    // A notification. The ones that are not known are none of our business.
    if (method === 'notifications/cancelled') running.get(params?.requestId)?.abort();
    return;
  }
  if (typeof method !== 'string') return;
  if (!Object.hasOwn(REQUESTS, method)) return fail(id, METHOD_NOT_FOUND, `there is no method ${JSON.stringify(method)}`);
  REQUESTS[method](id, params);
}

// --- Lines -------------------------------------------------------------------------------------------

/** Only LF ends a line; node's readline would also split at characters that JSON texts may hold. */
let rest = Buffer.alloc(0);
let tooLong = false;

function readLine(line) {
  // Some clients write CRLF. JSON does not care for the CR, and neither do we; a line of nothing is skipped.
  if (line.toString().trim() === '') return;
  let message;
  try {
    message = JSON.parse(line.toString());
  } catch {
    return fail(null, PARSE_ERROR, 'the line is not JSON');
  }
  receive(message);
}

process.stdin.on('data', (chunk) => {
  let from = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
    const line = Buffer.concat([rest, chunk.subarray(from, at)]);
    rest = Buffer.alloc(0);
    from = at + 1;
    if (tooLong) fail(null, INVALID_REQUEST, `the line is longer than ${MAX_LINE} bytes`);
    else readLine(line);
    tooLong = false;
  }
  if (!tooLong) rest = Buffer.concat([rest, chunk.subarray(from)]);
  if (rest.length > MAX_LINE) {
    rest = Buffer.alloc(0);
    tooLong = true;
  }
});

/** The client is gone: stop what is under way and end. What was written is still delivered. */
const end = () => {
  for (const cancel of running.values()) cancel.abort();
  process.exitCode = 0;
  process.stdin.destroy();
};
process.stdin.on('end', end);
// Without this, a client that dies while it is being answered would end the server with an uncaught error.
process.stdout.on('error', end);
log('ready');

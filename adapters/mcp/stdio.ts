import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { McpError, type McpStdioServer } from '../../ports/mcp.ts';
import { type Fault, TransportFault } from './faults.ts';
import { isFields } from './fields.ts';
import { createLineReader } from './lines.ts';
import type { ProcessTree, ProcessTrees, Redaction } from './process-trees.ts';
import { createRawResults } from './raw-results.ts';
import { createStderrReader } from './stderr.ts';
import { planSpawn } from './windows.ts';

/** A transport that tells what it saw. */
export interface OdekTransport extends Transport {
  /** Why it ended; undefined while it lives. */
  ending(): Fault | undefined;
  /** Ends it at once. */
  abandon(): void;
  readonly seen: { messages: number; noise: number; firstNoise: string };
  stderrTail(): string;
}

export interface StdioOptions {
  /** The variables a child gets for the ones added to the allow-listed: without any secret-looking name. */
  readonly childEnvironment: (added: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  readonly trees: ProcessTrees;
  readonly redaction: Redaction;
  /** A line of standard error: redacted. */
  readonly onStderr: (line: string) => void;
  /** A line of standard output that was no message: redacted and cut. Told for the first ones only. */
  readonly onNoise: (line: string) => void;
  /** Milliseconds between the end of standard input and the kill (5,000). */
  readonly closeGraceMs?: number;
}

const CLOSE_GRACE_MS = 5000;
/** How long output is read after the process itself ended: somebody else may hold the pipe. */
const PIPE_GRACE_MS = 300;
/** How long a killed process may take to be gone. */
const KILL_GRACE_MS = 2000;
/** Bytes that wait for a server which does not read. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const MAX_NOISE_TOLD = 20;
const MAX_NOISE_CHARS = 200;
const DONE = Promise.resolve();

/** One life of a server that runs as a child process. */
export function createStdioTransport(server: McpStdioServer, options: StdioOptions): OdekTransport {
  const { trees, redaction } = options;
  const stderr = createStderrReader(redaction, options.onStderr);
  const seen = { messages: 0, noise: 0, firstNoise: '' };
  const results = createRawResults();
  const over = Promise.withResolvers<void>();
  let child: ChildProcess | undefined;
  let tree: ProcessTree | undefined;
  let ending: Fault | undefined;
  let finished = false;
  let closing: Promise<void> | undefined;

  const finish = (): void => {
    if (finished) return;
    finished = true;
    ending ??= { kind: 'exited', exitCode: child?.exitCode ?? null, signal: child?.signalCode ?? null, stderr: stderr.tail() };
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    child?.stdin?.destroy();
    over.resolve();
    transport.onclose?.();
  };

  const kill = (): void => {
    if (tree !== undefined) trees.kill(tree, { withGroup: true });
    // Where the system has no groups, the process itself is all there is.
    child?.kill('SIGKILL');
  };

  const noise = (line: string): void => {
    seen.noise += 1;
    if (seen.noise > MAX_NOISE_TOLD) return;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal, and whatever else a log has.
    const text = redaction.text(line.slice(0, MAX_NOISE_CHARS + redaction.reach)).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
    const cut = text.length > MAX_NOISE_CHARS ? `${text.slice(0, MAX_NOISE_CHARS)} […]` : text;
    if (seen.firstNoise === '') seen.firstNoise = cut;
    options.onNoise(cut);
  };

  const lines = createLineReader({
    maxBytes: server.maxResponseBytes,
    onLine(text, bytes) {
      const messages = messagesOf(text);
      if (messages === undefined) return noise(text);
      for (const message of messages) {
        seen.messages += 1;
        transport.onmessage?.(results.received(message, bytes) as unknown as JSONRPCMessage);
      }
    },
    onTooLong(bytes) {
      ending = { kind: 'too_large', bytes };
      child?.stdout?.destroy();
      kill();
      finish();
    },
  });

  const watch = (process: ChildProcess & { readonly pid: number }, mark: string): void => {
    const own = { pid: process.pid, mark };
    tree = own;
    trees.add(own);
    (process.stdin as Writable).on('error', () => {});
    (process.stdout as Readable).on('data', lines.push).on('error', () => {});
    (process.stderr as Readable).on('data', stderr.push).on('error', () => {});
    (process.stdout as Readable).once('end', lines.end);
    process.once('exit', () => {
      trees.kill(own, { withGroup: true });
      trees.remove(own);
      const grace = setTimeout(finish, PIPE_GRACE_MS);
      process.once('close', () => {
        clearTimeout(grace);
        stderr.end();
        finish();
      });
    });
  };

  const transport: OdekTransport & { readonly stderr: null; readonly pid: number | null } = {
    seen,
    // These two tell the SDK that a silent peer is an old server, not a broken line.
    stderr: null,
    get pid() {
      return child?.pid ?? null;
    },
    ending: () => ending,
    stderrTail: () => stderr.tail(),
    async start() {
      const { mark, variables } = trees.mark();
      const started = startChild(server, { ...withoutEmpty(options.childEnvironment(server.env)), ...variables });
      child = started;
      started.once('error', () => {});
      await untilSpawned(started, server);
      watch(started as ChildProcess & { readonly pid: number }, mark);
    },
    send(message) {
      const stdin = child?.stdin;
      if (ending !== undefined || !stdin) return Promise.reject(new TransportFault(ending ?? { kind: 'closed' }));
      if (stdin.writableLength > MAX_UNREAD_BYTES) {
        return Promise.reject(new TransportFault({ kind: 'not_read', bytes: stdin.writableLength, limit: MAX_UNREAD_BYTES }));
      }
      results.sent(message as unknown as Record<PropertyKey, unknown>);
      stdin.write(`${lineOf(message)}\n`);
      return DONE;
    },
    abandon() {
      if (finished) return;
      ending ??= { kind: 'closed' };
      kill();
      finish();
    },
    close() {
      closing ??= endGently();
      return closing;
    },
  };

  const endGently = async (): Promise<void> => {
    if (child?.pid === undefined || finished) return finish();
    ending ??= { kind: 'closed' };
    child.stdin?.end();
    await within(over.promise, options.closeGraceMs ?? CLOSE_GRACE_MS);
    if (finished) return;
    kill();
    await within(over.promise, KILL_GRACE_MS);
    finish();
  };

  return transport;
}

function startChild(server: McpStdioServer, environment: Readonly<Record<string, string>>): ChildProcess {
  const { command, args, cwd, name } = server;
  const plan = planSpawn({ server: name, command, args, platform: process.platform, environment, exists: existsSync });
  try {
    return spawn(plan.file, [...plan.args], {
      cwd,
      env: environment,
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: plan.verbatim,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (cause) {
    throw spawnFailed(server, cause);
  }
}

function untilSpawned(child: ChildProcess, server: McpStdioServer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once('spawn', resolve);
  child.once('error', (cause) => reject(spawnFailed(server, cause)));
  return promise;
}

function spawnFailed({ name, command, cwd }: McpStdioServer, cause: unknown): McpError {
  const code = (cause as { readonly code?: unknown }).code;
  const why =
    code === 'ENOENT'
      ? existsSync(cwd)
        ? 'there is no such command'
        : `there is no folder ${cwd}`
      : cause instanceof Error
        ? cause.message
        : String(cause);
  return new McpError('mcp_spawn_failed', `the MCP server ${name} could not be started by ${JSON.stringify(command)}: ${why}`, {
    server: name,
    value: command,
    cause,
  });
}

/** An empty value unsets. */
function withoutEmpty(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

/** Servers that read by lines take these for the end of one, in some languages: node's `readline` among them. */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

function lineOf(message: unknown): string {
  return JSON.stringify(message).replace(SEPARATORS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A line's messages: one, or a batch. Undefined for noise. */
function messagesOf(line: string): readonly Record<PropertyKey, unknown>[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.charCodeAt(0) === 0xfeff ? line.slice(1) : line);
  } catch {
    return undefined;
  }
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  return messages.length > 0 && messages.every(isMessage) ? messages : undefined;
}

function isMessage(value: unknown): value is Record<PropertyKey, unknown> {
  return isFields(value) && value.jsonrpc === '2.0' && (typeof value.method === 'string' || 'result' in value || 'error' in value);
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

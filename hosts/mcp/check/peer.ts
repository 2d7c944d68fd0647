import { type ChildProcess, spawn } from 'node:child_process';
import { childEnvironment } from '../../../adapters/process/environment.ts';
import { createFrameReader } from '../frames.ts';

export type Id = string | number;

/** One answer. Exactly one of `result` and `error` is there in an answer that is as it should be. */
export interface Answer {
  readonly id: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
  /** Bytes of the line it came in. */
  readonly bytes: number;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A server under examination, at the other end of raw lines. */
export interface Peer {
  /** Writes these very bytes. */
  write(bytes: string): void;
  /** Sends a request and waits for its answer. Rejects, saying what happened, when none comes in time. */
  request(
    method: string,
    params?: object,
    options?: { readonly id?: Id; readonly timeoutMs?: number; readonly ending?: string },
  ): Promise<Answer>;
  notify(method: string, params?: object): void;
  nextId(): number;
  /** Waits for the answer to a request that was written by hand. */
  answerTo(id: Id, timeoutMs?: number): Promise<Answer>;
  hasAnswered(id: Id): boolean;
  /** Lines on standard output that were no message; at most ten are kept. */
  readonly noise: readonly string[];
  /** Messages that answered nothing that was asked, as `id` texts. */
  readonly strays: readonly string[];
  readonly stderrBytes: number;
  readonly largestLine: number;
  /** Resolves once the process ended. */
  readonly ended: Promise<Exit>;
  isRunning(): boolean;
  /** Closes standard input and waits; kills the tree after `timeoutMs` and then resolves with undefined. */
  end(timeoutMs: number): Promise<Exit | undefined>;
}

export interface PeerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Bytes of one line from the server, as odek accepts them without configuration. */
export const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
const ANSWER_MS = 10_000;
const MAX_NOISE = 10;
const SHOWN = 80;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Kills a process with everything it started. */
function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** Starts the server in a process group of its own, with the environment that odek gives its servers. */
export function startPeer({ command, args, cwd, env }: PeerCommand): Peer {
  const child = spawn(command, args, { cwd, env: childEnvironment(env), stdio: 'pipe', detached: process.platform !== 'win32' });
  const answers = new Map<Id, Answer>();
  const waiting = new Map<Id, (answer: Answer) => void>();
  const asked = new Set<Id>();
  const noise: string[] = [];
  const strays: string[] = [];
  let stderrBytes = 0;
  let largestLine = 0;
  let lastId = 0;
  let exit: Exit | undefined;
  let startError: string | undefined;

  const addNoise = (line: string): void => {
    if (noise.length < MAX_NOISE) noise.push(line.slice(0, SHOWN));
  };
  const onMessage = (message: Record<string, unknown>, bytes: number): void => {
    // Requests and notifications of the server are allowed, and nothing here depends on them.
    if (typeof message.method === 'string') return;
    const { id } = message;
    if (id === null) return;
    if (!(typeof id === 'string' || typeof id === 'number') || !asked.has(id) || answers.has(id)) {
      if (strays.length < MAX_NOISE) strays.push(JSON.stringify(id) ?? 'none');
      return;
    }
    const answer = { ...message, id, bytes } as Answer;
    answers.set(id, answer);
    waiting.get(id)?.(answer);
  };
  const reader = createFrameReader(MAX_RESPONSE_BYTES, {
    onFrame(frame) {
      largestLine = Math.max(largestLine, frame.length);
      const line = frame.toString();
      try {
        const message: unknown = JSON.parse(line);
        if (!isObject(message) || message.jsonrpc !== '2.0') addNoise(line);
        else onMessage(message, frame.length);
      } catch {
        addNoise(line);
      }
    },
    onTooLong(bytes) {
      largestLine = Math.max(largestLine, bytes);
    },
  });
  const ended = new Promise<Exit>((resolve) => {
    child.on('error', (error) => {
      startError = error.message;
      exit ??= { code: null, signal: null };
      resolve(exit);
    });
    child.on('close', (code, signal) => {
      reader.end();
      exit ??= { code, signal };
      resolve(exit);
    });
  });
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderrBytes += chunk.length;
  });
  // The server may end at any time; whoever waits for an answer is told.
  child.stdin.on('error', () => {});

  const whyGone = (): string => {
    if (startError !== undefined) return `it could not be started: ${startError}`;
    return `the process ended with ${exit?.signal ?? `exit code ${exit?.code}`}`;
  };
  const answerTo = async (id: Id, timeoutMs = ANSWER_MS): Promise<Answer> => {
    const known = answers.get(id);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    void ended.then(() => reject(new Error(`no answer: ${whyGone()}`)));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const write = (bytes: string): void => {
    if (child.stdin.writable) child.stdin.write(bytes);
  };

  return {
    write,
    nextId() {
      const id = nextId();
      asked.add(id);
      return id;
    },
    request(method, params, { id = nextId(), timeoutMs, ending = '\n' } = {}) {
      asked.add(id);
      write(`${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}${ending}`);
      return answerTo(id, timeoutMs);
    },
    notify: (method, params) => write(`${JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) })}\n`),
    answerTo,
    hasAnswered: (id) => answers.has(id),
    noise,
    strays,
    get stderrBytes() {
      return stderrBytes;
    },
    get largestLine() {
      return largestLine;
    },
    ended,
    isRunning: () => exit === undefined,
    async end(timeoutMs) {
      child.stdin.end();
      const timer = setTimeout(() => killTree(child), timeoutMs);
      let killed = false;
      const late = setTimeout(() => {
        killed = true;
      }, timeoutMs);
      const how = await ended;
      clearTimeout(timer);
      clearTimeout(late);
      // A grandchild may live on behind a wrapper that ended.
      killTree(child);
      return killed ? undefined : how;
    },
  };
}

import type { CommandOutcome, CommandReceipt, CommandReceipts } from '../../ports/command-receipt.ts';
import { hasCode } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';
import type { PluginCommand, PluginCommands } from './commands.ts';

/** The conversation that a client works in. */
export interface CommandThread {
  readonly workspace: string;
}

/** Turns that commands begin. */
export interface CommandTurns {
  /** Begins a turn with a plugin's prompt, attributed to `origin`; once for each key. Resolves with its id when it is admitted. */
  admit(thread: string, submitted: { readonly prompt: string; readonly origin: string; readonly operationKey: string }): Promise<string>;
  /** The turn that was admitted under a key, by this process or one that is gone. */
  find(thread: string, operationKey: string): Promise<string | undefined>;
  /** Asks a turn to end; one that has ended stays as it is. */
  cancel(thread: string, turn: string): Promise<void>;
}

export interface CommandRouterOptions {
  readonly commands: PluginCommands;
  readonly receipts: CommandReceipts;
  readonly turns: CommandTurns;
  readonly hash: Hash;
  findThread(id: string): Promise<CommandThread | undefined>;
}

/** Answers the requests about commands, and leaves all others. Who may ask is for the server to know. */
export interface CommandRouter {
  handle(request: Request): Promise<Response | undefined>;
  /** Cancels what runs and waits for it. */
  close(): Promise<void>;
}

interface Asked {
  readonly name: string;
  readonly args: string;
  readonly registration_id: string;
  readonly operation_key: string;
  readonly expected_workspace: string;
}

const MAX_BODY_BYTES = 262_144;
const KEY = /^[A-Za-z0-9_.:-]{1,128}$/;
const ID = /^[A-Za-z0-9_.-]{1,128}$/;
const FIELDS = ['name', 'args', 'registration_id', 'operation_key', 'expected_workspace'] as const;
/** Commands that may run at once; a client that asks for more comes again later. */
const MAX_RUNNING = 64;

function json(status: number, value: object): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });
}

function problem(status: number, code: string, message: string): Response {
  return json(status, { error: { code, message } });
}

async function readBody(request: Request): Promise<Asked | Response> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return problem(413, 'too_large', `the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return problem(400, 'invalid_json', 'the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problem(400, 'invalid_request', 'the body must be a JSON object');
  const fields = value as Record<string, unknown>;
  const unknown = Object.keys(fields).find((key) => !FIELDS.some((field) => field === key));
  if (unknown !== undefined) return problem(400, 'invalid_request', `unknown field "${unknown.slice(0, 64)}"`);
  const missing = FIELDS.find((field) => typeof fields[field] !== 'string');
  if (missing !== undefined) return problem(400, 'invalid_request', `"${missing}" must be text`);
  if (!KEY.test(fields.operation_key as string))
    return problem(400, 'invalid_request', '"operation_key" must be 1 to 128 of A-Z a-z 0-9 _ . : -');
  return fields as unknown as Asked;
}

function shown(receipt: CommandReceipt): object {
  const { operationKey, name, origin, state, text, turn, createdAt, settledAt } = receipt;
  return {
    operation_key: operationKey,
    name,
    origin,
    state,
    text,
    created_at: createdAt,
    ...(turn !== undefined && { turn_id: turn }),
    ...(settledAt !== undefined && { settled_at: settledAt }),
  };
}

function listed({ name, description, argumentHint, origin, registrationId }: PluginCommand, invocable: boolean): object {
  return {
    name,
    description,
    kind: 'extension',
    binding: 'extension',
    origin,
    ...(argumentHint !== undefined && { argument_hint: argumentHint }),
    ...(invocable && { registration_id: registrationId }),
  };
}

/**
 * `GET /v1/commands`, `POST /v1/threads/:id/commands` and `GET|DELETE /v1/threads/:id/commands/:operation_key`.
 * A command runs once for each key, whatever the client repeats and whoever dies in between.
 */
export function createCommandRouter({ commands, receipts, turns, hash, findThread }: CommandRouterOptions): CommandRouter {
  const running = new Map<string, { readonly cancel: AbortController; readonly ended: Promise<void> }>();
  const keyOf = (thread: string, operationKey: string): string => `${thread} ${operationKey}`;

  /** What is recorded, with an end for what lost its process: its command is never run again. */
  const settledReceipt = async (thread: string, operationKey: string): Promise<CommandReceipt | undefined> => {
    const found = await receipts.find(thread, operationKey);
    const isOurs = running.has(keyOf(thread, operationKey));
    if (found === undefined || found.state !== 'running' || isOurs || !found.lost) return found;
    const turn = await turns.find(thread, operationKey);
    const outcome: CommandOutcome =
      turn === undefined
        ? { state: 'uncertain', text: 'odek ended while the command ran; it may have taken effect in part' }
        : { state: 'submitted', text: '', turn };
    await receipts.settle(thread, operationKey, outcome);
    return receipts.find(thread, operationKey);
  };

  const perform = async (thread: string, asked: Asked, origin: string, workspace: string, signal: AbortSignal): Promise<CommandOutcome> => {
    try {
      const answer = await commands.run(asked.name, { args: asked.args.trim(), workspace, sessionId: thread, signal });
      if (signal.aborted) return { state: 'cancelled', text: 'the command was cancelled' };
      if (answer.kind !== 'submit') return { state: answer.kind, text: answer.text };
      const turn = await turns.admit(thread, { prompt: answer.prompt ?? '', origin, operationKey: asked.operation_key });
      if (signal.aborted) await turns.cancel(thread, turn);
      return { state: 'submitted', text: answer.text, turn };
    } catch (error) {
      if (signal.aborted || hasCode(error, 'cancelled')) return { state: 'cancelled', text: 'the command was cancelled' };
      if (hasCode(error, 'extension_exited'))
        return { state: 'uncertain', text: 'the plugin host ended while the command ran; it may have taken effect in part' };
      return { state: 'error', text: error instanceof Error ? error.message : String(error) };
    }
  };

  const start = (thread: string, asked: Asked, origin: string, workspace: string): Promise<void> => {
    const cancel = new AbortController();
    const key = keyOf(thread, asked.operation_key);
    const ended = perform(thread, asked, origin, workspace, cancel.signal)
      .then(async (outcome) => void (await receipts.settle(thread, asked.operation_key, outcome)))
      // What could not be recorded is settled as uncertain when somebody looks.
      .catch(() => {})
      .finally(() => running.delete(key));
    running.set(key, { cancel, ended });
    return ended;
  };

  const submit = async (request: Request, thread: string): Promise<Response> => {
    const asked = await readBody(request);
    if (asked instanceof Response) return asked;
    const found = await findThread(thread);
    if (found === undefined) return problem(404, 'thread_not_found', `there is no thread "${thread}"`);
    const requestHash = hash.sha256(JSON.stringify(FIELDS.map((field) => asked[field])));
    const before = await settledReceipt(thread, asked.operation_key);
    if (before !== undefined) return repeated(before, requestHash);
    if (asked.expected_workspace !== found.workspace)
      return problem(409, 'workspace_changed', 'the thread works in another folder now; discover the commands again');
    const command = commands.find(asked.name);
    if (command === undefined) return problem(404, 'command_not_found', `there is no command "${asked.name.slice(0, 64)}"`);
    if (command.registrationId !== asked.registration_id)
      return problem(409, 'registration_stale', 'the command was registered anew; discover it again');
    if (running.size >= MAX_RUNNING) return problem(429, 'too_many_commands', `${running.size} commands are running, which is the limit`);
    const claimed = await receipts.begin({
      thread,
      operationKey: asked.operation_key,
      requestHash,
      name: asked.name,
      origin: command.origin,
    });
    if (claimed !== 'claimed') return repeated(claimed, requestHash);
    await start(thread, asked, command.origin, found.workspace);
    const receipt = await settledReceipt(thread, asked.operation_key);
    return receipt === undefined ? problem(500, 'receipt_lost', 'the outcome could not be recorded') : json(200, shown(receipt));
  };

  const repeated = (receipt: CommandReceipt, requestHash: string): Response => {
    const isTombstone = receipt.requestHash === '';
    if (!isTombstone && receipt.requestHash !== requestHash)
      return problem(409, 'operation_key_used', 'this operation key belongs to another request');
    return json(receipt.state === 'running' ? 202 : 200, shown(receipt));
  };

  const look = async (thread: string, operationKey: string): Promise<Response> => {
    const receipt = await settledReceipt(thread, operationKey);
    return receipt === undefined ? problem(404, 'operation_not_found', 'nothing was asked for under this key') : json(200, shown(receipt));
  };

  const cancel = async (thread: string, operationKey: string): Promise<Response> => {
    if ((await findThread(thread)) === undefined) return problem(404, 'thread_not_found', `there is no thread "${thread}"`);
    // A request that is still on its way finds its key taken, and is not run.
    const claimed = await receipts.begin({ thread, operationKey, requestHash: '', name: '', origin: '' });
    if (claimed === 'claimed')
      await receipts.settle(thread, operationKey, { state: 'cancelled', text: 'cancelled before it was admitted' });
    const job = running.get(keyOf(thread, operationKey));
    job?.cancel.abort();
    await job?.ended;
    const receipt = await settledReceipt(thread, operationKey);
    if (receipt?.turn !== undefined) await turns.cancel(thread, receipt.turn);
    return receipt === undefined ? problem(404, 'operation_not_found', 'nothing was asked for under this key') : json(200, shown(receipt));
  };

  const list = async (url: URL): Promise<Response> => {
    const id = url.searchParams.get('thread_id');
    if (id !== null && (await findThread(id)) === undefined)
      return problem(404, 'thread_not_found', `there is no thread "${id.slice(0, 128)}"`);
    return json(200, { commands: commands.list().map((command) => listed(command, id !== null)) });
  };

  const refuseMethod = (allowed: string): Response => {
    const response = problem(405, 'method_not_allowed', `the methods are ${allowed}`);
    response.headers.set('allow', allowed);
    return response;
  };

  return {
    async handle(request) {
      const url = new URL(request.url);
      if (url.pathname === '/v1/commands') return request.method === 'GET' ? list(url) : refuseMethod('GET');
      const [, thread, operationKey] = /^\/v1\/threads\/([^/]+)\/commands(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
      if (thread === undefined) return undefined;
      if (!ID.test(thread)) return problem(404, 'thread_not_found', 'a thread has an id of 1 to 128 of A-Z a-z 0-9 _ . -');
      if (operationKey === undefined) return request.method === 'POST' ? submit(request, thread) : refuseMethod('POST');
      if (!KEY.test(operationKey)) return problem(404, 'operation_not_found', 'nothing was asked for under this key');
      if (request.method === 'GET') return look(thread, operationKey);
      return request.method === 'DELETE' ? cancel(thread, operationKey) : refuseMethod('GET, DELETE');
    },
    async close() {
      const jobs = [...running.values()];
      for (const job of jobs) job.cancel.abort();
      await Promise.all(jobs.map(({ ended }) => ended));
    },
  };
}

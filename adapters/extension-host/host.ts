import { CancelledError, isOdekError } from '../../ports/errors.ts';
import {
  type ActivateResult,
  type DeactivateResult,
  type ExtensionHost,
  ExtensionHostError,
  type ExtensionHostListener,
  type ExtensionHostReport,
  type ExtensionHostState,
  type HostCall,
  type HostCallAnswers,
  type HostNotice,
  HostRefusal,
  type HostRefusalReason,
  type HostRequest,
  type OwnerRef,
  type PendingCall,
} from '../../ports/extension-host.ts';
import { startCallClock } from './call-clock.ts';
import { type Channel, createChannel, messageOf, RpcFault } from './channel.ts';
import type { Child } from './child.ts';
import { type HeartbeatTimes, startHeartbeat } from './heartbeat.ts';
import { createNoticeGate } from './notice-gate.ts';
import { METHODS, RPC } from './protocol.ts';

export interface HostSeat {
  readonly name: string;
  readonly child: Child;
  readonly listener: ExtensionHostListener;
  readonly heartbeat: HeartbeatTimes;
  readonly facts: Pick<ExtensionHostReport, 'runtime' | 'sandbox' | 'memory'>;
}

/** A host whose process has started, and what only its start needs. */
export interface StartingHost {
  readonly host: ExtensionHost;
  /** Resolves with the first thing that the process says. Rejects when it ends before. */
  readonly hello: Promise<{ readonly protocol: number }>;
  initialize(params: { readonly protocol: number; readonly confined: boolean; readonly probe_port: number }): Promise<unknown>;
  /** From now on it is watched. */
  ready(startMs: number): void;
}

const SHUTDOWN_MS = 1_000;
const ENTRY_MS = 5_000;
const WAY_MS = 10_000;
const DISPOSE_MS = 4_000;
/** Most of an error's text that is handed on. */
const MAX_CALL_MESSAGE = 4_096;

const REFUSALS: Readonly<Record<HostRefusalReason, number>> = {
  refused: RPC.refused,
  denied: RPC.denied,
  cancelled: RPC.cancelled,
  unavailable: RPC.unavailable,
  failed: RPC.failed,
};

/** Puts the port's methods on top of a process that runs. */
export function attachHost({ name, child, listener, heartbeat, facts }: HostSeat): StartingHost {
  let state: ExtensionHostState | 'starting' = 'starting';
  let startMs = 0;
  /** Why odek itself ended it; the process only says by what. */
  let reason: string | undefined;
  let stopHeartbeat: (() => void) | undefined;
  const hello = Promise.withResolvers<{ readonly protocol: number }>();
  hello.promise.catch(() => {});
  const tell = (notice: HostNotice): void => {
    try {
      listener.notice(notice);
    } catch {
      // What is told must not end the host.
    }
  };
  const gate = createNoticeGate(tell);

  const channel: Channel = createChannel({
    side: 'core',
    stream: child.stream,
    answer: (method, params, signal) => answer({ method, params } as HostRequest, listener, signal),
    notice(method, params) {
      if (method === 'host/hello') hello.resolve(params as { readonly protocol: number });
      else if (method === 'log') gate({ kind: 'log', ...(params as { level: 'info'; message: string; owner?: OwnerRef }) });
      else gate({ kind: 'faulted', ...(params as { message: string; owner?: OwnerRef }) });
    },
    violated: (what) => end(`it broke the protocol: ${what}`),
  });

  const enter = (next: ExtensionHostState, detail: string): void => {
    if (state === next || state === 'exited') return;
    const wasStarting = state === 'starting';
    state = next;
    if (!wasStarting || next !== 'exited') tell({ kind: 'state', state: next, detail });
  };

  const end = (why: string): void => {
    reason ??= why;
    stopHeartbeat?.();
    child.kill();
  };

  const exited = child.ended.then((how) => {
    stopHeartbeat?.();
    const told = reason === undefined ? how : reason;
    const error = new ExtensionHostError('extension_exited', `the plugin host "${name}" is not running: ${told}${lastWords(child)}`, {
      value: told,
    });
    channel.end(error);
    hello.reject(error);
    enter('exited', told);
  });

  const asked = async <Result>(method: string, params: unknown, signal?: AbortSignal): Promise<Result> => {
    try {
      return (await channel.request(method, params, signal)) as Result;
    } catch (error) {
      throw await portError(error, exited);
    }
  };

  const bounded = async <Result>(method: string, params: unknown, ms: number, signal?: AbortSignal): Promise<Result> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), ms);
    try {
      return await asked(method, params, signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
    } catch (error) {
      if (!limit.signal.aborted || signal?.aborted === true) throw error;
      throw new ExtensionHostError('extension_timeout', `the plugin host "${name}" did not answer ${method} within ${ms} ms`, {
        limit: ms,
      });
    } finally {
      clearTimeout(timer);
    }
  };

  const host: ExtensionHost = {
    activate: (params, signal) => bounded<ActivateResult>('ext/activate', params, params.entries.length * ENTRY_MS + WAY_MS, signal),
    async deactivate(owner) {
      try {
        return await bounded<DeactivateResult>('ext/deactivate', { owner }, DISPOSE_MS);
      } catch (error) {
        if (isOdekError(error) && error.code === 'extension_timeout') return { disposed: false, leaked: ['the host did not answer'] };
        throw error;
      }
    },
    call: (call, signal) => pendingCall(call, signal, asked),
    report: () => ({
      ...facts,
      state: state === 'starting' ? 'closing' : state,
      pid: child.pid,
      startMs,
      pending: channel.pending(),
      stderrTail: child.tail(),
    }),
    async close() {
      if (state !== 'exited') {
        enter('closing', '');
        stopHeartbeat?.();
        const timer = setTimeout(() => end('it was closed'), SHUTDOWN_MS);
        reason ??= 'it was closed';
        await channel.request('host/shutdown', {}).catch(() => {});
        clearTimeout(timer);
        end('it was closed');
      }
      await exited;
    },
  };

  return {
    host,
    hello: hello.promise,
    initialize: (params) => asked('host/initialize', params),
    ready(ms) {
      startMs = ms;
      enter('ready', '');
      stopHeartbeat = startHeartbeat(heartbeat, {
        ping: () => channel.request('host/ping', {}),
        unresponsive: (since) => enter('unresponsive', `it has not answered for ${Math.round(since)} ms`),
        responsive: () => enter('ready', ''),
        dead: (since) => end(`it did not answer for ${Math.round(since)} ms and was ended`),
      });
    },
  };
}

async function answer(request: HostRequest, listener: ExtensionHostListener, signal: AbortSignal): Promise<unknown> {
  let result: unknown;
  try {
    result = await listener.request(request, signal);
  } catch (error) {
    if (error instanceof HostRefusal) {
      const data = error.refusal === undefined ? undefined : { dsh_refusal: error.refusal };
      throw new RpcFault(REFUSALS[error.reason], error.message, data);
    }
    throw new RpcFault(isOdekError(error) && error.code === 'cancelled' ? RPC.cancelled : RPC.failed, messageOf(error));
  }
  const fault = METHODS[request.method]?.result?.(result, 'the answer');
  if (fault !== undefined) throw new RpcFault(RPC.internal, fault);
  return result;
}

type Ask = <Result>(method: string, params: unknown, signal?: AbortSignal) => Promise<Result>;

function pendingCall<Call extends HostCall>(call: Call, signal: AbortSignal, ask: Ask): PendingCall<HostCallAnswers[Call['method']]> {
  const limit = new AbortController();
  const clock = startCallClock(call.deadlineMs, () => limit.abort());
  const run = async (): Promise<HostCallAnswers[Call['method']]> => {
    try {
      const params = { ...call.params, deadline_ms: Math.ceil(call.deadlineMs) };
      return await ask(call.method, params, AbortSignal.any([signal, limit.signal]));
    } catch (error) {
      if (!limit.signal.aborted || signal.aborted || (isOdekError(error) && error.code === 'extension_exited')) throw error;
      throw new ExtensionHostError('extension_timeout', `it took longer than ${call.deadlineMs} ms`, { limit: call.deadlineMs });
    } finally {
      clock.stop();
    }
  };
  return { result: run(), hold: () => clock.hold() };
}

/** What the port promises for what a channel says. After a violation, the end of the process tells more. */
async function portError(error: unknown, exited: Promise<void>): Promise<unknown> {
  if (!(error instanceof RpcFault)) return error;
  const message = error.message.slice(0, MAX_CALL_MESSAGE);
  switch (error.code) {
    case RPC.cancelled:
      return new CancelledError();
    case RPC.unavailable:
      return new ExtensionHostError('extension_not_available', message);
    case RPC.request:
      await exited;
      return new ExtensionHostError('extension_exited', `the plugin host is not running: it broke the protocol: ${message}`);
    default:
      if (error.data === 'busy') return new ExtensionHostError('extension_busy', message);
      if (error.data === 'too-large') return new ExtensionHostError('extension_frame_too_large', message);
      return new ExtensionHostError('extension_call_failed', message);
  }
}

const MAX_LAST_WORDS = 300;

function lastWords(child: Child): string {
  const words = child.tail().trim();
  return words === '' ? '' : `; the last it said: ${words.slice(-MAX_LAST_WORDS).replaceAll('\n', ' ')}`;
}

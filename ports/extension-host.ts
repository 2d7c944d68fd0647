import { OdekError } from './errors.ts';
import type { JsonSchema } from './message.ts';

/**
 * Other people's plugin code in a process of its own. What goes over the channel is spelt as it is
 * there, in snake case; everything that comes from a host is foreign and checked before it gets here.
 */

/** Who a registration, a call or a fault belongs to. Made by core, new for every activation. */
export interface OwnerRef {
  /** 1 to 128 characters. */
  readonly plugin_id: string;
  /** Counts the activations of the plugin, from 1. */
  readonly generation: number;
  /** Random, opaque, 16 to 128 characters; what a host cannot guess of another owner. */
  readonly owner_token: string;
}

/** A file of a reviewed snapshot: a normal path below its root, and 64 lower-case hex digits. */
export interface EntryRef {
  readonly path: string;
  readonly sha256: string;
}

/** What is activated: the entries of one plugin, in order, as fibers of one owner. */
export interface ActivateParams {
  readonly owner: OwnerRef;
  /** Name of the manifest, for messages. */
  readonly plugin_name: string;
  /** Absolute folder of the snapshot's runnable files, below one of the spec's `readable` folders. */
  readonly root: string;
  /** 1 to 64, without repetition, each also in `files`. */
  readonly entries: readonly EntryRef[];
  /** Every file that may be imported: path below `root` → SHA-256 of its bytes. At most 4,096. */
  readonly files: Readonly<Record<string, string>>;
  /** Handed to `apply`; checked against the entry's own `Config`. */
  readonly config: unknown;
  /** Absolute folder of the plugin's own, below one of the spec's `writable` folders; there already. */
  readonly data_dir: string;
  /** Host services that a review granted: shown to the plugin as present. Core decides each use anew. */
  readonly services: readonly HostService[];
}

/** What became of one entry. */
export interface EntryOutcome {
  readonly entry: string;
  readonly status: 'ok' | 'failed';
  /** Why it failed, at most 4 KiB; empty when it did not. */
  readonly diagnostic: string;
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  /** Labels of what it holds, for example `tool hello_greet`; at most 1,024. */
  readonly effects: readonly string[];
}

/** `ok` when at least one entry is active; those that failed have been withdrawn. */
export interface ActivateResult {
  readonly status: 'ok' | 'failed';
  readonly entries: readonly EntryOutcome[];
}

/** `disposed: false`: something did not end within 2 s, the host is dirty. `leaked` names what is left. */
export interface DeactivateResult {
  readonly disposed: boolean;
  readonly leaked: readonly string[];
}

export type RegistrationKind = 'tool' | 'command' | 'hook' | 'prompt_section' | 'skill_root' | 'mcp_server';

/** What a plugin offers, by kind. Names and sizes are core's to check. */
export type Registration =
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly description: string;
      readonly input_schema: JsonSchema;
      /** The host has `schema/check` ask before a result is rendered. */
      readonly output_schema?: JsonSchema;
      readonly max_result_chars?: number;
    }
  | { readonly kind: 'command'; readonly name: string; readonly description: string; readonly argument_hint?: string }
  | { readonly kind: 'hook'; readonly name: 'tools/pre-execute' }
  | { readonly kind: 'prompt_section'; readonly name: string; readonly text: string; readonly interpolate?: 'model-cwd' }
  | { readonly kind: 'skill_root'; readonly name: string }
  | { readonly kind: 'mcp_server'; readonly name: string; readonly server: Readonly<Record<string, unknown>> };

export type HostService = 'files' | 'network' | 'model';

/** What a host asks of core. Each is answered by {@link ExtensionHostListener.request}. */
export type HostRequest =
  /** Answer: `{ handle }`, 1 to 64 characters, never given twice. */
  | {
      readonly method: 'registry/register';
      readonly params: { readonly owner: OwnerRef; readonly entry: string; readonly spec: Registration };
    }
  /** Answer: `{}`, also when the handle is gone. */
  | { readonly method: 'registry/unregister'; readonly params: { readonly owner: OwnerRef; readonly handle: string } }
  /** Answer: {@link CoreCallResult}. */
  | { readonly method: 'core/call'; readonly params: CoreCallParams }
  /** A host service, under the ticket of a tool call. Answer: what the service gives. */
  | { readonly method: 'service/call'; readonly params: ServiceCallParams }
  /** Whether a value fits a schema of the plugin's own: its configuration, a tool's canonical result. Answer: `{ issues }`, at most 5 texts. */
  | {
      readonly method: 'schema/check';
      readonly params: { readonly owner: OwnerRef; readonly schema: JsonSchema; readonly value: unknown };
    };

export interface CoreCallParams {
  readonly owner: OwnerRef;
  /** The ticket of the tool call that asks. */
  readonly ticket: string;
  readonly name: string;
  readonly input: unknown;
}

export interface CoreCallResult {
  readonly content: string;
  readonly isError: boolean;
  readonly structured?: unknown;
}

export interface ServiceCallParams {
  readonly owner: OwnerRef;
  readonly ticket: string;
  readonly service: HostService;
  /** `read`, `list` of `files`; `request` of `network`; `complete` of `model`. */
  readonly operation: string;
  readonly input: unknown;
}

interface CallerIds {
  readonly workspace?: string;
  readonly session_id?: string;
  readonly agent_id?: string;
  readonly origin_turn_id?: string;
}

export interface ToolCallParams extends CallerIds {
  readonly handle: string;
  readonly call_id: string;
  readonly input: unknown;
  /** Opaque; with it, the call has `exec.core` and the granted host services. */
  readonly ticket?: string;
}

export interface CommandRunParams extends CallerIds {
  readonly handle: string;
  readonly command_id: string;
  /** What follows the name, with its separator. */
  readonly raw_input: string;
}

export interface HookEvaluateParams {
  readonly handle: string;
  readonly event: 'tools/pre-execute';
  readonly payload: {
    readonly name: string;
    readonly call_id: string;
    readonly input: unknown;
    readonly mode: string;
    readonly workspace: string;
    readonly model: string;
  };
}

/** A call into a host. The time limit is its own: `deadline_ms` is sent along. */
export type HostCall = (
  | { readonly method: 'tool/call'; readonly params: ToolCallParams }
  | { readonly method: 'command/run'; readonly params: CommandRunParams }
  | { readonly method: 'hook/evaluate'; readonly params: HookEvaluateParams }
) & {
  /** Milliseconds of running time, 1 to 3,600,000. */
  readonly deadlineMs: number;
};

export interface ToolCallAnswer {
  readonly content: string;
  /** The tool says that it failed. */
  readonly failed: boolean;
}

/** `prompt` is there for `submit` alone. */
export interface CommandAnswer {
  readonly kind: 'success' | 'error' | 'submit';
  readonly text: string;
  readonly prompt?: string;
}

export type HookAnswer =
  | { readonly kind: 'abstain' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string }
  | { readonly kind: 'revise'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'annotate'; readonly text: string };

/** What a method answers. */
export interface HostCallAnswers {
  readonly 'tool/call': ToolCallAnswer;
  readonly 'command/run': CommandAnswer;
  readonly 'hook/evaluate': HookAnswer;
}

/** A call under way. */
export interface PendingCall<Answer> {
  readonly result: Promise<Answer>;
  /** Stops the call's clock, for as long as a person is asked; the disposer lets it go on. Holds add up. */
  hold(): () => void;
}

export type ExtensionHostState = 'ready' | 'unresponsive' | 'closing' | 'exited';

/** What a host tells without being asked. */
export type HostNotice =
  | { readonly kind: 'log'; readonly owner?: OwnerRef; readonly level: 'debug' | 'info' | 'warning' | 'error'; readonly message: string }
  /** A plugin's code threw outside any call; its owner has been disposed in there. */
  | { readonly kind: 'faulted'; readonly owner?: OwnerRef; readonly message: string }
  /** `detail` says how it exited, or for how long it has not answered; empty otherwise. */
  | { readonly kind: 'state'; readonly state: ExtensionHostState; readonly detail: string };

/** Core's end of a host. Neither member may throw synchronously. */
export interface ExtensionHostListener {
  /**
   * Answers a request. A rejection with {@link HostRefusal} travels as what it says, `CancelledError` as
   * cancelled, every other error as failed. `signal` fires when the host withdraws the request or ends.
   */
  request(request: HostRequest, signal: AbortSignal): Promise<unknown>;
  notice(notice: HostNotice): void;
}

/** What a process is made for. Everything else of the machine is not there inside. */
export interface ExtensionHostSpec {
  /** For messages and diagnostics, 1 to 64 characters. */
  readonly name: string;
  /** Absolute folders of snapshots that can be read inside, at their own paths. */
  readonly readable: readonly string[];
  /** Absolute folders that can be written inside, at their own paths; made when they are not there. */
  readonly writable: readonly string[];
}

/** What can be told about a process. */
export interface ExtensionHostReport {
  readonly state: ExtensionHostState;
  /** Of the process that was spawned. */
  readonly pid: number;
  readonly runtime: { readonly name: 'node'; readonly version: string; readonly path: string };
  /** `none`: it runs unsandboxed, as the operator allowed. */
  readonly sandbox: 'bwrap' | 'none';
  /** How its memory is capped, in words. */
  readonly memory: string;
  /** Milliseconds from the start to the answer that it is ready. */
  readonly startMs: number;
  /** Requests sent and not answered. */
  readonly pending: number;
  /** The last of its standard error, at most 8 KiB. */
  readonly stderrTail: string;
}

/**
 * One process.
 *
 * Contract (the `extension-host` suite):
 * - An entry is active once its `apply` and all its registrations have settled; one that fails is withdrawn, with a diagnostic, and the others stay.
 * - `call` reaches exactly the registration of its handle and resolves with what it gave.
 * - What a call throws rejects with `extension_call_failed` and its message; the host goes on.
 * - A handle that is not there, or whose owner was deactivated, rejects with `extension_not_available`.
 * - When `signal` fires, a call rejects with `CancelledError` within a second, whatever the plugin does; the plugin sees its own signal fire.
 * - A call past its deadline rejects with `extension_timeout`; while it is held, its clock stands still.
 * - Requests of plugins reach the listener with the owner they come from; what the listener refuses reaches the plugin with its reason.
 * - `deactivate` undoes an owner's registrations at the listener, and says so when something did not end in time.
 * - When the process ends, what waits rejects at once with `extension_exited` and how it ended; nothing is sent again; the listener is told once.
 * - `close` ends the process and is idempotent; later calls reject with `extension_exited`.
 */
export interface ExtensionHost {
  /** Rejects when the host could not be asked; that entries failed is a result. At most 64 entries, 5 s each. */
  activate(params: ActivateParams, signal: AbortSignal): Promise<ActivateResult>;
  /** At most 2 s and a bound for the way. */
  deactivate(owner: OwnerRef): Promise<DeactivateResult>;
  call<Call extends HostCall>(call: Call, signal: AbortSignal): PendingCall<HostCallAnswers[Call['method']]>;
  report(): ExtensionHostReport;
  /** Asks it to end, then ends it and everything it started. Idempotent; what waits rejects. */
  close(): Promise<void>;
}

/**
 * Starts host processes. `start` resolves when the process has tried for itself that everything
 * forbidden fails and is ready; it rejects with {@link ExtensionHostError}, or with `CancelledError`
 * when `signal` fires, and then leaves nothing running.
 */
export interface ExtensionHostLauncher {
  start(spec: ExtensionHostSpec, listener: ExtensionHostListener, signal: AbortSignal): Promise<ExtensionHost>;
}

/** Why core does not do what a host asks. */
export type HostRefusalReason = 'refused' | 'denied' | 'cancelled' | 'unavailable' | 'failed';

/** Thrown by a listener: the plugin gets reason, message and `refusal` (for example `not_granted`, `limit`, `ticket_refused`). */
export class HostRefusal extends OdekError {
  readonly reason: HostRefusalReason;
  readonly refusal: string | undefined;

  constructor(reason: HostRefusalReason, message: string, refusal?: string) {
    super('extension_request_refused', message);
    this.reason = reason;
    this.refusal = refusal;
  }
}

export type ExtensionHostErrorCode =
  /** No Node that is new enough; the message names what was tried. */
  | 'extension_runtime_missing'
  /** The message has bwrap's own words and the fix. */
  | 'extension_sandbox_unavailable'
  /** The process did not get ready: it exited, took too long, or something forbidden succeeded in it. */
  | 'extension_start_failed'
  /** The process ended, or was ended; the message says how. */
  | 'extension_exited'
  /** Too many requests wait, or one is larger than a frame. */
  | 'extension_busy'
  | 'extension_frame_too_large'
  | 'extension_not_available'
  | 'extension_timeout'
  | 'extension_call_failed';

export class ExtensionHostError extends OdekError {
  constructor(code: ExtensionHostErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

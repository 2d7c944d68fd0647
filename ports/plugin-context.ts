import type { JsonSchema } from './message.ts';

/** Undoes a registration. Idempotent. */
type Disposer = () => void;

/**
 * Types for the author of a bundle: what `apply(ctx, config)` is given in the process of plugins. The context
 * holds exactly the services that the module names in `inject`; the names here are all there are.
 */

/** What a call of a tool comes with. Frozen. */
export interface PluginToolExecution {
  /** Fires when the call is withdrawn; stop soon after. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** The same value as the first argument. */
  readonly args: unknown;
  /** Absolute folder of the project that the call comes from. */
  readonly workspace?: string;
  /** Absolute folder of the plugin's own. */
  readonly dataDir: string;
  /** There while the call runs under the gate of a turn. */
  readonly core?: PluginCore;
  /** The session of the call, where it has one. */
  readonly sessionId?: string;
}

/** What a tool of odek gave. `structured`: its text as a value, where that is JSON. */
export interface PluginCoreResult {
  readonly content: string;
  readonly isError: boolean;
  readonly structured?: unknown;
}

export interface PluginCore {
  /**
   * Runs a tool of odek, judged and asked about like a call of the model. Rejects with a `CoreCallError` whose `code` is
   * `refused`, `denied`, `cancelled`, `unavailable` or `failed`. In one call of a tool 50 of these, and four at once.
   */
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<PluginCoreResult>;
}

export interface PluginTool<Input> {
  /** 1 to 64 of letters, digits, `_` and `-`, beginning with a letter; begin it with the plugin's name. */
  readonly name: string;
  /** At most 4 KiB. */
  readonly description: string;
  /** JSON Schema of an object, at most 64 KiB. Every input was checked against it. */
  readonly parameters: JsonSchema;
  /** Text, or a JSON value. A thrown error fails the call with its message. */
  execute(input: Input, exec: PluginToolExecution): unknown;
  /** JSON Schema of the results, checked by odek; `render` makes the text that the model reads. */
  readonly output?: JsonSchema | { readonly schema: JsonSchema; readonly render: (output: never) => unknown };
  /** A wish, which odek need not follow. */
  readonly deferLoading?: boolean;
  /** Characters of a result that the model gets, at least 1. */
  readonly maxResultChars?: number;
}

/** What a command comes with. Frozen. */
export interface PluginInvocation {
  /** What follows the name, trimmed. */
  readonly args: string;
  /** The same with what stood before it. */
  readonly rawInput: string;
  readonly signal: AbortSignal;
  readonly commandId: string;
  readonly workspace?: string;
  readonly dataDir: string;
}

type PluginCommandAnswer =
  | string
  | { readonly kind: 'success'; readonly text?: string }
  | { readonly kind: 'error'; readonly text: string }
  /** `prompt`, at most 128 KiB, becomes the next turn. */
  | { readonly kind: 'submit'; readonly prompt: string; readonly text?: string };

export interface PluginCommand {
  /** 1 to 64 of `a-z0-9_-`, beginning with a letter. */
  readonly name: string;
  /** One line of at most 1 KiB. */
  readonly description: string;
  /** At most 256 bytes. */
  readonly argumentHint?: string;
  /** Another place for the hint, where other hosts look for it. */
  readonly input?: { readonly hint?: string };
  handler(invocation: PluginInvocation): PluginCommandAnswer | Promise<PluginCommandAnswer>;
}

/** A call of any tool, before it is judged. Frozen. */
export interface PluginPreExecute {
  readonly name: string;
  readonly callId: string;
  readonly arguments: unknown;
  readonly signal: AbortSignal;
  readonly workspace: string;
  readonly mode: string;
  readonly model: string;
}

export type PluginVerdict =
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string }
  | { readonly kind: 'revise'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'annotate'; readonly text: string }
  | { readonly kind: 'abstain' };

/** What the code of a bundle is given. */
export interface PluginContext {
  readonly tools: { register<Input = Readonly<Record<string, unknown>>>(tool: PluginTool<Input>): Disposer };
  readonly commands: { register(command: PluginCommand): Disposer };
  readonly prompt: {
    /** At most 4 KiB of text. */
    registerSection(section: { readonly id: string; readonly text: string; readonly interpolate?: 'model-cwd' }): Disposer;
  };
  /** JSON values of at most 128 KiB under keys of at most 128 bytes; 1,024 keys and 4 MiB in all. */
  readonly storage: {
    get(key: string): Promise<unknown>;
    set(key: string, value: unknown): Promise<void>;
    delete(key: string): Promise<void>;
  };
  readonly skills: { registerRoot(root: { readonly path: string }): Disposer };
  readonly mcp: {
    registerServer(definition: { readonly serverName: string; readonly server: Readonly<Record<string, unknown>> }): Disposer;
  };
  /** In `host_services` of the manifest, like the next two; each works while a tool of the plugin is called, 50 times in one call and four at once. */
  readonly files: {
    /** Text of a file of the workspace, at most 1 MiB of it. */
    read(input: { readonly path: string }): Promise<{ readonly content: string; readonly size: number; readonly truncated: boolean }>;
    /** What is in a folder of the workspace, at most 1,000 entries. */
    list(input: { readonly path: string }): Promise<{
      readonly entries: readonly { readonly path: string; readonly kind: string; readonly size: number }[];
      readonly truncated: boolean;
    }>;
  };
  readonly network: {
    /** A request to a host of `network_hosts`; at most 1 MiB of body each way. Any status is an answer. */
    request(input: {
      readonly url: string;
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }): Promise<{
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
      readonly truncated: boolean;
    }>;
  };
  readonly model: {
    /** One completion of the run's model, inside its budget. Prompts of at most 128 KiB; at most 4,096 tokens, 1,024 unless told. */
    complete(input: {
      readonly prompt: string;
      readonly system?: string;
      readonly max_tokens?: number;
    }): Promise<{ readonly text: string }>;
  };
  readonly logger: {
    debug(format: string, ...values: unknown[]): void;
    info(format: string, ...values: unknown[]): void;
    warn(format: string, ...values: unknown[]): void;
    error(format: string, ...values: unknown[]): void;
  };
  /** Asked for every call of a tool. What is thrown, malformed or late fails the call. */
  on(
    event: 'tools/pre-execute',
    listener: (
      exec: PluginPreExecute,
      next: () => Promise<PluginVerdict>,
    ) => PluginVerdict | undefined | Promise<PluginVerdict | undefined>,
  ): Disposer;
  /** What `setup` returns is called when the plugin is unloaded. */
  effect(setup: () => () => void | Promise<void>, label?: string): Disposer;
}

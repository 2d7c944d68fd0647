/** Plain JSON data that a run is made of: messages, tool calls, outcomes, usage. */

/** How one tool call ended. Never derived from result text. */
export type ToolOutcome = 'completed' | 'failed' | 'denied' | 'cancelled' | 'skipped_budget' | 'unknown';

/** One call the model asked for. `arguments` is the JSON text exactly as the model produced it. */
export interface ToolCall {
  /** The provider's id, or a synthetic `it<iteration>-call<index>`. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  /** Reasoning text the provider wants replayed (`reasoning_content`, thinking blocks). */
  readonly reasoning?: string;
  /** Opaque signature that belongs to `reasoning`; dropped when the provider changes. */
  readonly reasoningSignature?: string;
  /** Name of the provider that `reasoning` and `reasoningSignature` came from; no other one gets them back. */
  readonly origin?: string;
  readonly toolCalls?: readonly ToolCall[];
}

export interface ToolMessage {
  readonly role: 'tool';
  /** The {@link ToolCall.id} this answers. */
  readonly callId: string;
  readonly name: string;
  readonly content: string;
  readonly outcome: ToolOutcome;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/**
 * Tokens of one model call or of a whole run. `cache_read` and `cache_write` are absent when the
 * provider did not report them, which is not the same as zero. `input` excludes both.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  /** True when any part of the figures is odek's own estimate. */
  readonly estimated: boolean;
}

/** A JSON Schema object. Its dialect is 2020-12 unless `$schema` names another. */
export type JsonSchema = { readonly [key: string]: unknown };

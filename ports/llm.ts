import type { ErrorDetails } from './errors.ts';
import { OdekError } from './errors.ts';
import type { AssistantMessage, JsonSchema, Message, Usage } from './message.ts';

/** A tool as a model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** Reasoning effort. Absent means the provider's own default; never inferred from the model's name. */
export type ThinkingLevel = 'disabled' | 'low' | 'medium' | 'high';

/**
 * One request. `messages` and `tools` keep their identity across the requests of a run as long as
 * they did not change, so that an adapter may cache what it derived from them.
 */
export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly maxTokens?: number;
  /** Sent as given; absent means not sent. */
  readonly temperature?: number;
  readonly thinking?: ThinkingLevel;
  /** False asks for one buffered answer; an adapter may also fall back to it by itself. */
  readonly stream: boolean;
}

/** Why the model stopped. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter';

/**
 * What a provider yields: any number of deltas and keep-alives, then exactly one `response`, last.
 * Deltas are a live view only; `response.message` carries the whole answer.
 */
export type ModelEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  /** Bytes arrived that carry nothing to show. Resets idle timers. */
  | { readonly type: 'keep_alive' }
  /** Something the operator should read, such as a learned fallback. Text is already redacted of keys. */
  | { readonly type: 'notice'; readonly text: string }
  | {
      readonly type: 'response';
      readonly message: AssistantMessage;
      readonly finish: FinishReason;
      /** Absent when the provider reported none; core then books an estimate. */
      readonly usage?: Usage;
    };

/** Facts about a model, as far as they are known without a request. */
export interface ModelLimits {
  /** Tokens; absent when unknown. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/** A model that a service offers, with what the service tells about it. */
export interface ModelInfo extends ModelLimits {
  readonly id: string;
  /** A name for people, where there is one beside the id. */
  readonly name?: string;
}

/**
 * A way to reach a model.
 *
 * Contract (each sentence is a case of the `llm-provider` suite):
 * - `stream` yields exactly one `response`, as the last event.
 * - The concatenated deltas equal the response's text and reasoning.
 * - Every tool call of the response has a non-empty id and name, and ids are unique in it.
 * - The result is the same however the reply's bytes are cut into chunks.
 * - A failure is thrown as {@link ProviderError}; a reply that ends early is a failure, not an answer.
 * - When `signal` fires, the iteration rejects promptly and the connection is closed.
 * - Nothing is retried here: `error.retryable` tells core whether a retry can help.
 * - `models`, where there is one, lists each id once, with limits that are positive whole numbers or absent.
 */
export interface LlmProvider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  limits(model: string): ModelLimits;
  /** What the service offers, asked anew; at most some thousands. Absent where a service cannot tell. */
  models?(signal: AbortSignal): Promise<readonly ModelInfo[]>;
  /** Releases connections and files. Idempotent. */
  close(): Promise<void>;
}

/** Stable codes of {@link ProviderError}. */
export type ProviderErrorCode =
  | 'provider_auth'
  | 'provider_config'
  | 'provider_quota'
  | 'rate_limited'
  | 'provider_unavailable'
  | 'provider_request'
  | 'context_length'
  | 'stream_incomplete'
  | 'stream_idle_timeout'
  | 'response_too_large'
  | 'invalid_response'
  | 'replay_mismatch'
  | 'network';

/** A model call failed. `retryable` is decided once, by the adapter that saw the reply. */
export class ProviderError extends OdekError {
  readonly retryable: boolean;
  /** HTTP status, where there was one. */
  readonly status: number | undefined;
  /** The server's wish, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ProviderErrorCode,
    message: string,
    details: ErrorDetails & { retryable?: boolean; status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, details);
    this.retryable = details.retryable ?? false;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

import type { FinishReason, ModelLimits, ProviderErrorCode } from '../../../ports/llm.ts';
import type { ToolCall, Usage } from '../../../ports/message.ts';

/** The `format` of a recording file. */
export const RECORDING_FORMAT = 'odek.recording/v1';

/** A message that a request must hold. Text is compared only where `text` or `includes` says so. */
export interface ExpectedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  /** Assistant: the calls it must carry, in order. */
  readonly calls?: readonly { readonly id: string; readonly name: string }[];
  /** Tool: the call it answers, and the tool. */
  readonly callId?: string;
  readonly name?: string;
  /** The whole content. */
  readonly text?: string;
  /** A part of the content. */
  readonly includes?: string;
}

export interface ExpectedRequest {
  /** True: the messages are those of the exchange before, its reply, and then `messages`. */
  readonly continues: boolean;
  /** System messages are never listed and never compared. */
  readonly messages: readonly ExpectedMessage[];
  /** Names of the offered tools, in order; absent means they are not compared. */
  readonly tools?: readonly string[];
}

/** One thing a reply does. `after_ms` is waited before it. */
export type ReplyStep =
  | { readonly text: string; readonly after_ms?: number }
  | { readonly reasoning: string; readonly after_ms?: number }
  | { readonly keep_alive: true; readonly after_ms?: number };

export interface ScriptedError {
  readonly code: ProviderErrorCode;
  readonly message: string;
  readonly retryable?: boolean;
  readonly status?: number;
  readonly retry_after_ms?: number;
}

export interface RecordedReply {
  readonly steps: readonly ReplyStep[];
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage?: Usage;
  /** Waited before the end of the reply. */
  readonly after_ms?: number;
  /** Thrown after the steps, in place of a response. */
  readonly error?: ScriptedError;
}

export interface Exchange {
  readonly request: ExpectedRequest;
  readonly reply: RecordedReply;
}

export interface Recording {
  readonly format: typeof RECORDING_FORMAT;
  /** Who was recorded; for the reader of the file. */
  readonly provider?: string;
  readonly limits?: ModelLimits;
  readonly exchanges: readonly Exchange[];
}

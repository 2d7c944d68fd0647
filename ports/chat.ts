import type { ChatCallback, ChatContent, ChatMessage, ChatMessageRef, ChatPlace, ChatSent, ChatUser } from './chat-message.ts';
import { OdekError } from './errors.ts';

/** What arrived. Plain data: what JSON makes of it and back is the same. */
export type ChatUpdate =
  | {
      readonly id: number;
      readonly kind: 'message';
      readonly message: ChatMessage /** An older message that was changed. */;
      readonly edited: boolean;
    }
  | { readonly id: number; readonly kind: 'callback'; readonly callback: ChatCallback }
  /** Of a sort that odek does not know; `type` is the service's name for it. */
  | { readonly id: number; readonly kind: 'other'; readonly type: string };

export interface ChatPoll {
  /** Updates before this id are given up; 0: from the oldest that the service has. */
  readonly offset: number;
  /** How long the service waits for a first update, 0 to 60. */
  readonly timeoutSeconds: number;
}

/** `name`: 1 to 32 of a-z, 0-9 and `_`. `description`: 1 to 256 characters. */
export interface ChatCommand {
  readonly name: string;
  readonly description: string;
}

/**
 * What comes in.
 *
 * Contract (the `chat-feed` suite):
 * - `me` tells who the bot is.
 * - `poll` gives the updates from `offset` on, oldest first; offset by offset each comes once, and waits until it is asked for.
 * - An update of a sort that odek does not know comes as `other`, so that it can be passed over.
 * - `topicId` is there only for a message of a topic other than General.
 * - `poll` rejects at once with `CancelledError` when its signal fires.
 * - `poll` beside another poller rejects with `chat_conflict`; with a token that is not valid with `chat_unauthorized`.
 */
export interface ChatFeed {
  me(signal: AbortSignal): Promise<ChatUser>;
  /** At most 100. */
  poll(poll: ChatPoll, signal: AbortSignal): Promise<readonly ChatUpdate[]>;
  /** What the app offers while someone types. Replaces the list. */
  setCommands(commands: readonly ChatCommand[], signal: AbortSignal): Promise<void>;
}

/**
 * Messages out. Text is plain text and entities: there is no markup that could fail to parse.
 * Every method rejects with {@link ChatError}, or with `CancelledError` when its signal fires.
 *
 * Contract (the `chat-messages` suite):
 * - `send` delivers text, entities and keyboard as they are, once, and tells under which id.
 * - A topic that is gone is answered in the same chat without it, and nowhere else; `place` of the result says where.
 * - `edit` replaces text, entities and keyboard; one that changes nothing rejects with `chat_not_modified`.
 * - `remove` takes the message away; of one that is gone already it does nothing.
 * - More than 4096 UTF-16 units reject with `chat_too_long`, an entity outside the text with `chat_bad_request`; nothing was sent then.
 * - After a rate limit, a fault of the service or of the network the call is tried again, at most 5 times in all; a draft is not, and rejects with `chat_rate_limited` and `retryAfterMs`.
 * - `answerCallback` ends the waiting of a button, with a short text where one is given.
 * - No error names the bot's token.
 */
export interface ChatMessages {
  send(place: ChatPlace, content: ChatContent, signal: AbortSignal): Promise<ChatSent>;
  edit(message: ChatMessageRef, content: ChatContent, signal: AbortSignal): Promise<void>;
  remove(message: ChatMessageRef, signal: AbortSignal): Promise<void>;
  /** `text`: at most 200 UTF-16 units; more is cut. */
  answerCallback(callbackId: string, text: string | undefined, signal: AbortSignal): Promise<void>;
  /** Shows for about 5 s that the bot is at work. Not tried again. */
  action(place: ChatPlace, action: ChatAction, signal: AbortSignal): Promise<void>;
}

export type ChatAction = 'typing' | 'upload_photo' | 'upload_document' | 'record_voice' | 'upload_voice';

export interface ChatUpload {
  readonly kind: 'document' | 'photo' | 'voice';
  /** Shown to people; odek cleans it of what would break the request. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly caption?: string;
}

/** `size` as the service says it, in bytes. `bytes` must be read to its end or `cancel` called. */
export interface ChatDownload {
  readonly size?: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  cancel(): void;
}

/**
 * Files in and out.
 *
 * Contract (the `chat-files` suite):
 * - `upload` delivers a document, a photo or a voice message whole, with its caption, and tells under which id.
 * - `download` gives the bytes of a file that came with a message.
 * - A file of more than `maxBytes` rejects with `chat_file_too_big`: at once when the service tells its size, else while it is read.
 * - A file that is gone rejects with `chat_not_found`.
 */
export interface ChatFiles {
  upload(place: ChatPlace, file: ChatUpload, signal: AbortSignal): Promise<ChatSent>;
  download(fileId: string, maxBytes: number, signal: AbortSignal): Promise<ChatDownload>;
}

/** A bot of a chat service. */
export interface ChatBot {
  readonly feed: ChatFeed;
  readonly messages: ChatMessages;
  readonly files: ChatFiles;
  /** Idempotent. */
  close(): Promise<void>;
}

export const CHAT_LIMITS = {
  /** UTF-16 units of a message. */
  text: 4096,
  /** UTF-16 units of a caption. */
  caption: 1024,
  /** Bytes of a button's data. */
  callbackData: 64,
  /** Entities of a message; the service drops what is beyond. */
  entities: 100,
  /** UTF-16 units of the answer to a button. */
  callbackText: 200,
  /** Bytes of a document that a bot may send. */
  uploadBytes: 50 * 1024 * 1024,
} as const;

export type ChatErrorCode =
  /** Another instance polls, or a webhook is set. */
  | 'chat_conflict'
  | 'chat_unauthorized'
  /** The bot was blocked, removed, or may not write there. */
  | 'chat_forbidden'
  /** The chat, message or file is not there. */
  | 'chat_not_found'
  | 'chat_not_modified'
  | 'chat_too_long'
  | 'chat_rate_limited'
  | 'chat_bad_request'
  | 'chat_file_too_big'
  /** The service failed, five times. */
  | 'chat_service'
  /** No answer came, five times. */
  | 'chat_network';

/** The service refused, or could not be reached. Texts never hold the token or a URL with it. */
export class ChatError extends OdekError {
  /** Milliseconds that the service asks to wait; with `chat_rate_limited`. */
  readonly retryAfterMs: number | undefined;
  /** The id that the chat has now; with `chat_bad_request`. */
  readonly movedTo: number | undefined;

  constructor(
    code: ChatErrorCode,
    message: string,
    details: {
      value?: unknown;
      limit?: unknown;
      cause?: unknown;
      retryAfterMs?: number | undefined;
      movedTo?: number | undefined;
    } = {},
  ) {
    super(code, message, details);
    this.retryAfterMs = details.retryAfterMs;
    this.movedTo = details.movedTo;
  }
}

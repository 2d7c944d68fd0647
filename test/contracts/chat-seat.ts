import assert from 'node:assert/strict';
import type { ChatBot } from '../../ports/chat.ts';
import type { ChatEntity } from '../../ports/chat-message.ts';
import { hasCode } from '../../ports/errors.ts';

/** A message as the people of a chat see it. */
export interface ShownMessage {
  readonly id: number;
  readonly text: string;
  readonly entities: readonly Pick<ChatEntity, 'type' | 'offset' | 'length' | 'url' | 'language'>[];
  /** Data of the buttons, or their addresses. */
  readonly buttons: readonly (readonly string[])[];
  readonly topicId?: number;
  readonly file?: { readonly kind: string; readonly name: string; readonly bytes: Uint8Array };
}

/** A bot, and the service on its other side. Chat 5 is private, chat -7 a forum. Waiting takes no time. */
export interface ChatSeat {
  readonly bot: ChatBot;
  /** The bot's id. */
  readonly botId: number;
  /** No error may hold it. */
  readonly token: string;
  /** `thread`: a topic, or only a chain of replies. */
  say(chatId: number, text: string, thread?: { readonly id: number; readonly isTopic: boolean }): void;
  /** Something that odek has no kind for. */
  strange(): void;
  /** Returns the callback's id. */
  press(chatId: number, messageId: number, data: string): string;
  setRival(there: boolean): void;
  revoke(): void;
  closeTopic(chatId: number, topicId: number): void;
  /** What the next calls but polls meet. */
  fail(times: number, fault: 'service' | 'network' | { readonly retryAfter: number }): void;
  shown(chatId: number): readonly ShownMessage[];
  answered(): readonly { readonly id: string; readonly text?: string }[];
  /** Returns the file's id. */
  addFile(bytes: Uint8Array, options: { readonly tellsSize: boolean }): string;
  close(): Promise<void>;
}

export interface ChatHarness {
  seat(): Promise<ChatSeat>;
}

export const never = new AbortController().signal;

export async function atSeat(harness: ChatHarness, test: (seat: ChatSeat) => Promise<void>): Promise<void> {
  const seat = await harness.seat();
  try {
    await test(seat);
  } finally {
    await seat.close();
  }
}

export const refused = (promise: Promise<unknown>, code: string): Promise<void> => assert.rejects(promise, (error) => hasCode(error, code));

/** What crosses the ports of a chat. Ids are whole numbers below 2^52; times are milliseconds since the Unix epoch. */

export interface ChatUser {
  readonly id: number;
  readonly isBot: boolean;
  /** First and last name. */
  readonly name: string;
  /** Without `@`. */
  readonly username?: string;
  /** Such as `de` or `pt-br`. */
  readonly language?: string;
}

/** Where a message goes. `chatId` may name a public channel as `@name`. */
export interface ChatPlace {
  readonly chatId: number | string;
  /** A topic of a forum group, never General. */
  readonly topicId?: number;
}

export interface ChatMessageRef {
  readonly chatId: number | string;
  readonly messageId: number;
}

export type ChatEntityType =
  | 'bold'
  | 'italic'
  | 'underline'
  | 'strikethrough'
  | 'spoiler'
  | 'code'
  /** With `language` where one is known. */
  | 'pre'
  /** With `url`. */
  | 'text_link'
  | 'blockquote'
  | 'expandable_blockquote'
  /** `@name`. */
  | 'mention'
  /** A user without a name; with `userId`. */
  | 'text_mention'
  /** `/command` or `/command@name`. */
  | 'bot_command'
  | 'url'
  | 'other';

/** A stretch of text. `offset` and `length` count UTF-16 units. */
export interface ChatEntity {
  readonly type: ChatEntityType;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
  readonly userId?: number;
}

export interface ChatText {
  readonly text: string;
  readonly entities: readonly ChatEntity[];
}

export type ChatMediaKind = 'photo' | 'voice' | 'document' | 'audio' | 'video' | 'sticker' | 'animation' | 'video_note';

/** A file that came with a message; of a photo the largest. */
export interface ChatMedia {
  readonly kind: ChatMediaKind;
  readonly fileId: string;
  /** The same for every bot, and over time. */
  readonly uniqueId: string;
  readonly name?: string;
  readonly mimeType?: string;
  /** Bytes, as the service says. */
  readonly size?: number;
  readonly seconds?: number;
}

export interface ChatRoom {
  readonly id: number;
  readonly kind: 'private' | 'group' | 'supergroup' | 'channel';
  readonly title?: string;
  readonly isForum: boolean;
}

export interface ChatMessage {
  readonly id: number;
  readonly chat: ChatRoom;
  /** Only of a topic, and never of General. */
  readonly topicId?: number;
  /** Absent in a channel. */
  readonly from?: ChatUser;
  /** Someone writes as a chat: an anonymous admin has the id of the group. */
  readonly senderChatId?: number;
  readonly at: number;
  readonly editedAt?: number;
  /** Text or caption; empty for neither. */
  readonly text: string;
  readonly entities: readonly ChatEntity[];
  readonly media?: ChatMedia;
  readonly replyTo?: { readonly messageId: number; readonly from?: ChatUser; readonly text: string };
  /** Who wrote it first, as far as that may be known. */
  readonly forward?: { readonly from: string; readonly at: number };
}

/** Someone pressed a button. */
export interface ChatCallback {
  readonly id: string;
  readonly from: ChatUser;
  /** At most 64 bytes; empty for a button without. */
  readonly data: string;
  /** Absent when the message is too old. */
  readonly message?: { readonly id: number; readonly chat: ChatRoom; readonly topicId?: number };
}

/** A button: `data` comes back as a callback and has 1 to 64 bytes; `url` is opened. */
export type ChatButton = { readonly text: string; readonly data: string } | { readonly text: string; readonly url: string };

export interface ChatContent extends ChatText {
  /** Rows of buttons. Absent in an edit: the message has none afterwards. */
  readonly keyboard?: readonly (readonly ChatButton[])[];
  /** A message of the same chat; ignored when it is gone. */
  readonly replyTo?: number;
  readonly silent?: boolean;
  /** The next one will say more: tried once, waits for nothing. */
  readonly draft?: boolean;
}

export interface ChatSent {
  readonly messageId: number;
  /** Where it is: without the topic when that was gone. */
  readonly place: ChatPlace;
  /** An attempt before may have arrived as well: its answer was lost. */
  readonly maybeRepeat: boolean;
}

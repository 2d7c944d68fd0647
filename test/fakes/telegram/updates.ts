import type { WireEntity } from './markdown-v2.ts';
import type { Params } from './request.ts';

export interface Writer {
  readonly id: number;
  readonly name?: string;
  readonly username?: string;
  readonly isBot?: boolean;
}

/** What someone writes. A chat with a negative id is a group. */
export interface Saying {
  readonly chatId: number;
  readonly text?: string;
  readonly from?: Writer;
  /** Given, or found in the text: commands, mentions. */
  readonly entities?: readonly WireEntity[];
  readonly topicId?: number;
  /** With `topicId`: false where the thread is only a chain of replies. */
  readonly isTopic?: boolean;
  readonly isForum?: boolean;
  readonly edited?: boolean;
  readonly messageId?: number;
  /** Seconds; now unless told. */
  readonly date?: number;
  readonly replyTo?: { readonly messageId: number; readonly from?: Writer; readonly text?: string };
  readonly forwardFrom?: string;
  readonly caption?: string;
  /** Fields of the Bot API as they are: `photo`, `voice`, `document`, `sender_chat`, … */
  readonly fields?: Params;
}

export interface Press {
  readonly chatId: number;
  readonly messageId: number;
  readonly data: string;
  readonly from: Writer;
  readonly topicId?: number;
  /** Of the query; made up unless told. */
  readonly id?: string;
}

const userOf = ({ id, name = `User ${id}`, username, isBot = false }: Writer): Params => ({
  id,
  is_bot: isBot,
  first_name: name,
  ...(username !== undefined && { username }),
});

const chatOf = (chatId: number, isForum = false): Params =>
  chatId > 0
    ? { id: chatId, type: 'private', first_name: `User ${chatId}` }
    : { id: chatId, type: 'supergroup', title: `Group ${chatId}`, ...(isForum && { is_forum: true }) };

/** The service finds these itself. */
function foundEntities(text: string): readonly WireEntity[] {
  return [...text.matchAll(/(?<![\w@.])(\/[a-z0-9_]{1,32}(?:@\w+)?|@\w{4,32}\b)/gi)].map((match) => ({
    type: match[0].startsWith('/') ? 'bot_command' : 'mention',
    offset: match.index,
    length: match[0].length,
  }));
}

export function messageUpdate(saying: Saying, nextMessageId: number): Params {
  const { chatId, text, caption, replyTo, topicId, isForum = topicId !== undefined } = saying;
  const written = text ?? caption ?? '';
  const entities = saying.entities ?? foundEntities(written);
  const date = saying.date ?? Math.floor(Date.now() / 1000);
  const message = {
    message_id: saying.messageId ?? nextMessageId,
    date,
    chat: chatOf(chatId, isForum),
    from: userOf(saying.from ?? { id: Math.abs(chatId) }),
    ...(text !== undefined && { text, ...(entities.length > 0 && { entities }) }),
    ...(caption !== undefined && { caption, ...(entities.length > 0 && { caption_entities: entities }) }),
    ...(topicId !== undefined && { message_thread_id: topicId, ...(saying.isTopic !== false && { is_topic_message: true }) }),
    ...(replyTo !== undefined && {
      reply_to_message: {
        message_id: replyTo.messageId,
        date,
        chat: chatOf(chatId),
        text: replyTo.text ?? '',
        ...(replyTo.from !== undefined && { from: userOf(replyTo.from) }),
      },
    }),
    ...(saying.forwardFrom !== undefined && {
      forward_origin: { type: 'hidden_user', sender_user_name: saying.forwardFrom, date },
    }),
    ...(saying.edited === true && { edit_date: date }),
    ...saying.fields,
  };
  return saying.edited === true ? { edited_message: message } : { message };
}

let presses = 0;

export function callbackUpdate({ chatId, messageId, data, from, topicId, id }: Press): { readonly callback_query: Params } {
  presses += 1;
  return {
    callback_query: {
      id: id ?? `query${presses}`,
      from: userOf(from),
      chat_instance: '1',
      data,
      message: {
        message_id: messageId,
        date: Math.floor(Date.now() / 1000),
        chat: chatOf(chatId, topicId !== undefined),
        ...(topicId !== undefined && { message_thread_id: topicId, is_topic_message: true }),
      },
    },
  };
}

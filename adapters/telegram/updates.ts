/** The Bot API's updates → odek's. Whatever is malformed becomes `other`: it is passed over, not stumbled at. */
import type { Message, MessageEntity, Update, User } from 'grammy/types';
import type { ChatUpdate } from '../../ports/chat.ts';
import type {
  ChatCallback,
  ChatEntity,
  ChatEntityType,
  ChatMedia,
  ChatMediaKind,
  ChatMessage,
  ChatRoom,
  ChatUser,
} from '../../ports/chat-message.ts';

const MS = 1000;
/** The thread id of the General topic of a forum. */
const GENERAL = 1;

const ENTITY_TYPES: ReadonlySet<string> = new Set<ChatEntityType>([
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'code',
  'pre',
  'text_link',
  'blockquote',
  'expandable_blockquote',
  'mention',
  'text_mention',
  'bot_command',
  'url',
]);

export function toUser({ id, is_bot, first_name, last_name, username, language_code }: User): ChatUser {
  return {
    id,
    isBot: is_bot,
    name: last_name === undefined ? first_name : `${first_name} ${last_name}`,
    ...(username !== undefined && { username }),
    ...(language_code !== undefined && { language: language_code }),
  };
}

function toEntity(entity: MessageEntity): ChatEntity {
  const { type, offset, length } = entity;
  return {
    type: ENTITY_TYPES.has(type) ? (type as ChatEntityType) : 'other',
    offset,
    length,
    ...(entity.type === 'text_link' && { url: entity.url }),
    ...(entity.type === 'pre' && entity.language !== undefined && { language: entity.language }),
    ...(entity.type === 'text_mention' && { userId: entity.user.id }),
  };
}

interface WireFile {
  readonly file_id: string;
  readonly file_unique_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly duration?: number;
}

function toMedia(kind: ChatMediaKind, file: WireFile): ChatMedia {
  return {
    kind,
    fileId: file.file_id,
    uniqueId: file.file_unique_id,
    ...(file.file_name !== undefined && { name: file.file_name }),
    ...(file.mime_type !== undefined && { mimeType: file.mime_type }),
    ...(file.file_size !== undefined && { size: file.file_size }),
    ...(file.duration !== undefined && { seconds: file.duration }),
  };
}

/** An animation comes with a document of the same file: the first that is there counts. */
const SINGLE = ['voice', 'animation', 'document', 'audio', 'video', 'video_note', 'sticker'] as const;

function mediaOf(message: Message): ChatMedia | undefined {
  const largest = message.photo?.at(-1);
  if (largest !== undefined) return toMedia('photo', largest);
  for (const kind of SINGLE) {
    const file: WireFile | undefined = message[kind];
    if (file !== undefined) return toMedia(kind, file);
  }
  return undefined;
}

function forwardOf({ forward_origin: origin }: Message): ChatMessage['forward'] {
  if (origin === undefined) return undefined;
  const at = origin.date * MS;
  switch (origin.type) {
    case 'user':
      return { from: toUser(origin.sender_user).name, at };
    case 'hidden_user':
      return { from: origin.sender_user_name, at };
    case 'chat':
      return { from: titleOf(origin.sender_chat), at };
    default:
      return { from: titleOf(origin.chat), at };
  }
}

const titleOf = (chat: { readonly title?: string | undefined; readonly first_name?: string | undefined }): string =>
  chat.title ?? chat.first_name ?? 'unknown';

function toRoom(chat: Message['chat']): ChatRoom {
  return {
    id: chat.id,
    kind: chat.type as ChatRoom['kind'],
    ...(chat.title !== undefined && { title: chat.title }),
    isForum: 'is_forum' in chat && chat.is_forum === true,
  };
}

/** A thread id alone may be only a chain of replies: answering with it fails. */
function topicOf(message: { readonly message_thread_id?: number; readonly is_topic_message?: boolean }): { readonly topicId?: number } {
  const { message_thread_id: id, is_topic_message: isTopic } = message;
  return isTopic === true && id !== undefined && id !== GENERAL ? { topicId: id } : {};
}

function toMessage(message: Message): ChatMessage {
  const media = mediaOf(message);
  const forward = forwardOf(message);
  const { reply_to_message: reply } = message;
  return {
    id: message.message_id,
    chat: toRoom(message.chat),
    ...topicOf(message),
    ...(message.from !== undefined && { from: toUser(message.from) }),
    ...(message.sender_chat !== undefined && { senderChatId: message.sender_chat.id }),
    at: message.date * MS,
    ...(message.edit_date !== undefined && { editedAt: message.edit_date * MS }),
    text: message.text ?? message.caption ?? '',
    entities: (message.entities ?? message.caption_entities ?? []).map(toEntity),
    ...(media !== undefined && { media }),
    ...(reply !== undefined && {
      replyTo: {
        messageId: reply.message_id,
        ...(reply.from !== undefined && { from: toUser(reply.from) }),
        text: reply.text ?? reply.caption ?? '',
      },
    }),
    ...(forward !== undefined && { forward }),
  };
}

function toCallback(query: NonNullable<Update['callback_query']>): ChatCallback {
  const { message } = query;
  return {
    id: query.id,
    from: toUser(query.from),
    data: query.data ?? '',
    ...(message !== undefined && {
      message: { id: message.message_id, chat: toRoom(message.chat), ...topicOf(message as Message) },
    }),
  };
}

export function toUpdate(update: Update): ChatUpdate {
  const id = update.update_id;
  const type = Object.keys(update).find((key) => key !== 'update_id') ?? 'nothing';
  try {
    const message = update.message ?? update.edited_message;
    if (message !== undefined) return { id, kind: 'message', message: toMessage(message), edited: update.edited_message !== undefined };
    if (update.callback_query !== undefined) return { id, kind: 'callback', callback: toCallback(update.callback_query) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return { id, kind: 'other', type };
}

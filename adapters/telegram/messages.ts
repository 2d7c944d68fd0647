import type { InlineKeyboardButton, MessageEntity } from 'grammy/types';
import { CHAT_LIMITS, ChatError, type ChatMessages } from '../../ports/chat.ts';
import type { ChatContent, ChatEntity, ChatPlace, ChatSent } from '../../ports/chat-message.ts';
import type { Caller } from './call.ts';
import { isTopicGone, movedTo } from './errors.ts';

/** Kinds that the service finds in a text by itself. */
const FOUND: ReadonlySet<string> = new Set(['mention', 'text_mention', 'bot_command', 'url', 'other']);

function toEntities(entities: readonly ChatEntity[]): MessageEntity[] {
  return entities
    .filter(({ type, length }) => !FOUND.has(type) && length > 0)
    .map(
      ({ type, offset, length, url, language }) =>
        ({
          type,
          offset,
          length,
          ...(type === 'text_link' && { url: url ?? '' }),
          ...(type === 'pre' && language !== undefined && { language }),
        }) as MessageEntity,
    );
}

/** A whole number as text is the id of a chat; anything else is a name. */
export const chatIdOf = (id: number | string): number | string => (typeof id === 'string' && /^-?\d{1,16}$/.test(id) ? Number(id) : id);

export const topicOf = ({ topicId }: ChatPlace): { readonly message_thread_id?: number } =>
  topicId === undefined ? {} : { message_thread_id: topicId };

function contentOf({ text, entities, keyboard }: ChatContent) {
  return {
    // A lone half of a surrogate pair would be refused; what replaces it is as long.
    text: text.toWellFormed(),
    entities: toEntities(entities),
    link_preview_options: { is_disabled: true },
    ...(keyboard !== undefined && {
      reply_markup: {
        inline_keyboard: keyboard.map((row) =>
          row.map(
            (button): InlineKeyboardButton =>
              'data' in button ? { text: button.text, callback_data: button.data } : { text: button.text, url: button.url },
          ),
        ),
      },
    }),
  };
}

/** In the place; in its chat when the topic is gone, and where a group went that became a supergroup. `act` gets the place to send to. */
export async function inPlace<T extends { readonly message_id: number }>(
  place: ChatPlace,
  act: (place: ChatPlace) => Promise<{ readonly value: T; readonly repeat: boolean }>,
): Promise<ChatSent> {
  const sent = async (to: ChatPlace): Promise<ChatSent> => {
    const { value, repeat } = await act(to);
    return { messageId: value.message_id, place: to, maybeRepeat: repeat };
  };
  try {
    return await sent(place);
  } catch (error) {
    const moved = movedTo(error);
    if (moved !== undefined) return sent({ chatId: moved });
    if (place.topicId === undefined || !isTopicGone(error)) throw error;
    return sent({ chatId: place.chatId });
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ChatError && error.code === 'chat_not_found';
}

export function createMessages(call: Caller): ChatMessages {
  return {
    send(place, content, signal) {
      const once = content.draft === true;
      return inPlace(place, (to) => {
        const args = {
          chat_id: chatIdOf(to.chatId),
          ...topicOf(to),
          ...contentOf(content),
          ...(content.silent === true && { disable_notification: true }),
          ...(content.replyTo !== undefined && { reply_parameters: { message_id: content.replyTo, allow_sending_without_reply: true } }),
        };
        return call('sendMessage', (raw, aborted) => raw.sendMessage(args, aborted), { signal, once });
      });
    },
    async edit({ chatId, messageId }, content, signal) {
      const args = { chat_id: chatIdOf(chatId), message_id: messageId, ...contentOf(content) };
      await call('editMessageText', (raw, aborted) => raw.editMessageText(args, aborted), { signal, once: content.draft === true });
    },
    async remove({ chatId, messageId }, signal) {
      const args = { chat_id: chatIdOf(chatId), message_id: messageId };
      try {
        await call('deleteMessage', (raw, aborted) => raw.deleteMessage(args, aborted), { signal });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
    async answerCallback(callbackId, text, signal) {
      const args = {
        callback_query_id: callbackId,
        ...(text !== undefined && { text: text.slice(0, CHAT_LIMITS.callbackText).toWellFormed() }),
      };
      await call('answerCallbackQuery', (raw, aborted) => raw.answerCallbackQuery(args, aborted), { signal });
    },
    async action(place, action, signal) {
      const send = (to: ChatPlace) => {
        const args = { chat_id: chatIdOf(to.chatId), ...topicOf(to), action };
        return call('sendChatAction', (raw, aborted) => raw.sendChatAction(args, aborted), { signal, once: true });
      };
      try {
        await send(place);
      } catch (error) {
        if (place.topicId === undefined || !isTopicGone(error)) throw error;
        await send({ chatId: place.chatId });
      }
    },
  };
}

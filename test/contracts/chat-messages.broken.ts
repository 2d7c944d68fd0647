import { ChatError, type ChatMessages } from '../../ports/chat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import type { ChatHarness } from './chat-seat.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (messages: ChatMessages, token: string) => Partial<ChatMessages>;

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<ChatHarness> => ({
  name,
  caughtBy: `chat-messages/${caughtBy}`,
  harness: {
    async seat() {
      const seat = createFakeChat();
      const { messages } = seat.bot;
      return { ...seat, bot: { ...seat.bot, messages: { ...messages, ...fault(messages, seat.token) } } };
    },
  },
});

/** Bots that each break one sentence. */
export const brokenChatMessages: readonly BrokenAdapter<ChatHarness>[] = [
  broken('reads markup in the text', 'send', (messages) => ({
    send: (place, content, signal) => messages.send(place, { ...content, text: content.text.replaceAll('*', '\\*') }, signal),
  })),
  broken('sends twice', 'send', (messages) => ({
    async send(place, content, signal) {
      await messages.send(place, content, signal);
      return messages.send(place, content, signal);
    },
  })),
  broken('turns to a private chat when a topic is gone', 'topic', (messages) => ({
    async send(place, content, signal) {
      const sent = await messages.send(place, content, signal);
      return place.topicId === sent.place.topicId ? sent : messages.send({ chatId: 5 }, content, signal);
    },
  })),
  broken('leaves the buttons', 'edit', (messages) => ({
    edit: (message, content, signal) => messages.edit(message, { keyboard: [[{ text: 'Yes', data: 'apr:1' }]], ...content }, signal),
  })),
  broken('complains of a message that is gone', 'remove', (messages) => {
    const gone = new Set<number>();
    return {
      async remove(message, signal) {
        if (gone.has(message.messageId)) throw new ChatError('chat_not_found', 'message to delete not found');
        gone.add(message.messageId);
        await messages.remove(message, signal);
      },
    };
  }),
  broken('cuts what is too long', 'bounds', (messages) => ({
    send: (place, content, signal) => messages.send(place, { ...content, text: content.text.slice(0, 4096) }, signal),
  })),
  broken('gives up at once', 'attempts', (messages) => ({
    send: (place, content, signal) => messages.send(place, { ...content, draft: true }, signal),
  })),
  broken('loses the text of the answer', 'callback', (messages) => ({
    answerCallback: (id, _, signal) => messages.answerCallback(id, undefined, signal),
  })),
  broken('shows the address', 'secret', (messages, token) => ({
    send: (place, content, signal) =>
      messages.send(place, content, signal).catch(() => {
        throw new ChatError('chat_network', `https://api.telegram.org/bot${token}/sendMessage failed`);
      }),
  })),
];

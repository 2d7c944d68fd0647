import type { ChatFeed } from '../../ports/chat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import type { ChatHarness } from './chat-seat.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (name: string, caughtBy: string, fault: (feed: ChatFeed) => Partial<ChatFeed>): BrokenAdapter<ChatHarness> => ({
  name,
  caughtBy: `chat-feed/${caughtBy}`,
  harness: {
    async seat() {
      const seat = createFakeChat();
      return { ...seat, bot: { ...seat.bot, feed: { ...seat.bot.feed, ...fault(seat.bot.feed) } } };
    },
  },
});

/** Feeds that each break one sentence. */
export const brokenChatFeeds: readonly BrokenAdapter<ChatHarness>[] = [
  broken('is someone else', 'me', (feed) => ({ me: async (signal) => ({ ...(await feed.me(signal)), id: 1 }) })),
  broken('gives up what it gave', 'order', (feed) => {
    let offset = 0;
    return {
      async poll(poll, signal) {
        const all = await feed.poll({ ...poll, offset }, signal);
        offset = (all.at(-1)?.id ?? offset) + 1;
        return all;
      },
    };
  }),
  broken('hides what it does not know', 'other', (feed) => ({
    poll: async (poll, signal) => (await feed.poll(poll, signal)).filter(({ kind }) => kind !== 'other'),
  })),
  broken('takes every thread for a topic', 'topic', (feed) => ({
    poll: async (poll, signal) =>
      (await feed.poll(poll, signal)).map((each) =>
        each.kind === 'message' ? { ...each, message: { ...each.message, topicId: 9 } } : each,
      ),
  })),
  broken('takes an end for an empty answer', 'abort', (feed) => ({ poll: (poll, signal) => feed.poll(poll, signal).catch(() => []) })),
  broken('passes over a conflict', 'conflict', (feed) => ({ poll: (poll, signal) => feed.poll(poll, signal).catch(() => []) })),
];

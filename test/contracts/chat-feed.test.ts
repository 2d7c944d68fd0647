import { describe, expect, it } from 'vitest';
import { telegramHarness } from '../adapters/telegram/seat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import { brokenChatFeeds } from './chat-feed.broken.ts';
import { chatFeedSuite } from './chat-feed.suite.ts';

const subjects = { 'the bot of Telegram': telegramHarness, 'the fake': { seat: async () => createFakeChat() } };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a chat’s feed`, () => {
    for (const { id, sentence, run } of chatFeedSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a chat’s feed', () => {
  it.each(brokenChatFeeds)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = chatFeedSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

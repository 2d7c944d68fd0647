import { describe, expect, it } from 'vitest';
import { telegramHarness } from '../adapters/telegram/seat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import { brokenChatMessages } from './chat-messages.broken.ts';
import { chatMessagesSuite } from './chat-messages.suite.ts';

const subjects = { 'the bot of Telegram': telegramHarness, 'the fake': { seat: async () => createFakeChat() } };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a chat’s messages`, () => {
    for (const { id, sentence, run } of chatMessagesSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a chat’s messages', () => {
  it.each(brokenChatMessages)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = chatMessagesSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

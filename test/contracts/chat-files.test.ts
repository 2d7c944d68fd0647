import { describe, expect, it } from 'vitest';
import { telegramHarness } from '../adapters/telegram/seat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import { brokenChatFiles } from './chat-files.broken.ts';
import { chatFilesSuite } from './chat-files.suite.ts';

const subjects = { 'the bot of Telegram': telegramHarness, 'the fake': { seat: async () => createFakeChat() } };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a chat’s files`, () => {
    for (const { id, sentence, run } of chatFilesSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a chat’s files', () => {
  it.each(brokenChatFiles)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = chatFilesSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

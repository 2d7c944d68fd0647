import { describe, expect, it } from 'vitest';
import { sqliteInboxes } from '../adapters/store/inbox-place.ts';
import { brokenChatInboxes, fakeInboxPlace } from './chat-inbox.broken.ts';
import { chatInboxSuite } from './chat-inbox.suite.ts';

const subjects = { 'the database': sqliteInboxes, 'the fake': fakeInboxPlace() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an inbox`, () => {
    for (const { id, sentence, run } of chatInboxSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an inbox', () => {
  it.each(brokenChatInboxes)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = chatInboxSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

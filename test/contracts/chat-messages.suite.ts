import assert from 'node:assert/strict';
import { CHAT_LIMITS, ChatError } from '../../ports/chat.ts';
import type { ChatEntity } from '../../ports/chat-message.ts';
import { atSeat, type ChatHarness, never, refused } from './chat-seat.ts';
import type { ContractSuite } from './suite.ts';

const plain = (text: string) => ({ text, entities: [] });
/** What a model writes: nothing in it is markup. */
const ODD = '1. Fix (v1.2.3)! - done <b _a*b [c](d) `e 😀';

/** The contract of {@link ChatMessages}. */
export const chatMessagesSuite: ContractSuite<ChatHarness> = {
  port: 'ChatMessages',
  cases: [
    {
      id: 'chat-messages/send',
      sentence: '`send` delivers text, entities and keyboard as they are, once, and tells under which id',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown }) => {
          const entities: ChatEntity[] = [
            { type: 'bold', offset: 3, length: 3 },
            { type: 'text_link', offset: 3, length: 3, url: 'https://example.com/a_b' },
            { type: 'pre', offset: 7, length: 4, language: 'ts' },
          ];
          const keyboard = [[{ text: 'Yes', data: 'apr:1' }], [{ text: 'Docs', url: 'https://example.com/' }]];
          const sent = await bot.messages.send({ chatId: 5 }, { text: ODD, entities, keyboard }, never);
          assert.deepEqual(sent.place, { chatId: 5 });
          assert.equal(sent.maybeRepeat, false);
          assert.deepEqual(shown(5), [{ id: sent.messageId, text: ODD, entities, buttons: [['apr:1'], ['https://example.com/']] }]);
        }),
    },
    {
      id: 'chat-messages/topic',
      sentence: 'A topic that is gone is answered in the same chat without it, and nowhere else; `place` of the result says where',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown, closeTopic }) => {
          const first = await bot.messages.send({ chatId: -7, topicId: 9 }, plain('one'), never);
          assert.deepEqual(first.place, { chatId: -7, topicId: 9 });
          closeTopic(-7, 9);
          const second = await bot.messages.send({ chatId: -7, topicId: 9 }, plain('two'), never);
          assert.deepEqual(second.place, { chatId: -7 });
          await bot.messages.action({ chatId: -7, topicId: 9 }, 'typing', never);
          assert.deepEqual(
            shown(-7).map(({ text, topicId }) => [text, topicId]),
            [
              ['one', 9],
              ['two', undefined],
            ],
          );
        }),
    },
    {
      id: 'chat-messages/edit',
      sentence: '`edit` replaces text, entities and keyboard; one that changes nothing rejects with `chat_not_modified`',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown }) => {
          const keyboard = [[{ text: 'Yes', data: 'apr:1' }]];
          const { messageId } = await bot.messages.send({ chatId: 5 }, { ...plain('asked'), keyboard }, never);
          const answer = { text: 'decided', entities: [{ type: 'bold', offset: 0, length: 7 }] } as const;
          await bot.messages.edit({ chatId: 5, messageId }, answer, never);
          assert.deepEqual(shown(5), [{ id: messageId, ...answer, buttons: [] }]);
          await refused(bot.messages.edit({ chatId: 5, messageId }, answer, never), 'chat_not_modified');
          await refused(bot.messages.edit({ chatId: 5, messageId: 999_999 }, answer, never), 'chat_not_found');
        }),
    },
    {
      id: 'chat-messages/remove',
      sentence: '`remove` takes the message away; of one that is gone already it does nothing',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown }) => {
          const { messageId } = await bot.messages.send({ chatId: 5 }, plain('for a moment'), never);
          await bot.messages.remove({ chatId: 5, messageId }, never);
          assert.deepEqual(shown(5), []);
          await bot.messages.remove({ chatId: 5, messageId }, never);
        }),
    },
    {
      id: 'chat-messages/bounds',
      sentence:
        'More than 4096 UTF-16 units reject with `chat_too_long`, an entity outside the text with `chat_bad_request`; nothing was sent then',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown }) => {
          const { text: limit } = CHAT_LIMITS;
          await refused(bot.messages.send({ chatId: 5 }, plain('😀'.repeat(limit / 2 + 1)), never), 'chat_too_long');
          const outside = { text: 'short', entities: [{ type: 'bold', offset: 3, length: 3 }] } as const;
          await refused(bot.messages.send({ chatId: 5 }, outside, never), 'chat_bad_request');
          assert.deepEqual(shown(5), []);
          await bot.messages.send({ chatId: 5 }, plain('😀'.repeat(limit / 2)), never);
        }),
    },
    {
      id: 'chat-messages/attempts',
      sentence:
        'After a rate limit, a fault of the service or of the network the call is tried again, at most 5 times in all; a draft is not, and rejects with `chat_rate_limited` and `retryAfterMs`',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown, fail }) => {
          fail(4, 'service');
          await bot.messages.send({ chatId: 5 }, plain('one'), never);
          fail(1, { retryAfter: 5 });
          fail(1, 'network');
          const { messageId } = await bot.messages.send({ chatId: 5 }, plain('two'), never);
          fail(5, 'service');
          await refused(bot.messages.send({ chatId: 5 }, plain('three'), never), 'chat_service');
          fail(1, { retryAfter: 198 });
          const draft = bot.messages.edit({ chatId: 5, messageId }, { ...plain('draft'), draft: true }, never);
          await assert.rejects(
            draft,
            (error) => error instanceof ChatError && error.code === 'chat_rate_limited' && error.retryAfterMs === 198_000,
          );
          assert.deepEqual(
            shown(5).map(({ text }) => text),
            ['one', 'two'],
          );
        }),
    },
    {
      id: 'chat-messages/callback',
      sentence: '`answerCallback` ends the waiting of a button, with a short text where one is given',
      run: (harness) =>
        atSeat(harness, async ({ bot, press, answered }) => {
          const keyboard = [[{ text: 'Yes', data: 'apr:1' }]];
          const { messageId } = await bot.messages.send({ chatId: 5 }, { ...plain('asked'), keyboard }, never);
          const id = press(5, messageId, 'apr:1');
          const [update] = await bot.feed.poll({ offset: 0, timeoutSeconds: 0 }, never);
          assert.equal(update?.kind === 'callback' && update.callback.id, id);
          assert.equal(update?.kind === 'callback' && update.callback.data, 'apr:1');
          await bot.messages.answerCallback(id, 'approved '.repeat(100), never);
          await bot.messages.answerCallback(id, undefined, never);
          const [first, second] = answered();
          assert.equal(first?.text, 'approved '.repeat(100).slice(0, CHAT_LIMITS.callbackText));
          assert.deepEqual(second, { id });
        }),
    },
    {
      id: 'chat-messages/secret',
      sentence: 'No error names the bot’s token',
      run: (harness) =>
        atSeat(harness, async ({ bot, token, fail, revoke }) => {
          const secret = token.slice(token.indexOf(':') + 1);
          const hidden = (promise: Promise<unknown>): Promise<void> =>
            assert.rejects(promise, (error) => !`${(error as Error).stack} ${String((error as Error).cause)}`.includes(secret));
          fail(5, 'network');
          await hidden(bot.messages.send({ chatId: 5 }, plain('one'), never));
          await hidden(bot.messages.send({ chatId: 5 }, plain(''), never));
          revoke();
          await hidden(bot.messages.send({ chatId: 5 }, plain('one'), never));
        }),
    },
  ],
};

import assert from 'node:assert/strict';
import type { ChatUpdate } from '../../ports/chat.ts';
import { atSeat, type ChatHarness, type ChatSeat, never, refused } from './chat-seat.ts';
import type { ContractSuite } from './suite.ts';

const poll = (seat: ChatSeat, offset = 0): Promise<readonly ChatUpdate[]> => seat.bot.feed.poll({ offset, timeoutSeconds: 0 }, never);
const textOf = (update: ChatUpdate | undefined): string | undefined => (update?.kind === 'message' ? update.message.text : undefined);

/** The contract of {@link ChatFeed}. */
export const chatFeedSuite: ContractSuite<ChatHarness> = {
  port: 'ChatFeed',
  cases: [
    {
      id: 'chat-feed/me',
      sentence: '`me` tells who the bot is',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          const me = await seat.bot.feed.me(never);
          assert.equal(me.id, seat.botId);
          assert.equal(me.isBot, true);
        }),
    },
    {
      id: 'chat-feed/order',
      sentence:
        '`poll` gives the updates from `offset` on, oldest first; offset by offset each comes once, and waits until it is asked for',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          for (const text of ['one', 'two', 'three']) seat.say(5, text);
          const all = await poll(seat);
          assert.deepEqual(all.map(textOf), ['one', 'two', 'three']);
          assert.deepEqual((await poll(seat)).map(textOf), ['one', 'two', 'three'], 'nothing was given up');
          assert.deepEqual((await poll(seat, (all[1]?.id ?? 0) + 1)).map(textOf), ['three']);
          assert.deepEqual(JSON.parse(JSON.stringify(all)), all, 'plain data');
          seat.say(5, 'four');
          assert.deepEqual((await poll(seat, (all[2]?.id ?? 0) + 1)).map(textOf), ['four']);
        }),
    },
    {
      id: 'chat-feed/other',
      sentence: 'An update of a sort that odek does not know comes as `other`, so that it can be passed over',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          seat.strange();
          seat.say(5, 'hello');
          const all = await poll(seat);
          assert.deepEqual(
            all.map(({ kind }) => kind),
            ['other', 'message'],
          );
          assert.ok((all[0]?.id ?? 0) < (all[1]?.id ?? 0));
        }),
    },
    {
      id: 'chat-feed/topic',
      sentence: '`topicId` is there only for a message of a topic other than General',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          seat.say(-7, 'General', { id: 1, isTopic: true });
          seat.say(-7, 'a chain of replies', { id: 812, isTopic: false });
          seat.say(-7, 'a topic', { id: 9, isTopic: true });
          const topics = (await poll(seat)).map((each) => (each.kind === 'message' ? each.message.topicId : Number.NaN));
          assert.deepEqual(topics, [undefined, undefined, 9]);
        }),
    },
    {
      id: 'chat-feed/abort',
      sentence: '`poll` rejects at once with `CancelledError` when its signal fires',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          const ended = new AbortController();
          const waiting = seat.bot.feed.poll({ offset: 0, timeoutSeconds: 30 }, ended.signal);
          const timer = setTimeout(() => ended.abort(), 20);
          const late = AbortSignal.timeout(5_000);
          const lateness = new Promise<never>((_, reject) => {
            late.addEventListener('abort', () => reject(new Error('it waits on')), { once: true });
          });
          await refused(Promise.race([waiting, lateness]), 'cancelled').finally(() => clearTimeout(timer));
        }),
    },
    {
      id: 'chat-feed/conflict',
      sentence: '`poll` beside another poller rejects with `chat_conflict`; with a token that is not valid with `chat_unauthorized`',
      run: (harness) =>
        atSeat(harness, async (seat) => {
          seat.setRival(true);
          await refused(poll(seat), 'chat_conflict');
          seat.setRival(false);
          assert.deepEqual(await poll(seat), []);
          seat.revoke();
          await refused(poll(seat), 'chat_unauthorized');
        }),
    },
  ],
};

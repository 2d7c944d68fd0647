import { describe, expect, it } from 'vitest';
import { formatMarkdown } from '../../../hosts/telegram/format/index.ts';
import { createTalk } from '../../../hosts/telegram/talk.ts';
import { createFakeChat } from '../../fakes/chat-bot.ts';
import { createManualClock } from '../../fakes/clock.ts';

const HOUR = 3_600_000;
const PLACE = { chatId: 5 };

function talking() {
  const seat = createFakeChat();
  const clock = createManualClock();
  const over = new AbortController();
  const talk = createTalk({
    bot: seat.bot,
    format: (markdown) => formatMarkdown(markdown, 4096),
    clock,
    signal: over.signal,
    log: () => {},
  });
  const texts = (chatId: number): readonly string[] => seat.shown(chatId).map(({ text }) => text);
  return { seat, clock, talk, texts };
}

describe('a chat that may not be written to for an hour', () => {
  it('gets an answer when it may, once', async () => {
    const { seat, clock, talk, texts } = talking();
    seat.fail(1, { retryAfter: 3_600 });
    const said = talk.say(PLACE, 'The answer.');
    await clock.advance(HOUR - 1);
    expect(texts(5)).toEqual([]);
    await clock.advance(1);
    await said;
    expect(texts(5)).toEqual(['The answer.']);
  });

  it('keeps no result of a job from other chats: its own comes later, from where it broke off', async () => {
    const { seat, talk, texts } = talking();
    const long = ['one '.repeat(1_000), 'two '.repeat(1_000)].join('\n\n');
    let done = 0;
    const deliver = (chatId: number): Promise<void> =>
      talk.deliver({ chatId }, long, {
        done: chatId === 5 ? done : 0,
        onSent: (count) => {
          if (chatId === 5) done = count;
          if (chatId === 5 && count === 1) seat.fail(1, { retryAfter: 3_600 });
        },
      });
    await expect(deliver(5)).rejects.toMatchObject({ code: 'chat_rate_limited', retryAfterMs: HOUR });
    expect(done).toBe(1);
    await deliver(6);
    expect(texts(6)).toHaveLength(2);
    await deliver(5);
    expect(texts(5)).toEqual(texts(6));
  });
});

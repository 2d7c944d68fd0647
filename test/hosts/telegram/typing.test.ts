import { describe, expect, it } from 'vitest';
import { typing } from '../../../hosts/telegram/typing.ts';
import { createFakeChat } from '../../fakes/chat-bot.ts';
import { createManualClock } from '../../fakes/clock.ts';

function shown(doesFail: (count: number) => boolean) {
  const clock = createManualClock();
  const { bot } = createFakeChat();
  let count = 0;
  const action = async (): Promise<void> => {
    count += 1;
    if (doesFail(count)) throw new Error('no');
  };
  const stop = typing(
    { bot: { ...bot, messages: { ...bot.messages, action } }, clock, signal: new AbortController().signal },
    { chatId: 5 },
  );
  return { clock, stop, count: () => count };
}

describe('that the bot is at work', () => {
  it('is shown every 4 s until it is not any more', async () => {
    const { clock, stop, count } = shown(() => false);
    await clock.advance(12_000);
    expect(count()).toBe(4);
    stop();
    await clock.advance(12_000);
    expect([count(), clock.pending()]).toEqual([4, 0]);
  });

  it('is not shown any more after three failures in a row', async () => {
    const inRow = shown(() => true);
    await inRow.clock.advance(60_000);
    expect([inRow.count(), inRow.clock.pending()]).toEqual([3, 0]);
    const nowAndThen = shown((count) => count % 3 !== 0);
    await nowAndThen.clock.advance(60_000);
    expect(nowAndThen.count()).toBe(16);
    nowAndThen.stop();
  });
});

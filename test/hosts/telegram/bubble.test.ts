import { afterEach, describe, expect, it } from 'vitest';
import { createBubbles } from '../../../hosts/telegram/bubble.ts';
import { ChatError, type ChatErrorCode, type ChatMessages } from '../../../ports/chat.ts';
import { type TelegramSeat, telegramSeat } from '../../adapters/telegram/seat.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { badGateway, tooManyRequests } from '../../fakes/telegram/server.ts';

const plain = (text: string) => ({ text, entities: [] });
const fault = (code: ChatErrorCode, retryAfterMs?: number): ChatError => new ChatError(code, code, { retryAfterMs });

/** What the service was asked for, and scripted faults for it. */
function setting(chatId = 5) {
  const clock = createManualClock();
  const over = new AbortController();
  const log: string[] = [];
  const faults: ChatError[] = [];
  let next = 1;
  const meet = (entry: string): void => {
    const error = faults.shift();
    log.push(error === undefined ? entry : `${entry} ✗`);
    if (error !== undefined) throw error;
  };
  const messages: Pick<ChatMessages, 'send' | 'edit' | 'remove'> = {
    async send(place, { text }) {
      meet(`send ${text}`);
      return { messageId: next++, place, maybeRepeat: false };
    },
    async edit({ messageId }, { text }) {
      meet(`edit ${messageId} ${text}`);
    },
    async remove({ messageId }) {
      meet(`remove ${messageId}`);
    },
  };
  const bubble = createBubbles({ messages, clock, signal: over.signal })({ chatId });
  return { clock, over, log, faults, bubble };
}

describe('a bubble', () => {
  it('is one message that is edited at most every 1.5 s, and drops what was overtaken', async () => {
    const { clock, log, bubble } = setting();
    for (let count = 1; count <= 40; count += 1) {
      bubble.show(plain(`step ${count}`));
      await clock.advance(100);
    }
    await clock.advance(5_000);
    expect(log).toEqual(['send step 1', 'edit 1 step 15', 'edit 1 step 30', 'edit 1 step 40']);
  });

  it('is edited less often in a group', async () => {
    const { clock, log, bubble } = setting(-7);
    for (let count = 1; count <= 40; count += 1) {
      bubble.show(plain(`step ${count}`));
      await clock.advance(100);
    }
    await clock.advance(5_000);
    expect(log).toEqual(['send step 1', 'edit 1 step 30', 'edit 1 step 40']);
  });

  it('sends nothing for a text that is there already', async () => {
    const { clock, log, bubble, faults } = setting();
    bubble.show(plain('same'));
    await clock.advance(2_000);
    bubble.show(plain('same'));
    await clock.advance(2_000);
    expect(log).toEqual(['send same']);
    faults.push(fault('chat_not_modified'));
    bubble.show(plain('other'));
    await clock.advance(9_000);
    expect(log).toEqual(['send same', 'edit 1 other ✗']);
  });

  it('waits as long as the service asks, says the newest then, in a new message, and the end once', async () => {
    const { clock, log, bubble, faults } = setting();
    bubble.show(plain('one'));
    await clock.advance(2_000);
    faults.push(fault('chat_rate_limited', 198_000));
    bubble.show(plain('two'));
    await clock.advance(0);
    for (let count = 0; count < 190; count += 1) {
      bubble.show(plain(`step ${count}`));
      await clock.advance(1_000);
    }
    expect(log).toEqual(['send one', 'edit 1 two ✗']);
    const done = bubble.finish(plain('the end'));
    await clock.advance(7_000);
    expect(log).toHaveLength(2);
    await clock.advance(2_000);
    expect(await done).toBe(true);
    expect(log).toEqual(['send one', 'edit 1 two ✗', 'send the end']);
  });

  it('bears a hold of hours', async () => {
    const { clock, log, bubble, faults } = setting();
    faults.push(fault('chat_rate_limited', 13_000_000));
    const done = bubble.finish(plain('the end'));
    await clock.advance(12_999_000);
    expect(log).toEqual(['send the end ✗']);
    await clock.advance(2_000);
    expect(await done).toBe(true);
    expect(log).toEqual(['send the end ✗', 'send the end']);
  });

  it('comes anew when somebody deleted it', async () => {
    const { clock, log, bubble, faults } = setting();
    bubble.show(plain('one'));
    await clock.advance(2_000);
    faults.push(fault('chat_not_found'));
    bubble.show(plain('two'));
    await clock.advance(4_000);
    expect(log).toEqual(['send one', 'edit 1 two ✗', 'send two']);
    faults.push(fault('chat_not_found'));
    expect(await bubble.finish(plain('the end'))).toBe(true);
    expect(log.slice(3)).toEqual(['edit 2 the end ✗', 'send the end']);
  });

  it('gives up on the way after five failures, and still says the end', async () => {
    const { clock, log, bubble, faults } = setting();
    faults.push(...Array.from({ length: 5 }, () => fault('chat_network')));
    for (let count = 0; count < 60; count += 1) {
      bubble.show(plain(`step ${count}`));
      await clock.advance(1_000);
    }
    expect(log).toHaveLength(5);
    expect(await bubble.finish(plain('the end'))).toBe(true);
    expect(log.at(-1)).toBe('send the end');
  });

  it('says the end without its entities when the service refuses them, and tells when it is lost', async () => {
    const { log, bubble, faults } = setting();
    faults.push(fault('chat_bad_request'));
    expect(await bubble.finish(plain('the end'))).toBe(true);
    expect(log).toEqual(['send the end ✗', 'send the end']);
    const lost = setting();
    lost.faults.push(fault('chat_forbidden'));
    expect(await lost.bubble.finish(plain('the end'))).toBe(false);
    expect(lost.log).toEqual(['send the end ✗']);
  });

  it('says a long end in several messages, and only once', async () => {
    const { clock, log, bubble } = setting();
    bubble.show(plain('one'));
    await clock.advance(2_000);
    const text = `${'a'.repeat(4_000)}\n\n${'b'.repeat(4_000)}`;
    const [first, second] = [bubble.finish(plain(text)), bubble.finish(plain(text))];
    expect([await first, await second]).toEqual([true, true]);
    expect(log.map((each) => each.slice(0, 8))).toEqual(['send one', 'edit 1 a', 'send bbb']);
  });

  it('begins a new message after something was sent below, and takes all of them away', async () => {
    const { clock, log, bubble } = setting();
    bubble.show(plain('one'));
    await clock.advance(2_000);
    bubble.renew();
    bubble.show(plain('two'));
    await clock.advance(2_000);
    await bubble.remove();
    bubble.show(plain('late'));
    await clock.advance(9_000);
    expect(log).toEqual(['send one', 'send two', 'remove 1', 'remove 2']);
  });

  it('leaves nothing that waits when the bot ends', async () => {
    const { clock, log, over, bubble } = setting();
    bubble.show(plain('one'));
    await clock.advance(2_000);
    over.abort();
    bubble.show(plain('two'));
    await clock.advance(9_000);
    expect(log).toEqual(['send one']);
    expect(clock.pending()).toBe(0);
  });
});

describe('a bubble before a service that refuses edits', () => {
  const seats: TelegramSeat[] = [];
  afterEach(async () => {
    for (const each of seats.splice(0)) await each.close();
  });

  it('never harms the host, and the end is there once', async () => {
    const seat = await telegramSeat();
    seats.push(seat);
    const { bot, server } = seat;
    const clock = createManualClock();
    const bubble = createBubbles({ messages: bot.messages, clock, signal: new AbortController().signal })({ chatId: 5 });
    server.fail('editMessageText', tooManyRequests(198), badGateway, tooManyRequests(5));
    server.fail('sendMessage', { kind: 'slow', ms: 5 }, badGateway);
    for (let count = 0; count < 6; count += 1) {
      bubble.show(plain(`step ${count}`));
      await clock.advance(2_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const done = bubble.finish(plain('the end'));
    for (let turn = 0; turn < 30; turn += 1) {
      await clock.advance(20_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await done).toBe(true);
    expect(server.messages(5).filter(({ text }) => text === 'the end')).toHaveLength(1);
    expect(server.callsOf('editMessageText').length).toBeLessThan(4);
  });
});

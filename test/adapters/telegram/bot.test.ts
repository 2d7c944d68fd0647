import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../adapters/http/index.ts';
import { apiRoots, openTelegram } from '../../../adapters/telegram/index.ts';
import type { ChatError } from '../../../ports/chat.ts';
import { badGateway, blocked, tooManyRequests } from '../../fakes/telegram/server.ts';
import { hastyClock, type TelegramSeat, telegramSeat } from './seat.ts';

const signal = new AbortController().signal;
const plain = (text: string) => ({ text, entities: [] });
const seats: TelegramSeat[] = [];

async function seat(options?: Parameters<typeof telegramSeat>[0]): Promise<TelegramSeat> {
  const made = await telegramSeat(options);
  seats.push(made);
  return made;
}

afterEach(async () => {
  for (const each of seats.splice(0)) await each.close();
});

const faultOf = (promise: Promise<unknown>): Promise<ChatError> =>
  promise.then(
    () => expect.fail('it went well'),
    (error: ChatError) => error,
  );

describe('a bot of Telegram', () => {
  it('tries five times, 1, 2, 4 and 8 s apart, when the service fails', async () => {
    const { bot, server, slept } = await seat();
    server.fail('sendMessage', badGateway, { kind: 'garbage' }, badGateway, badGateway, badGateway);
    expect(await faultOf(bot.messages.send({ chatId: 5 }, plain('hello'), signal))).toMatchObject({ code: 'chat_service' });
    expect(slept).toEqual([1000, 2000, 4000, 8000]);
    expect(server.callsOf('sendMessage')).toHaveLength(5);
  });

  it('waits as long as the service asks, and leaves a wait of minutes to the caller', async () => {
    const { bot, server, slept } = await seat();
    server.fail('sendMessage', tooManyRequests(13));
    expect(await bot.messages.send({ chatId: 5 }, plain('hello'), signal)).toMatchObject({ maybeRepeat: false });
    expect(slept).toEqual([13_000]);
    server.fail('sendMessage', tooManyRequests(198));
    expect(await faultOf(bot.messages.send({ chatId: 5 }, plain('hello'), signal))).toMatchObject({
      code: 'chat_rate_limited',
      retryAfterMs: 198_000,
    });
    expect(slept).toEqual([13_000]);
  });

  it('tells that a message may be there twice when the answer to the first attempt was lost', async () => {
    const { bot, server } = await seat();
    server.fail('sendMessage', { kind: 'drop', done: true });
    expect(await bot.messages.send({ chatId: 5 }, plain('hello'), signal)).toMatchObject({ maybeRepeat: true });
    expect(server.messages(5)).toHaveLength(2);
  });

  it.each([
    ['a token that is not valid', 'chat_unauthorized', { kind: 'error', code: 401, description: 'Unauthorized' } as const],
    ['a bot that was blocked', 'chat_forbidden', blocked],
    [
      'another instance',
      'chat_conflict',
      { kind: 'error', code: 409, description: 'Conflict: terminated by other getUpdates request' } as const,
    ],
    ['a chat that is gone', 'chat_not_found', { kind: 'error', code: 400, description: 'Bad Request: chat not found' } as const],
  ])('does not try again after %s: %s', async (_, code, fault) => {
    const { bot, server, slept } = await seat();
    server.fail('sendMessage', fault);
    expect(await faultOf(bot.messages.send({ chatId: 5 }, plain('hello'), signal))).toMatchObject({ code });
    expect(slept).toEqual([]);
  });

  it('goes to the next address when one does not answer, and stays there', async () => {
    const other = await seat();
    const { bot, server } = await seat({ token: other.server.token, fallbacks: [other.server.url] });
    await server.close();
    await bot.messages.send({ chatId: 5 }, plain('one'), signal);
    await bot.messages.send({ chatId: 5 }, plain('two'), signal);
    expect(other.server.messages(5).map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('names the token in no error, whatever the service and the network say', async () => {
    const { bot, server } = await seat();
    const { token } = server;
    const [, secret = ''] = token.split(':');
    server.fail('sendMessage', { kind: 'error', code: 400, description: `Bad Request: /bot${token}/ is odd` });
    const errors = [await faultOf(bot.messages.send({ chatId: 5 }, plain('hello'), signal))];
    server.setRevoked(true);
    errors.push(await faultOf(bot.feed.me(signal)));
    await server.close();
    errors.push(await faultOf(bot.feed.me(signal)), await faultOf(bot.files.download('file1', 10, signal)));
    for (const error of errors) {
      expect(error.code).toMatch(/^chat_/);
      const all = JSON.stringify([error.message, error.stack, error.value, error.limit, String(error.cause)]);
      expect(all).not.toContain(secret);
    }
  });

  it('gives up an attempt that takes too long, and a file that does not come', async () => {
    const { bot, server, slept } = await seat({ attemptMs: 60 });
    server.fail('getMe', { kind: 'slow', ms: 400 });
    expect((await bot.feed.me(signal)).id).toBe(server.bot.id);
    expect(slept).toEqual([1000]);
    server.fail('sendChatAction', { kind: 'slow', ms: 400 });
    const error = await faultOf(bot.messages.action({ chatId: 5 }, 'typing', signal));
    expect(error).toMatchObject({ code: 'chat_network', message: expect.stringContaining('60 ms') });
    const id = server.addFile(Buffer.from('x'));
    server.fail('getFile', badGateway);
    const { bytes } = await bot.files.download(id, 10, signal);
    for await (const chunk of bytes) expect(Buffer.from(chunk).toString()).toBe('x');
    expect(slept).toEqual([1000, 1000]);
  });

  it('ends a long poll at once when it is cancelled', async () => {
    const { bot, server } = await seat();
    const ended = new AbortController();
    const poll = faultOf(bot.feed.poll({ offset: 0, timeoutSeconds: 50 }, ended.signal));
    await server.until(() => true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = performance.now();
    ended.abort();
    expect(await poll).toMatchObject({ code: 'cancelled' });
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it('passes over updates that it does not understand, and over malformed ones', async () => {
    const { bot, server } = await seat();
    server.push({ poll_answer: { poll_id: '1' } });
    server.push({ message: { message_id: 1, date: 5 } });
    server.say({ chatId: 5, text: 'hello' });
    const updates = await bot.feed.poll({ offset: 0, timeoutSeconds: 0 }, signal);
    expect(updates.map(({ kind }) => kind)).toEqual(['other', 'other', 'message']);
  });

  it('reads captions, forwards, replies, the largest photo and entities in UTF-16 units', async () => {
    const { bot, server } = await seat();
    server.say({
      chatId: -7,
      caption: '😀 @odek_test_bot what is this?',
      forwardFrom: 'Someone',
      replyTo: { messageId: 3, from: { id: 4242, isBot: true }, text: 'before' },
      fields: {
        photo: [
          { file_id: 'small', file_unique_id: 'a', width: 1, height: 1 },
          { file_id: 'large', file_unique_id: 'b', width: 9, height: 9, file_size: 99 },
        ],
      },
    });
    const [update] = await bot.feed.poll({ offset: 0, timeoutSeconds: 0 }, signal);
    expect(update).toMatchObject({
      kind: 'message',
      edited: false,
      message: {
        chat: { id: -7, kind: 'supergroup' },
        text: '😀 @odek_test_bot what is this?',
        entities: [{ type: 'mention', offset: 3, length: 14 }],
        media: { kind: 'photo', fileId: 'large', size: 99 },
        forward: { from: 'Someone' },
        replyTo: { messageId: 3, from: { id: 4242 }, text: 'before' },
      },
    });
  });

  it('answers a chain of replies and General without a thread, and a topic in its thread', async () => {
    const { bot, server } = await seat();
    server.say({ chatId: -7, text: 'in General', topicId: 1 });
    server.say({ chatId: -7, text: 'a chain', topicId: 812, isTopic: false });
    server.say({ chatId: -7, text: 'a topic', topicId: 9 });
    const updates = await bot.feed.poll({ offset: 0, timeoutSeconds: 0 }, signal);
    expect(updates.map((each) => (each.kind === 'message' ? each.message.topicId : 'none'))).toEqual([undefined, undefined, 9]);
  });

  it('follows a group that became a supergroup, with messages and with files', async () => {
    const { bot, server } = await seat();
    server.upgrade(-7, -1007);
    const sent = await bot.messages.send({ chatId: -7, topicId: 3 }, { text: 'hello', entities: [] }, signal);
    expect(sent).toMatchObject({ place: { chatId: -1007 }, maybeRepeat: false });
    await bot.files.upload({ chatId: '-7' }, { kind: 'document', name: 'a.txt', bytes: Buffer.from('x') }, signal);
    expect(server.messages(-1007).map(({ text, file }) => file?.name ?? text)).toEqual(['hello', 'a.txt']);
    expect(server.callsOf('sendMessage')).toHaveLength(2);
  });

  it('sends a name of a file that would break the request', async () => {
    const { bot, server } = await seat();
    const name = 'a"b;\r\nx: y/../ü report.md';
    await bot.files.upload({ chatId: 5 }, { kind: 'document', name, bytes: Buffer.from('x') }, signal);
    expect(server.messages(5)[0]?.file).toMatchObject({ kind: 'document', name: 'a_b___x: y_.._ü report.md' });
  });

  it('refuses a token and addresses that are none', async () => {
    const http = createHttpClient({ mode: 'operator', allowHosts: [] });
    await expect(openTelegram({ token: 'abc', roots: ['http://127.0.0.1'], http, clock: hastyClock() })).rejects.toMatchObject({
      code: 'invalid_bot_token',
    });
    expect(apiRoots('http://10.0.0.5:8081/', ['https://api.telegram.org', 'http://127.0.0.1:9'])).toEqual([
      'http://10.0.0.5:8081',
      'https://api.telegram.org',
      'http://127.0.0.1:9',
    ]);
    for (const bad of ['https://eviltelegram.org', 'http://api.telegram.org', 'https://telegram.org.evil.example', 'https://example.com']) {
      expect(() => apiRoots('https://api.telegram.org', [bad])).toThrow(/fallback_urls/);
    }
    expect(() => apiRoots('ftp://x', [])).toThrow(/api_root/);
    expect(() => apiRoots('https://user:pw@x', [])).toThrow(/api_root/);
  });
});

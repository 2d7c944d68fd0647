import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTelegramServer, type TelegramServer, tooManyRequests } from './server.ts';

let server: TelegramServer;

beforeEach(async () => {
  server = await startTelegramServer();
});
afterEach(() => server.close());

interface Answer {
  readonly ok: boolean;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: { readonly retry_after?: number };
  // biome-ignore lint/suspicious/noExplicitAny: a parse boundary.
  readonly result?: any;
}

async function call(method: string, params: object = {}, token = server.token): Promise<Answer> {
  const response = await fetch(`${server.url}/bot${token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  });
  return (await response.json()) as Answer;
}

const say = (params: object): Promise<Answer> => call('sendMessage', { chat_id: 5, ...params });

describe('the fake Bot API server', () => {
  it('counts a text in UTF-16 units, after its markup is read', async () => {
    expect((await say({ text: '😀'.repeat(2_048) })).ok).toBe(true);
    expect(await say({ text: '😀'.repeat(2_049) })).toMatchObject({ error_code: 400, description: 'Bad Request: message is too long' });
    expect((await say({ text: `*${'\\.'.repeat(4_096)}*`, parse_mode: 'MarkdownV2' })).ok).toBe(true);
    expect((await say({ text: `*${'\\.'.repeat(4_097)}*`, parse_mode: 'MarkdownV2' })).ok).toBe(false);
    expect(await say({ text: ' \n' })).toMatchObject({ description: 'Bad Request: message text is empty' });
  });

  it.each([
    ['Fix - it', "Character '-' is reserved and must be escaped with the preceding '\\'"],
    ['1. Fix', "Character '.' is reserved and must be escaped with the preceding '\\'"],
    ['*bold', "Can't find end of Bold entity at byte offset 0"],
    ['é _it', "Can't find end of Italic entity at byte offset 3"],
    ['`code', "Can't find end of Code entity at byte offset 0"],
    ['```\ncode', "Can't find end of PreCode entity at byte offset 0"],
    ['[text] x', "Character ']' is reserved and must be escaped with the preceding '\\'"],
  ])('refuses markup that is not well-formed: %j', async (text, why) => {
    expect(await say({ text, parse_mode: 'MarkdownV2' })).toMatchObject({
      error_code: 400,
      description: `Bad Request: can't parse entities: ${why}`,
    });
  });

  it('reads markup that is', async () => {
    await say({ text: '*b* _i_ __u__ ~s~ ||p|| `c` [l](https://x.y/a_b)\n```ts\nlet a\\_b\n```', parse_mode: 'MarkdownV2' });
    const [message] = server.messages(5);
    expect(message?.text).toBe('b i u s p c l\nlet a_b\n');
    expect(message?.entities.map(({ type }) => type)).toEqual([
      'bold',
      'italic',
      'underline',
      'strikethrough',
      'spoiler',
      'code',
      'text_link',
      'pre',
    ]);
  });

  it('refuses entities outside the text, or inside a surrogate pair, and drops those beyond 100', async () => {
    expect((await say({ text: 'short', entities: [{ type: 'bold', offset: 3, length: 3 }] })).ok).toBe(false);
    expect((await say({ text: '😀', entities: [{ type: 'bold', offset: 1, length: 1 }] })).ok).toBe(false);
    const entities = Array.from({ length: 101 }, (_, offset) => ({ type: 'bold', offset, length: 1 }));
    expect((await say({ text: 'x'.repeat(200), entities })).ok).toBe(true);
    expect(server.messages(5)[0]?.entities).toHaveLength(100);
  });

  it('refuses more than 64 bytes of a button', async () => {
    const keyboard = (data: string) => ({ text: 'x', reply_markup: { inline_keyboard: [[{ text: 'a', callback_data: data }]] } });
    expect((await say(keyboard('x'.repeat(64)))).ok).toBe(true);
    for (const data of ['x'.repeat(65), 'é'.repeat(33), '']) {
      expect(await say(keyboard(data))).toMatchObject({ description: 'Bad Request: BUTTON_DATA_INVALID' });
    }
  });

  it('refuses an edit that changes nothing, and one of a message that is gone', async () => {
    const { result } = await say({ text: 'same' });
    const edit = (params: object): Promise<Answer> => call('editMessageText', { chat_id: 5, message_id: result.message_id, ...params });
    expect((await edit({ text: 'same' })).description).toMatch(/^Bad Request: message is not modified/);
    expect((await edit({ text: 'other' })).ok).toBe(true);
    await call('deleteMessage', { chat_id: 5, message_id: result.message_id });
    expect(await edit({ text: 'again' })).toMatchObject({ description: 'Bad Request: message to edit not found' });
  });

  it('knows topics that are gone, other tokens, floods, and answers any method', async () => {
    server.closeTopic(-7, 9);
    expect(await say({ chat_id: -7, message_thread_id: 9, text: 'x' })).toMatchObject({
      description: 'Bad Request: message thread not found',
    });
    expect(await call('getMe', {}, '1:wrong')).toMatchObject({ error_code: 401, description: 'Unauthorized' });
    expect(server.strangers).toBe(1);
    server.fail('sendMessage', tooManyRequests(7));
    expect(await say({ text: 'x' })).toMatchObject({ error_code: 429, parameters: { retry_after: 7 } });
    expect(await call('setMessageReaction')).toMatchObject({ ok: true, result: true });
  });

  it('ends the older of two polls with a conflict, keeps what nobody confirmed, and gives ids as told', async () => {
    const older = call('getUpdates', { timeout: 20 });
    await server.until(() => server.callsOf('getUpdates').length === 1);
    const newer = call('getUpdates', { timeout: 20 });
    expect(await older).toMatchObject({ error_code: 409 });
    server.jumpTo(77);
    server.say({ chatId: 5, text: 'hello' });
    expect((await newer).result).toMatchObject([{ update_id: 77, message: { text: 'hello' } }]);
    expect((await call('getUpdates', { offset: 77 })).result).toHaveLength(1);
    expect((await call('getUpdates', { offset: 78 })).result).toEqual([]);
    server.setWebhook('https://example.com/');
    expect(await call('getUpdates')).toMatchObject({ error_code: 409, description: expect.stringContaining('webhook') });
  });
});

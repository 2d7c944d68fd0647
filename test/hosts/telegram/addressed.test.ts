import { describe, expect, it } from 'vitest';
import { commandOf, isAddressed, withoutMention } from '../../../hosts/telegram/addressed.ts';
import type { ChatEntity, ChatMessage, ChatUser } from '../../../ports/chat-message.ts';

const ME: ChatUser = { id: 42, isBot: true, name: 'Bot', username: 'My_Bot' };
const ANN: ChatUser = { id: 1, isBot: false, name: 'Ann' };

const message = (text: string, entities: readonly ChatEntity[] = [], more: Partial<ChatMessage> = {}): ChatMessage => ({
  id: 1,
  chat: { id: -5, kind: 'supergroup', isForum: false },
  from: ANN,
  at: 0,
  text,
  entities,
  ...more,
});
const at = (text: string, what: string, type: ChatEntity['type']): ChatEntity => ({
  type,
  offset: text.indexOf(what),
  length: what.length,
});

describe('a command', () => {
  it.each([
    ['/stats', { name: 'stats', rest: '' }],
    ['/Plan-View  my plan ', { name: 'plan_view', rest: 'my plan' }],
    ['/stats@My_Bot now', { name: 'stats', rest: 'now', bot: 'my_bot' }],
    ['/schedule add @daily\nDo it', { name: 'schedule', rest: 'add @daily\nDo it' }],
  ])('is read from %j', (text, expected) => {
    expect(commandOf(text)).toEqual(expected);
  });

  it.each(['/etc/hosts is what?', 'see /stats', '/', '/a.b', ' /stats'])('is not found in %j', (text) => {
    expect(commandOf(text)).toBeUndefined();
  });
});

describe('a message of a group', () => {
  it('is meant for the bot that it mentions by its exact name, in any case, also after an emoji', () => {
    const text = '👩‍👩‍👧 hi @MY_BOT!';
    expect(isAddressed(message(text, [at(text, '@MY_BOT', 'mention')]), ME)).toBe(true);
  });

  it('is not meant for it where its name is only a piece of something', () => {
    for (const [text, what, type] of [
      ['mail foo@my_bot.example', 'foo@my_bot.example', 'other'],
      ['@my_botx there?', '@my_botx', 'mention'],
      ['/run@other_my_bot', '/run@other_my_bot', 'bot_command'],
      ['/run@x@my_bot', '/run@x', 'bot_command'],
      ['/run', '/run', 'bot_command'],
    ] as const) {
      expect(isAddressed(message(text, [at(text, what, type)]), ME), text).toBe(false);
    }
    expect(isAddressed(message('hi @my_bot'), ME)).toBe(false);
  });

  it('is meant for it as a reply to it, a command with its name, and a mention without a name', () => {
    expect(isAddressed(message('yes', [], { replyTo: { messageId: 1, from: ME, text: '' } }), ME)).toBe(true);
    expect(isAddressed(message('yes', [], { replyTo: { messageId: 1, from: ANN, text: '' } }), ME)).toBe(false);
    expect(isAddressed(message('/run@my_bot', [at('/run@my_bot', '/run@my_bot', 'bot_command')]), ME)).toBe(true);
    expect(isAddressed(message('Bot hi', [{ type: 'text_mention', offset: 0, length: 3, userId: 42 }]), ME)).toBe(true);
    expect(isAddressed(message('Bot hi', [{ type: 'text_mention', offset: 0, length: 3, userId: 7 }]), ME)).toBe(false);
  });

  it('loses the mention at its beginning and no other', () => {
    const text = '@my_bot tell @my_bot';
    expect(withoutMention(message(text, [at(text, '@my_bot', 'mention')]), ME)).toBe('tell @my_bot');
    expect(withoutMention(message('tell @my_bot', [at('tell @my_bot', '@my_bot', 'mention')]), ME)).toBe('tell @my_bot');
  });
});

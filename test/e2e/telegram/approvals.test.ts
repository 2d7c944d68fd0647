import { describe, expect, it } from 'vitest';
import { call } from '../support/mcp.ts';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, EVE, onChatStage, press } from './stage.ts';

const RUN = call('shell', { command: 'node -e "console.log(6*7)"' });
const lastResult = (request: { body: { messages: { role: string; content: string }[] } } | undefined): string =>
  request?.body.messages.findLast(({ role }) => role === 'tool')?.content ?? '';

describe('an approval in Telegram', PATIENT, () => {
  it('is asked with buttons, given by the person who wrote, and shown as decided', () =>
    onChatStage([RUN, { text: 'It is 42.' }], async ({ telegram, bot, said, server }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'compute' });
      const card = await said('Approval Required');
      expect(card.text).toContain('Risk: code_execution');
      expect(card.entities.some(({ type }) => type === 'pre')).toBe(true);
      press(telegram, card, 'apr:', ANN);
      await said('It is 42.');
      expect(lastResult(server.requests[1])).toContain('42');
      await telegram.until(() => card.text.includes('✅ Approved'));
      expect(card.keyboard).toBeUndefined();
      expect(telegram.callsOf('answerCallbackQuery').at(-1)?.params.text).toBe('✅ Approved');
    }));

  it('takes no answer from somebody else, also where both may use the bot', () =>
    onChatStage(
      [RUN, { text: 'Denied, then.' }],
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: -5, text: '@odek_test_bot compute', from: { id: ANN } });
        const card = await said('Approval Required', -5);
        press(telegram, card, 'apr:', EVE, -5);
        await telegram.until(() => telegram.callsOf('answerCallbackQuery').some(({ params }) => /not yours/.test(String(params.text))));
        press(telegram, card, 'apr:', 999, -5);
        await telegram.until(() => telegram.callsOf('answerCallbackQuery').some(({ params }) => /not allowed/.test(String(params.text))));
        press(telegram, card, 'den:', ANN, -5);
        await said('Denied, then.', -5);
        expect(lastResult(server.requests[1])).toContain('operation denied by user');
      },
      { telegram: { allowed_users: [ANN, EVE] } },
    ));

  it('is asked where the group went that became a supergroup, and shown there as decided', () =>
    onChatStage([RUN, { text: 'It is 42.' }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.upgrade(-5, -1005);
      telegram.say({ chatId: -5, text: '@odek_test_bot compute', from: { id: ANN } });
      const card = await said('Approval Required', -1005);
      press(telegram, card, 'apr:', ANN, -1005);
      await said('It is 42.', -1005);
      await telegram.until(() => card.text.includes('✅ Approved'));
      expect(telegram.history(-5)).toEqual([]);
    }));

  it('makes a denial of trust that was not offered', () =>
    onChatStage([RUN, RUN, RUN, RUN, { text: 'End.' }], async ({ telegram, bot, said, server }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'compute' });
      for (let number = 1; number <= 3; number += 1) {
        const card = await telegram.until(
          () => telegram.history(ANN).filter(({ text, keyboard }) => text.includes('Approval Required') && keyboard !== undefined)[0],
          40_000,
        );
        press(telegram, card, 'apr:', ANN);
        await telegram.until(() => card.keyboard === undefined);
      }
      const fourth = await said('Read this one twice');
      const buttons = ((fourth.keyboard?.inline_keyboard ?? []) as { callback_data: string }[][]).flat();
      expect(buttons.map(({ callback_data: data }) => data.slice(0, 4))).toEqual(['apr:', 'den:']);
      telegram.press({ chatId: ANN, messageId: fourth.id, data: `trs:${buttons[0]?.callback_data.slice(4)}`, from: { id: ANN } });
      await said('End.');
      expect(lastResult(server.requests[4])).toContain('operation denied by user');
      expect(countOf(telegram, 'Approval Required')).toBe(4);
    }));

  it('is trusted for the session until a new one begins', () =>
    onChatStage([RUN, RUN, { text: 'Twice.' }, RUN, { text: 'Again.' }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'compute' });
      press(telegram, await said('Approval Required'), 'trs:', ANN);
      await said('Twice.');
      expect(countOf(telegram, 'Approval Required')).toBe(1);
      telegram.say({ chatId: ANN, text: '/new' });
      await said('A new conversation begins.');
      telegram.say({ chatId: ANN, text: 'compute' });
      await telegram.until(() => countOf(telegram, 'Approval Required') === 2, 40_000);
      telegram.say({ chatId: ANN, text: '/approve' });
      const list = await said('(code_execution): shell');
      telegram.say({ chatId: ANN, text: `/approve ${list.text.slice(0, 16)}` });
      await said('Again.');
    }));
});

describe('a question to the person', PATIENT, () => {
  it('is answered in a group by a reply of that person, and by nothing else that is said there', () =>
    onChatStage(
      [call('clarify', { question: 'Which colour?' }), { text: 'Done.' }, { text: 'Hello Eve.' }],
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: -5, text: '@odek_test_bot paint', from: { id: ANN } });
        const question = await said('❓ Which colour?', -5);
        const replyTo = { messageId: question.id, from: { id: 4242, isBot: true }, text: question.text };
        telegram.say({ chatId: -5, text: 'red', from: { id: ANN } });
        telegram.say({ chatId: -5, text: 'green', from: { id: EVE }, replyTo });
        await said('queued', -5);
        telegram.say({ chatId: -5, text: 'blue', from: { id: ANN }, replyTo });
        await said('Done.', -5);
        await said('Hello Eve.', -5);
        expect(lastResult(server.requests[1])).toContain('blue');
        expect(JSON.stringify(server.requests[1]?.body.messages)).not.toMatch(/red|green/);
        expect(server.count).toBe(3);
      },
      { telegram: { allowed_users: [ANN, EVE] } },
    ));

  it('is answered by the next message, or by a button', () =>
    onChatStage(
      [call('clarify', { question: 'Which colour?' }), call('clarify', { question: 'Really?' }), { text: 'Done.' }],
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'paint' });
        await said('❓ Which colour?');
        telegram.say({ chatId: ANN, text: 'blue' });
        const second = await said('❓ Really?');
        press(telegram, second, 'clarify:', ANN);
        await said('Done.');
        expect(lastResult(server.requests[1])).toContain('blue');
        expect(lastResult(server.requests[2])).toContain('yes');
        expect(server.count).toBe(3);
        await telegram.until(() => second.keyboard === undefined);
      },
    ));
});

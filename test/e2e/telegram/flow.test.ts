import { describe, expect, it } from 'vitest';
import { call } from '../support/mcp.ts';
import { isAlive, until } from '../support/processes.ts';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, onChatStage } from './stage.ts';

const ALLOW = { config: { dangerous: { classes: { code_execution: 'allow', unread_exec: 'allow' } } } };

describe('requests of a chat', PATIENT, () => {
  it('are worked on one after the other, and the second is told that it waits', () =>
    onChatStage([{ text: 'First.', delayMs: 1500 }, { text: 'Second.' }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'one' });
      await said('🤔 Looking into that...');
      telegram.say({ chatId: ANN, text: 'two' });
      await said('⏳ Working on your previous request — queued.');
      await said('Second.');
      const texts = telegram.history(ANN).map(({ text }) => text);
      expect(texts.indexOf('First.')).toBeLessThan(texts.indexOf('Second.'));
      expect(countOf(telegram, 'First.')).toBe(1);
    }));

  it('are stopped by /stop within a second, with the tool that runs', () =>
    onChatStage(
      [call('shell', { command: 'sleep 60 & echo $! > pid; wait' }), { text: 'never' }],
      async ({ telegram, bot, said, server, work }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'sleep' });
        const { pidIn } = await import('../support/processes.ts');
        const pid = await pidIn(`${work}/pid`);
        const at = performance.now();
        telegram.say({ chatId: ANN, text: '/stop' });
        await said('Task Interrupted');
        expect(performance.now() - at).toBeLessThan(3_000);
        await until('the tool is gone', () => !isAlive(pid));
        telegram.say({ chatId: ANN, text: '/stop' });
        await said('Nothing is running here.');
        expect(server.count).toBe(1);
      },
      ALLOW,
    ));

  it('are ended at the time limit, and it is said', () =>
    onChatStage(
      [{ hang: true }],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'think' });
        await said('⏱️ Stopped after 2 s');
      },
      { telegram: { agent_timeout_seconds: 2 } },
    ));

  it('are refused when they are too long, and told what went wrong when they fail', () =>
    onChatStage(
      [{ status: 400, error: { message: 'the model is unwell' } }],
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'x'.repeat(101) });
        await said('✂️ That is too long: 101 characters, at most 100 are taken.');
        expect(server.count).toBe(0);
        telegram.say({ chatId: ANN, text: 'short' });
        await said(/❌ .*the model is unwell/s);
      },
      { telegram: { max_msg_length: 100 } },
    ));

  it('find an end at the daily token budget, which still lets the answer through', () =>
    onChatStage(
      [{ text: 'Over it.', usage: { prompt_tokens: 900, completion_tokens: 200, total_tokens: 1100 } }],
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'one' });
        await said('Over it.');
        await said("⚠️ 110 % of today's token budget is used");
        telegram.say({ chatId: ANN, text: 'two' });
        await said("🚫 Today's token budget is used up");
        expect(server.count).toBe(1);
      },
      { telegram: { daily_token_budget: 1000 } },
    ));

  it('of several chats are worked on at the same time', () =>
    onChatStage(
      () => ({ text: 'Answer {{n}}.', delayMs: 800 }),
      async ({ telegram, bot, said }) => {
        await bot();
        for (const chatId of [ANN, 102, 103]) telegram.say({ chatId, text: 'hi' });
        for (const chatId of [ANN, 102, 103]) await said('Answer', chatId);
      },
      { telegram: { allowed_users: [ANN, 102, 103] } },
    ));
});

describe('a text of the model', PATIENT, () => {
  const HARD = '1. Fix (v1.2.3)! - done\n\n```js\nconst a = [1, 2\n\n<b _x_ **bold [li*nk](https://e.example/a_b_c)** ![ |a|b|';

  it('arrives whatever is in it, once', () =>
    onChatStage([{ text: HARD }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'write' });
      await said('Fix (v1.2.3)! - done');
      await said('✅ Done');
      expect(countOf(telegram, 'const a = [1, 2')).toBe(1);
      expect(countOf(telegram, 'lost')).toBe(0);
    }));

  it('arrives as plain text where the service does not take its markup', () =>
    onChatStage([{ text: 'A **bold** word.' }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.say({ chatId: ANN, text: '/mode off' });
      await said('Progress is shown as "off"');
      telegram.fail('sendMessage', { kind: 'error', code: 400, description: "Bad Request: can't parse entities: unexpected end" });
      telegram.say({ chatId: ANN, text: 'write' });
      const answer = await said('A bold word.');
      expect(answer.entities).toEqual([]);
      await said('✅ Done');
      expect(countOf(telegram, 'A bold word.')).toBe(1);
    }));

  it('waits for a hold of the service and arrives then, once', () =>
    onChatStage([{ text: 'The answer.' }], async ({ telegram, bot, said }) => {
      await bot();
      telegram.say({ chatId: ANN, text: '/mode off' });
      await said('Progress is shown as "off"');
      telegram.fail('sendMessage', { kind: 'error', code: 429, description: 'Too Many Requests: retry after 2', retryAfter: 2 });
      telegram.say({ chatId: ANN, text: 'write' });
      await said('The answer.');
      expect(countOf(telegram, 'The answer.')).toBe(1);
    }));

  it('is a file where it is very long', () =>
    onChatStage(
      [{ text: Array.from({ length: 900 }, (_, at) => `Paragraph ${at} of a very long answer.`).join('\n\n') }],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'write' });
        await said('The whole answer is in this file.');
        const file = telegram.history(ANN).find((message) => message.file !== undefined)?.file;
        expect(file?.name).toBe('answer.md');
        expect(file?.bytes.toString()).toContain('Paragraph 899 of a very long answer.');
      },
    ));
});

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call } from '../support/mcp.ts';
import { isAlive, until } from '../support/processes.ts';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, onChatStage } from './stage.ts';

const ALLOW = { dangerous: { classes: { code_execution: 'allow', unread_exec: 'allow' } } };
const APPEND = call('shell', { command: 'echo once >> done.txt; sleep 30' });

describe('the process of the bot', PATIENT, () => {
  it('does not start without a list, a token, or with the token of another bot', () =>
    onChatStage([], async ({ run, telegram, configure }) => {
      const config = { telegram: { bot_token: telegram.token, api_root: telegram.url, allowed_users: [ANN] } };
      const told = async (changed: object): Promise<string> => {
        await configure({ telegram: { ...config.telegram, ...changed } });
        const { code, stderr } = await run(['telegram']);
        expect(code).toBe(3);
        return stderr;
      };
      expect(await told({ allowed_users: [] })).toContain('nobody is allowed to use the bot');
      expect(await told({ bot_token: undefined })).toContain('there is no bot: ask @BotFather');
      expect(await told({ bot_username: 'some_other_bot' })).toContain('the token belongs to @odek_test_bot');
      const revoked = await told({ bot_token: `1:${'x'.repeat(35)}` });
      expect(revoked).toContain('Telegram does not know this bot token');
      expect(revoked).not.toContain('xxxxx');
      expect(telegram.callsOf('getUpdates')).toEqual([]);
    }));

  it('that is killed in the middle of a run reports it and does nothing twice', () =>
    onChatStage(
      [APPEND, { text: 'Second life.' }],
      async ({ telegram, bot, said, work, server }) => {
        const first = await bot();
        telegram.say({ chatId: ANN, text: 'append' });
        await until('the tool runs', () => existsSync(join(work, 'done.txt')));
        telegram.say({ chatId: ANN, text: 'and then this' });
        await said('queued');
        first.child.kill('SIGKILL');
        await first.ended;
        await bot();
        await said('odek ended while it worked on this');
        // What only waited is handled now, once.
        await said('Second life.');
        expect(await readFile(join(work, 'done.txt'), 'utf8')).toBe('once\n');
        expect(server.count).toBe(2);
        expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('unknown');
        expect(countOf(telegram, 'odek ended while')).toBe(1);
      },
      { config: ALLOW },
    ));

  it('ends on SIGTERM when what runs has ended, and leaves no process', () =>
    onChatStage([{ text: 'The last word.', delayMs: 1500 }], async ({ telegram, bot, said }) => {
      const running = await bot();
      telegram.say({ chatId: ANN, text: 'hi' });
      await said('Looking into that');
      running.child.kill('SIGTERM');
      const { code } = await running.ended;
      expect(code).toBe(0);
      expect(countOf(telegram, 'The last word.')).toBe(1);
    }));

  it('starts itself anew on /restart of an admin, at most once a minute, and handles nothing twice', () =>
    onChatStage(
      [{ text: 'Hello again.' }],
      async ({ telegram, bot, said, state, server }) => {
        const first = await bot();
        telegram.say({ chatId: 102, text: '/restart' });
        await said('⛔ Only admins restart the bot', 102);
        telegram.say({ chatId: ANN, text: '/restart' });
        // Its streams stay open: the one that comes after it has them too.
        await once(first.child, 'exit');
        await said('🔄 Bot restarted');
        telegram.say({ chatId: ANN, text: '/restart' });
        await said('⏳ The bot was started anew just now');
        telegram.say({ chatId: ANN, text: 'hi' });
        await said('Hello again.');
        expect(server.count).toBe(1);
        expect(countOf(telegram, '🔄 Restarting…')).toBe(1);
        expect(existsSync(join(state, 'restart.json'))).toBe(false);
        const pid = Number(/started anew as process (\d+)/.exec(first.stderr)?.[1]);
        expect(isAlive(pid)).toBe(true);
        process.kill(pid, 'SIGTERM');
        await until('the second one has ended', () => !isAlive(pid));
      },
      { telegram: { allowed_users: [ANN, 102] }, config: { schedules: { telegram_admin_users: [ANN] } } },
    ));

  it('starts itself anew on SIGHUP too, and cancels what does not end within its grace', () =>
    onChatStage([{ hang: true }, { text: 'Here again.' }], async ({ telegram, bot, said }) => {
      const first = await bot();
      telegram.say({ chatId: ANN, text: 'think for ever' });
      await said('Looking into that');
      first.child.kill('SIGHUP');
      await once(first.child, 'exit');
      await said('odek ended in the middle of this');
      telegram.say({ chatId: ANN, text: 'hi' });
      await said('Here again.');
      const pid = Number(/started anew as process (\d+)/.exec(first.stderr)?.[1]);
      process.kill(pid, 'SIGTERM');
      await until('the second one has ended', () => !isAlive(pid));
    }));

  it('waits while another one of the same state folder is there', () =>
    onChatStage([{ text: 'From the second.' }], async ({ telegram, bot, said, start, state }) => {
      const first = await bot();
      const second = start(['telegram']);
      await second.untilTold('another bot has');
      expect((await stat(join(state, 'telegram.lock'))).mode & 0o777).toBe(0o600);
      first.child.kill('SIGKILL');
      await second.untilTold('is there for');
      telegram.say({ chatId: ANN, text: 'hi' });
      await said('From the second.');
    }));

  it('lives beside another poller, says so, and goes on when that is gone', () =>
    onChatStage(
      [{ text: 'Here I am.' }],
      async ({ telegram, start, said }) => {
        telegram.setRival(true);
        const running = start(['telegram']);
        await running.untilTold('health at ');
        const address = /health at (\S+)/.exec(running.stderr)?.[1] ?? '';
        await running.untilTold('another instance polls');
        const there = await fetch(address);
        expect([there.status, ((await there.json()) as { status: string }).status]).toEqual([503, 'conflict']);
        telegram.setRival(false);
        telegram.say({ chatId: ANN, text: 'hi' });
        running.child.kill('SIGTERM');
        expect((await running.ended).code).toBe(0);
        const again = start(['telegram']);
        await said('Here I am.');
        const healthy = await fetch(/health at (\S+)/.exec(again.stderr)?.[1] ?? '');
        expect(await healthy.json()).toMatchObject({ status: 'ok', uptime_seconds: expect.any(Number) });
      },
      { telegram: { health_addr: '127.0.0.1:0', poll_timeout: 1 } },
    ));

  it('tells what came too late, and does not handle it', () =>
    onChatStage([{ text: 'never' }], async ({ telegram, bot, said, server }) => {
      const date = Math.floor(Date.now() / 1000) - 7_200;
      for (let number = 0; number < 100; number += 1) telegram.say({ chatId: ANN, text: `old ${number}`, date });
      await bot();
      await said('odek was not running when you wrote 100 messages');
      expect(server.count).toBe(0);
    }));
});

describe('odek run --deliver', PATIENT, () => {
  it('sends the answer to the default chat, and into the conversation there', () =>
    onChatStage(
      [{ text: 'Hello.' }, { text: 'The **figures**.' }, { text: 'As I said.' }],
      async ({ telegram, bot, said, run, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'hi' });
        await said('✅ Done');
        const { code, stdout } = await run(['run', '--deliver', 'figures']);
        expect([code, stdout]).toEqual([0, expect.stringContaining('figures')]);
        expect((await said('The figures.')).entities).toEqual([{ type: 'bold', offset: 4, length: 7 }]);
        telegram.say({ chatId: ANN, text: 'which figures?' });
        await said('As I said.');
        expect(JSON.stringify(server.requests[2]?.body.messages)).toContain('The **figures**.');
      },
      { telegram: { default_chat_id: ANN } },
    ));

  it('does not begin without a chat to send to', () =>
    onChatStage([], async ({ run, server }) => {
      const { code, stderr } = await run(['run', '--deliver', 'figures']);
      expect([code, stderr]).toEqual([3, expect.stringContaining('--deliver needs telegram.default_chat_id')]);
      expect(server.count).toBe(0);
    }));
});

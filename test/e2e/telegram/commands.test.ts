import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call } from '../support/mcp.ts';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, onChatStage } from './stage.ts';

const GUEST = 102;
/** More than agents are kept of quiet chats. */
const OTHERS = Array.from({ length: 18 }, (_, index) => 200 + index);

describe('the commands of a chat', PATIENT, () => {
  it('are told to the app, and an unknown one is named', () =>
    onChatStage([], async ({ telegram, bot, said }) => {
      await bot();
      await telegram.until(() => telegram.callsOf('setMyCommands').length === 1);
      const names = telegram.callsOf('setMyCommands')[0]?.params.commands.map(({ command }: { command: string }) => command);
      for (const name of [
        'start',
        'help',
        'new',
        'stats',
        'stop',
        'mode',
        'restart',
        'sessions',
        'resume',
        'prune',
        'plan',
        'plans',
        'plan_view',
      ]) {
        expect(names).toContain(name);
      }
      for (const name of ['plan_delete', 'plan_resume', 'plan_status', 'schedules', 'schedule', 'jobs', 'usage', 'approve'])
        expect(names).toContain(name);
      telegram.say({ chatId: ANN, text: '/nonsense now' });
      await said('Unknown command: /nonsense');
      telegram.say({ chatId: ANN, text: '/start' });
      await said('I am odek');
      telegram.say({ chatId: ANN, text: '/help' });
      await said('/plan_status –');
    }));

  it('show, put away and take up conversations, those of this chat alone', () =>
    onChatStage(
      () => ({ text: 'Answer {{n}}.' }),
      async ({ telegram, bot, said, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: '/stats' });
        await said('There is no conversation here yet.');
        telegram.say({ chatId: ANN, text: 'the first one' });
        await said('✅ Done');
        telegram.say({ chatId: ANN, text: '/stats' });
        expect((await said('📊 This conversation')).text).toMatch(/messages: 3\nturns: 1\nstarted: .*Z\nduration: /);
        telegram.say({ chatId: ANN, text: '/new' });
        const kept = /\/resume (tg-101-\d{8}-\d{6})/.exec((await said('The one before is kept')).text)?.[1] ?? '';
        telegram.say({ chatId: ANN, text: 'the second one' });
        await said('Answer 2.');
        expect(JSON.stringify(server.requests[1]?.body.messages)).not.toContain('the first one');
        telegram.say({ chatId: ANN, text: '/sessions' });
        expect((await said('🗂 Conversations of this chat')).text).toContain(kept);
        telegram.say({ chatId: GUEST, text: `/resume ${kept}` });
        await said('⛔ That is no conversation of this chat', GUEST);
        telegram.say({ chatId: ANN, text: `/resume ${kept}` });
        await said(`The conversation ${kept} goes on.`);
        telegram.say({ chatId: ANN, text: 'the third one' });
        await said('Answer 3.');
        expect(JSON.stringify(server.requests[2]?.body.messages)).toContain('the first one');
        telegram.say({ chatId: ANN, text: '/prune' });
        await said('🧹 0 conversations without a word for 30 days are gone.');
        telegram.say({ chatId: ANN, text: '/prune 0' });
        await said('Usage: /prune');
        telegram.say({ chatId: ANN, text: '/usage' });
        await said('chat: 3 calls');
      },
      { telegram: { allowed_users: [ANN, GUEST] } },
    ));

  it('show the plan of the conversation, and say where there is none', () =>
    onChatStage(
      [call('plan', { verb: 'create', steps: [{ id: 's1', title: 'Look *here*' }] }), { text: 'Planned.' }],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: '/plan_status' });
        await said('No active plan in this session.');
        telegram.say({ chatId: ANN, text: 'plan' });
        await said('Planned.');
        telegram.say({ chatId: ANN, text: '/plan-status' });
        const plan = await said('📋 Plan — v1');
        expect([plan.text, plan.entities]).toEqual(['📋 Plan — v1 · 0/1 done\n⬜ s1 Look *here*', []]);
        telegram.say({ chatId: ANN, text: '/plan_status nobody' });
        await said('There is no job "nobody" here');
      },
    ));

  it('keep plans as files, which are found by the beginning of their name', () =>
    onChatStage(
      [{ text: '# Move\n\n1. Pack' }, { text: '# Move out\n\n1. Clean' }, { text: 'Packing.' }],
      async ({ telegram, bot, said, state, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: '/plan Move house' });
        await said('Kept as move-house');
        expect(await readFile(join(state, 'plans', 'chat101', 'move-house.md'), 'utf8')).toBe('# Move\n\n1. Pack');
        telegram.say({ chatId: ANN, text: '/plan Move out' });
        await said('Kept as move-out');
        telegram.say({ chatId: ANN, text: '/plans' });
        await said('• move-house');
        telegram.say({ chatId: ANN, text: '/plan_view move' });
        await said('"move" means move-out, move-house');
        telegram.say({ chatId: ANN, text: '/plan-delete move-o' });
        await said('🗑 The plan move-out is gone.');
        telegram.say({ chatId: ANN, text: '/plan_resume' });
        await said('Packing.');
        expect(server.requests[2]?.body.messages.at(-1).content).toContain('source="telegram:plan:move-house"');
        telegram.say({ chatId: ANN, text: '/plan_view ../../config' });
        await said('there is no plan "../../config" here');
      },
    ));

  it('show progress as the chat wants it', () =>
    onChatStage(
      [
        { reasoning: 'I look at the file first. Then more.', calls: [{ name: 'file_info', arguments: { path: 'a.txt' } }] },
        { text: 'One.' },
        call('file_info', { path: 'a.txt' }),
        { text: 'Two.' },
      ],
      async ({ telegram, bot, said, file }) => {
        await file('a.txt', 'a');
        await bot();
        telegram.say({ chatId: ANN, text: '/mode loud' });
        await said('There is no mode "loud"');
        telegram.say({ chatId: ANN, text: 'look' });
        await said('One.');
        telegram.say({ chatId: ANN, text: '/mode new' });
        await said('Progress is shown as "new"');
        telegram.say({ chatId: ANN, text: 'look' });
        await said('Two.');
        expect((await said('📎 file_info: "a.txt"')).text).toBe('📎 file_info: "a.txt"');
      },
    ));

  it('show what the conversation runs in the background, to that chat alone', () =>
    onChatStage(
      [call('bg_start', { command: 'sleep 60 # the long one' }), { text: 'Started.' }],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: GUEST, text: '/jobs' });
        expect((await said('⚙️ Jobs', GUEST)).text).not.toContain('background');
        telegram.say({ chatId: ANN, text: 'go' });
        await said('Started.');
        telegram.say({ chatId: ANN, text: '/jobs' });
        const shown = await said('🐚 Commands in the background of this conversation');
        expect(shown.text).toMatch(/▶️ bg_[0-9a-f]{8}: running, .*\n {3}sleep 60 # the long one$/);
        telegram.say({ chatId: GUEST, text: '/jobs' });
        await telegram.until(() => countOf(telegram, '⚙️ Jobs', GUEST) === 2);
        expect(countOf(telegram, 'bg_', GUEST)).toBe(0);
      },
      {
        telegram: { allowed_users: [ANN, GUEST] },
        config: { dangerous: { classes: { code_execution: 'allow', unread_exec: 'allow' } } },
      },
    ));

  it('leave alone what a conversation runs in the background, however many others there are', () =>
    onChatStage(
      ({ body }) => {
        const messages: { role: string; content: string }[] = body.messages;
        const isFirst = messages.at(-1)?.role === 'user' && messages.at(-1)?.content === 'go';
        return isFirst ? call('bg_start', { command: 'sleep 60' }) : { text: 'Well.' };
      },
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'go' });
        await said('Well.');
        for (const chatId of OTHERS) {
          telegram.say({ chatId, text: 'hi' });
          await said('✅ Done', chatId);
        }
        telegram.say({ chatId: ANN, text: '/jobs' });
        expect((await said('🐚')).text).toMatch(/bg_[0-9a-f]{8}: running/);
      },
      {
        telegram: { allow_all_users: true },
        config: { dangerous: { classes: { code_execution: 'allow', unread_exec: 'allow' } } },
      },
    ));

  it('take the message about progress away where the operator wants that', () =>
    onChatStage(
      [{ text: 'One.' }],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'look' });
        await said('One.');
        expect(telegram.history(ANN)[0]?.text).toContain('Looking into that');
        expect(telegram.messages(ANN).some(({ text }) => text.includes('Looking into that'))).toBe(false);
      },
      { telegram: { progress_cleanup: true } },
    ));
});

describe('jobs from a chat', PATIENT, () => {
  const ADMIN = { telegram: { allowed_users: [ANN, GUEST] }, config: { schedules: { telegram_admin_users: [ANN] } } };

  it('are added, listed, changed and run by admins, and read by others', () =>
    onChatStage(
      [{ text: 'The news.' }],
      async ({ telegram, bot, said, run }) => {
        await bot();
        telegram.say({ chatId: ANN, text: '/schedule add 30 7 * * 1-5 Report the | news | name="morning" tz=Europe/Berlin catchup' });
        await said(/✅ morning \(jb-[0-9a-f]{8}\): 30 7 \* \* 1-5 in Europe\/Berlin, to telegram:101\nnext: /);
        const shown = JSON.parse((await run(['schedule', 'list', '--json'])).stdout) as readonly Record<string, unknown>[];
        expect(shown).toMatchObject([{ name: 'morning', task: 'Report the | news', catchup: true, deliver: 'telegram:101' }]);
        telegram.say({ chatId: ANN, text: '/schedule add @daily Do it | deliver=nowhere' });
        await said('deliver must be stdout, log, telegram');
        telegram.say({ chatId: ANN, text: '/schedule add 99 * * * * Do it' });
        await said(/⚠️ .*minute/i);
        telegram.say({ chatId: ANN, text: '/schedule add @daily' });
        await said('a time and a task are needed');
        telegram.say({ chatId: GUEST, text: '/schedules' });
        await said('🟢 morning', GUEST);
        telegram.say({ chatId: GUEST, text: '/schedule rm morning' });
        await said('⛔ Only admins change jobs', GUEST);
        telegram.say({ chatId: ANN, text: '/schedule disable morning' });
        await said('⚪️ morning is disabled.');
        telegram.say({ chatId: GUEST, text: '/schedule show morning' });
        await said('next: –', GUEST);
        telegram.say({ chatId: ANN, text: '/schedule run morning' });
        await said('The news.');
        telegram.say({ chatId: ANN, text: '/schedule rm morning' });
        await said('🗑 morning is gone');
        telegram.say({ chatId: ANN, text: '/schedule next morning' });
        await said('there is no job "morning"');
      },
      ADMIN,
    ));

  it('are the command line’s alone where the operator says so, and nobody’s where nobody is an admin', () =>
    onChatStage(
      [],
      async ({ telegram, bot, said }) => {
        await bot();
        telegram.say({ chatId: ANN, text: '/schedule add @daily Do it' });
        await said('⛔ Jobs are changed on the command line alone');
      },
      { ...ADMIN, config: { schedules: { telegram_admin_users: [ANN], allow_telegram_management: false } } },
    ));
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PATIENT } from '../e2e/support/stage.ts';
import { ANN, onChatStage } from '../e2e/telegram/stage.ts';
import { type Home, makeHome } from '../hosts/config/home.ts';

const read = (page: string): string => readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8');

/** The blocks of a page in a language, indented ones too. */
function blocks(page: string, language: string): readonly string[] {
  const found = read(page).matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...found].map(([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

const configs = ['telegram.md', 'schedules.md'].flatMap((page) =>
  blocks(page, 'json')
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .filter((block) => 'telegram' in block || 'schedules' in block)
    .map((block) => ({ page, block })),
);

/** The words of a command line, quoted ones as one. */
const words = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

describe('the pages about Telegram and schedules', () => {
  it.each(configs)('show in $page a configuration that is read without a complaint: $block', async ({ block }) => {
    await home.global(block);
    const { config, warnings } = await home.load();
    expect(warnings).toEqual([]);
    const seen = JSON.parse(JSON.stringify(config));
    for (const [section, keys] of Object.entries(block)) {
      const { allowed_users: users, default_chat_id: chat, dangerous: _, ...plain } = keys as Record<string, unknown>;
      expect(seen[section]).toMatchObject(plain.telegram_admin_users ? { ...plain, telegram_admin_users: ['987654321'] } : plain);
      if (users !== undefined) expect(seen[section].allowed_users).toEqual((users as number[]).map(String));
      if (chat !== undefined) expect(seen[section].default_chat_id).toBe(String(chat));
    }
  });

  it('are of some use: there is something in them to try', () => {
    expect(configs.map(({ page }) => page)).toEqual(expect.arrayContaining(['telegram.md', 'schedules.md']));
  });
});

describe('a newcomer who follows them', PATIENT, () => {
  it('adds the nightly job as the page about schedules says, and tries it', () =>
    onChatStage(
      () => ({ text: 'Nothing is open.' }),
      async ({ run }) => {
        const lines = (blocks('schedules.md', 'sh')[0] ?? '').trim().split('\n');
        const [add = '', once = '', daemon] = lines;
        expect(daemon).toBe('odek schedule daemon');
        const added = await run(words(add).slice(1));
        expect([added.code, added.stdout]).toEqual([
          0,
          expect.stringContaining('morning: 30 7 * * 1-5 in Europe/Berlin, to stdout\ndue next:'),
        ]);
        const ran = await run(words(once).slice(1));
        expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('Nothing is open.')]);
      },
    ));

  it('is not heard first, finds the own number in the log, and then has a job that reports to the chat', () =>
    onChatStage(
      () => ({ text: 'Three lines of news.' }),
      async ({ telegram, bot, said, start, configure, state, server }) => {
        const first = start(['telegram']);
        await first.untilTold('is there for');
        telegram.say({ chatId: ANN, text: 'hello' });
        await first.untilTold(`ignored: person ${ANN} in chat ${ANN} is not in telegram.allowed_users or telegram.allowed_chats`);
        expect(read('telegram.md')).toContain(
          'ignored: person 987654321 in chat 987654321 is not in telegram.allowed_users or telegram.allowed_chats',
        );
        first.child.kill('SIGTERM');
        await first.ended;
        const own = configs.find(({ block }) => JSON.stringify(block).includes('default_chat_id'))?.block ?? {};
        const mine = JSON.parse(JSON.stringify(own).replaceAll('987654321', String(ANN)));
        const before = JSON.parse(readFileSync(`${state}/config.json`, 'utf8'));
        await configure({ ...before, ...mine, telegram: { ...before.telegram, ...mine.telegram } });
        await bot();
        const [, line = ''] = /`(\/schedule add [^`]+)`/.exec(read('telegram.md')) ?? [];
        const [, attempt = ''] = /`(\/schedule run [^`]+)`/.exec(read('telegram.md')) ?? [];
        telegram.say({ chatId: ANN, text: line });
        await said('✅ morning');
        telegram.say({ chatId: ANN, text: attempt });
        await said('Three lines of news.');
        expect(server.count).toBe(1);
      },
      { telegram: { allowed_users: [1] } },
    ));
});

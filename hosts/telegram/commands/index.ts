import type { ApprovalAnswer } from '../../../ports/approval-store.ts';
import { hasCode } from '../../../ports/errors.ts';
import { SURFACE } from '../cards.ts';
import type { Command, CommandCall } from './command.ts';
import { CONVERSATION_COMMANDS } from './conversation.ts';
import { PLAN_COMMANDS } from './plans.ts';
import { SCHEDULE_COMMANDS } from './schedule.ts';

const RESOURCE_CHARS = 200;
const WORDS: Readonly<Record<string, ApprovalAnswer>> = { '': 'approve', approve: 'approve', trust: 'trust', deny: 'deny' };

async function start({ reply, user }: CommandCall): Promise<void> {
  await reply(
    [
      `👋 Hello ${user.name}. I am odek: I work in a folder of the machine that I run on.`,
      'Write what you want done. I ask before anything that could do harm, and /stop ends what I do.',
      '/help lists what else there is.',
    ].join('\n'),
  );
}

async function help({ reply }: CommandCall): Promise<void> {
  const lines = Object.entries<Command>(COMMANDS).map(([name, { description }]) => `/${name} – ${description}`);
  await reply(['Write a request as you would to a colleague. Commands:', ...lines].join('\n'));
}

/** `/approve`: what waits for this person, and answers by text where buttons are of no use. */
async function approve({ bot, user, rest, reply }: CommandCall): Promise<void> {
  const { approvals } = bot.base.store;
  const mine = (await approvals.pending()).filter(
    ({ audience }) => audience?.surface === SURFACE && (audience.users === undefined || audience.users.includes(String(user.id))),
  );
  const [id = '', word = ''] = rest.split(/\s+/);
  if (id === '') {
    const lines = mine.map(
      ({ request: { id: each, class: cls, items } }) => `${each} (${cls}): ${items[0].tool} ${items[0].resource.slice(0, RESOURCE_CHARS)}`,
    );
    return reply(lines.length === 0 ? 'Nothing waits for you.' : [...lines, '/approve <id> [approve | deny | trust]'].join('\n'));
  }
  const decision = WORDS[word.toLowerCase()];
  if (decision === undefined) return reply('Usage: /approve <id> [approve | deny | trust]');
  const request = mine.find((each) => each.request.id === id)?.request;
  if (request === undefined) return reply(`There is no question ${JSON.stringify(id.slice(0, 40))} for you; /approve lists them.`);
  try {
    await approvals.answer(id, decision, { surface: SURFACE, user: String(user.id) });
    await reply(decision === 'deny' ? '❌ Denied' : decision === 'trust' ? '🔒 Trusted for this session' : '✅ Approved');
  } catch (error) {
    await reply(hasCode(error, 'trust_not_offered') ? 'Trust is not offered here: approve or deny it.' : `⚠️ ${(error as Error).message}`);
  }
}

async function restart({ bot, place, isAdmin, reply }: CommandCall): Promise<void> {
  if (!isAdmin) return reply('⛔ Only admins restart the bot (schedules.telegram_admin_users, schedules.telegram_admin_chats).');
  const refusal = await bot.restart(place);
  if (refusal !== undefined) await reply(refusal);
}

/** Every command, in the order in which the app lists them. */
export const COMMANDS = {
  start: { description: 'What this is', run: start },
  help: { description: 'All commands', run: help },
  ...CONVERSATION_COMMANDS,
  approve: { description: 'Questions that wait for you', run: approve },
  ...PLAN_COMMANDS,
  ...SCHEDULE_COMMANDS,
  restart: { description: 'Start the bot anew (admins)', run: restart },
} as const satisfies Readonly<Record<string, Command>>;

import { formatDuration, formatTokens } from '../../cli/render/figures.ts';
import type { ProgressMode } from '../progress.ts';
import { belongsTo, sessionIdOf } from '../rooms.ts';
import { archiveSession, planViewOf, readSession, resumeSession, sessionsOf } from '../sessions.ts';
import type { Command, CommandCall } from './command.ts';
import { showJobPlan } from './jobs.ts';
import { sayPlan } from './say-plan.ts';

const MAX_SESSIONS = 10;
const TITLE_CHARS = 60;
const DAY_MS = 86_400_000;
const DEFAULT_PRUNE_DAYS = 30;
const MAX_PRUNE_DAYS = 36_500;
const MODES: readonly ProgressMode[] = ['all', 'new', 'verbose', 'off'];
const BUSY = '⏳ A request is being worked on here; /stop ends it.';

const dateText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`;

function cut(text: string, limit: number): string {
  const points = [...text.replaceAll(/\s+/g, ' ')];
  return points.length <= limit ? points.join('') : `${points.slice(0, limit - 1).join('')}…`;
}

async function showPlanStatus(call: CommandCall): Promise<void> {
  if (call.rest !== '') return showJobPlan(call, call.rest);
  const session = await readSession(call.bot.base, call.place);
  await sayPlan(call, planViewOf(session?.records ?? []));
}

async function begin({ bot, place, reply }: CommandCall): Promise<void> {
  if (bot.runs.isBusy(place)) return reply(BUSY);
  const id = await archiveSession(bot.base, place);
  await bot.agents.close(place);
  await reply(id === undefined ? '🆕 A new conversation begins.' : `🆕 A new conversation begins. The one before is kept: /resume ${id}`);
}

async function showStats({ bot, place, reply }: CommandCall): Promise<void> {
  const session = await readSession(bot.base, place);
  if (session === undefined) return reply('There is no conversation here yet.');
  const { messages, turns, createdAt, updatedAt, input, output } = session.header;
  await reply(
    [
      '📊 This conversation',
      `messages: ${messages}`,
      `turns: ${turns}`,
      `started: ${dateText(createdAt)}`,
      `duration: ${formatDuration(updatedAt - createdAt)}`,
      `tokens: ${formatTokens(input)} in / ${formatTokens(output)} out`,
    ].join('\n'),
  );
}

async function showSessions({ bot, place, reply }: CommandCall): Promise<void> {
  const sessions = await sessionsOf(bot.base, place);
  if (sessions.length === 0) return reply('There is no conversation here yet.');
  const own = sessionIdOf(place);
  const lines = sessions.slice(0, MAX_SESSIONS).map(({ id, title, updatedAt, turns }) => {
    return `${id === own ? '▶️' : '•'} ${id}\n   ${dateText(updatedAt)}, ${turns} turns: ${cut(title || '(no title)', TITLE_CHARS)}`;
  });
  const more = sessions.length > MAX_SESSIONS ? [`… and ${sessions.length - MAX_SESSIONS} older`] : [];
  await reply(['🗂 Conversations of this chat', ...lines, ...more].join('\n'));
}

async function resume({ bot, place, rest, reply }: CommandCall): Promise<void> {
  if (rest === '') return reply('Usage: /resume <id>; /sessions lists them.');
  if (!belongsTo(rest, place)) return reply('⛔ That is no conversation of this chat; /sessions lists them.');
  if (bot.runs.isBusy(place)) return reply(BUSY);
  const isThere = (await sessionsOf(bot.base, place)).some(({ id }) => id === rest);
  if (!isThere) return reply('There is no such conversation; /sessions lists them.');
  const isNew = await resumeSession(bot.base, place, rest);
  await bot.agents.close(place);
  await reply(isNew ? `▶️ The conversation ${rest} goes on.` : '▶️ It is the one that is going on.');
}

async function prune({ bot, place, rest, reply }: CommandCall): Promise<void> {
  const days = rest === '' ? DEFAULT_PRUNE_DAYS : Number(rest);
  if (!Number.isInteger(days) || days < 1 || days > MAX_PRUNE_DAYS)
    return reply(`Usage: /prune [days], a whole number from 1 to ${MAX_PRUNE_DAYS}.`);
  const oldest = bot.base.clock.now() - days * DAY_MS;
  const own = sessionIdOf(place);
  const old = (await sessionsOf(bot.base, place)).filter(({ id, updatedAt }) => id !== own && updatedAt < oldest);
  const removed = await bot.base.store.sessions.remove(old.map(({ id }) => id));
  await reply(`🧹 ${removed} conversations without a word for ${days} days are gone.`);
}

async function setMode({ bot, place, rest, reply }: CommandCall): Promise<void> {
  const wanted = rest.toLowerCase() as ProgressMode;
  if (rest === '') return reply(`Progress is shown as "${bot.runs.modeOf(place)}". Usage: /mode ${MODES.join(' | ')}`);
  if (!MODES.includes(wanted)) return reply(`There is no mode ${JSON.stringify(cut(rest, 40))}. Usage: /mode ${MODES.join(' | ')}`);
  bot.runs.setMode(place, wanted);
  await reply(`Progress is shown as "${wanted}" from the next request on.`);
}

async function stop({ bot, place, reply }: CommandCall): Promise<void> {
  const text = await bot.runs.stop(place);
  if (text !== '') await reply(text ?? 'Nothing is running here.');
}

async function showUsage({ bot, reply }: CommandCall): Promise<void> {
  const { store, clock, config } = bot.base;
  const now = clock.now();
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const lineOf = async (name: string, since: number): Promise<string> => {
    const totals = await store.usage.totals({ since, by: ['surface'] });
    const sum = (surface?: string): string => {
      const found = totals.filter((each) => surface === undefined || each.surface === surface);
      const add = (pick: (total: (typeof found)[number]) => number): number => found.reduce((all, each) => all + pick(each), 0);
      return `${add(({ calls }) => calls)} calls, ${formatTokens(add(({ input }) => input))} in / ${formatTokens(add(({ output }) => output))} out`;
    };
    return `${name}\n  chat: ${sum('telegram')}\n  scheduled: ${sum('schedule')}\n  all: ${sum()}`;
  };
  const budget = config.telegram.daily_token_budget;
  await reply(
    [
      '📈 Tokens',
      await lineOf('today', midnight),
      await lineOf('30 days', now - 30 * DAY_MS),
      ...(budget === 0 ? [] : [`budget of the chats for a day: ${formatTokens(budget)}`]),
    ].join('\n'),
  );
}

export const CONVERSATION_COMMANDS = {
  new: { description: 'Begin a new conversation; the one before is kept', run: begin },
  stop: { description: 'Stop what is being worked on', run: stop },
  plan_status: { description: 'Where the plan stands; with a job, that of its run', run: showPlanStatus },
  stats: { description: 'Figures of this conversation', run: showStats },
  usage: { description: 'Tokens used today and in 30 days', run: showUsage },
  mode: { description: 'How progress is shown: all, new, verbose, off', run: setMode },
  sessions: { description: 'Conversations of this chat', run: showSessions },
  resume: { description: 'Go on with a kept conversation', run: resume },
  prune: { description: 'Remove kept conversations older than some days', run: prune },
} as const satisfies Readonly<Record<string, Command>>;

import { wrapUntrusted } from '../../../core/untrusted/wrapper.ts';
import { formatBytes } from '../../cli/render/figures.ts';
import { deletePlan, findPlan, listPlans, readPlan, slugOf, writePlan } from '../plans.ts';
import type { Task } from '../runs.ts';
import { type Command, type CommandCall, taskOf } from './command.ts';

const MAX_LISTED = 20;
const PREVIEW_CHARS = 8 * 1024;
const VIEW_CHARS = 3_900;
const MAX_RESUMED = 64 * 1024;

const homeOf = ({ bot }: CommandCall): string => bot.base.config.state.home;

async function plan(call: CommandCall): Promise<Task | undefined> {
  const { rest, place, reply } = call;
  if (rest === '') {
    await reply('Usage: /plan <what it is about>');
    return undefined;
  }
  const slug = slugOf(rest);
  const text = `Write a plan in Markdown for the following, and answer with the plan alone: a heading, the goal, numbered steps, and how each is checked. Do none of it yet; look at files only where the plan needs it.\n\n${rest}`;
  return taskOf(call, text, {
    original: `/plan ${rest}`,
    async onAnswer(answer) {
      await writePlan(homeOf(call), place.chatId, slug, answer);
      const shown = answer.length > PREVIEW_CHARS ? `${answer.slice(0, PREVIEW_CHARS)}\n\n…` : answer;
      return `${shown}\n\n📋 Kept as \`${slug}\`: /plan_view ${slug} shows it, /plan_resume goes on with it.`;
    },
  });
}

async function list(call: CommandCall): Promise<void> {
  const plans = await listPlans(homeOf(call), call.place.chatId);
  if (plans.length === 0) return call.reply('There are no plans here. /plan <what it is about> makes one.');
  const lines = plans
    .slice(0, MAX_LISTED)
    .map(({ slug, at, size }) => `• ${slug} (${new Date(at).toISOString().slice(0, 10)}, ${formatBytes(size)})`);
  await call.reply(['📋 Plans', ...lines].join('\n'));
}

async function view(call: CommandCall): Promise<void> {
  if (call.rest === '') return call.reply('Usage: /plan_view <name>; /plans lists them.');
  const { slug } = await findPlan(homeOf(call), call.place.chatId, call.rest);
  const text = await readPlan(homeOf(call), call.place.chatId, slug);
  await call.bot.base.talk.say(call.place, text.length > VIEW_CHARS ? `${text.slice(0, VIEW_CHARS)}\n\n… (cut)` : text);
}

async function remove(call: CommandCall): Promise<void> {
  if (call.rest === '') return call.reply('Usage: /plan_delete <name>; /plans lists them.');
  const { slug } = await findPlan(homeOf(call), call.place.chatId, call.rest);
  await deletePlan(homeOf(call), call.place.chatId, slug);
  await call.reply(`🗑 The plan ${slug} is gone.`);
}

async function resume(call: CommandCall): Promise<Task | undefined> {
  const home = homeOf(call);
  const [newest] = await listPlans(home, call.place.chatId);
  if (newest === undefined && call.rest === '') {
    await call.reply('There are no plans here. /plan <what it is about> makes one.');
    return undefined;
  }
  const { slug } = call.rest === '' && newest !== undefined ? newest : await findPlan(home, call.place.chatId, call.rest);
  const text = (await readPlan(home, call.place.chatId, slug)).slice(0, MAX_RESUMED);
  const wrapped = wrapUntrusted(text, `telegram:plan:${slug}`, call.bot.base.ids.hex(8));
  return taskOf(call, `Go on with the plan "${slug}", which you wrote here:\n\n${wrapped}`, { original: `/plan_resume ${slug}` });
}

export const PLAN_COMMANDS = {
  plan: { description: 'Write a plan and keep it', run: plan },
  plans: { description: 'Plans of this chat', run: list },
  plan_view: { description: 'Show a plan', run: view },
  plan_delete: { description: 'Remove a plan', run: remove },
  plan_resume: { description: 'Go on with the newest plan', run: resume },
} as const satisfies Readonly<Record<string, Command>>;

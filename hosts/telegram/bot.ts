import type { Store } from '../../adapters/store/index.ts';
import type { PendingApproval } from '../../ports/approval-store.ts';
import type { ChatBot, ChatUpdate } from '../../ports/chat.ts';
import type { ChatInbox } from '../../ports/chat-inbox.ts';
import type { ChatUser } from '../../ports/chat-message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { scheduleApprover } from '../schedule/approver.ts';
import { openScheduler } from '../schedule/open.ts';
import { SCHEDULE_POLICIES } from '../schedule/policy.ts';
import type { LogLevel, Scheduler } from '../schedule/scheduler.ts';
import type { Access } from './access.ts';
import { isAddressed } from './addressed.ts';
import { createAgents } from './agents.ts';
import { sayAnswer, senderFor } from './answer.ts';
import { type Base, messageOf } from './base.ts';
import { createDailyBudget } from './budget.ts';
import { type Cards, createCards } from './cards.ts';
import { type Claims, createClaims } from './claims.ts';
import type { Bot } from './commands/command.ts';
import { COMMANDS } from './commands/index.ts';
import { deliverySender, placeOfTarget } from './delivery.ts';
import { formatMarkdown } from './format/index.ts';
import { createIntake, placeOf } from './intake.ts';
import { tidyMedia } from './media-in.ts';
import { openProgressOf } from './progress.ts';
import { createQuestions } from './questions.ts';
import { type Place, placeOfSession, sessionIdOf } from './rooms.ts';
import { createRuns, type Runs } from './runs.ts';
import { createTalk } from './talk.ts';

/** What the process brings. */
export interface BotParts {
  readonly config: ResolvedConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
  readonly bot: ChatBot;
  readonly me: ChatUser;
  readonly store: Store;
  readonly inbox: ChatInbox;
  readonly access: Access;
  readonly clock: Clock;
  readonly ids: Ids;
  mask(text: string): string;
  log(level: LogLevel, text: string): void;
  print(text: string): void;
  restart: Bot['restart'];
}

/** The bot at work, but for the poll. */
export interface RunningBot {
  readonly base: Base;
  readonly claims: Claims;
  readonly running: number;
  /** Tells the chats that these messages came too late to be handled. */
  skipped(updates: readonly ChatUpdate[]): void;
  /** Takes nothing new, lets what runs go on for `graceMs`, cancels the rest, and gives everything back. */
  stop(graceMs: number): Promise<void>;
}

const MEDIA_TIDY_MS = 5 * 60_000;
const CARDS_LOOK_MS = 1_000;
const OUTBOX_LOOK_MS = 3_000;
const FIRES_LOOKED_AT = 1_000;

/** Calls `work` again and again until the returned function is called. */
function every(clock: Clock, ms: number, work: () => Promise<void>): () => void {
  let isOver = false;
  let stopTimer = (): void => {};
  const again = (): void => {
    if (isOver) return;
    void work().finally(() => {
      if (!isOver) stopTimer = clock.after(ms, again);
    });
  };
  stopTimer = clock.after(ms, again);
  return () => {
    isOver = true;
    stopTimer();
  };
}

/** Where a question belongs: the place whose session asks, else the chat of the job whose run it is. */
async function placeOfQuestion(base: Base, { request }: PendingApproval): Promise<{ place: Place; origin?: string } | undefined> {
  const own = placeOfSession(request.sessionId);
  if (own !== undefined) return { place: own };
  const open = await base.store.schedules.fires.find({ unfinished: true, limit: FIRES_LOOKED_AT });
  const fire = open.find(({ sessionId }) => sessionId === request.sessionId);
  const job = fire === undefined ? undefined : (await base.store.schedules.jobs.get(fire.jobId))?.job;
  const place = placeOfTarget(job?.deliver, base.config);
  if (place === undefined) return undefined;
  return { place, origin: job === undefined ? 'Asked by a run elsewhere' : `Asked by the scheduled job "${job.name}"` };
}

/** One word a chat about messages that came while nobody was there. */
function tellSkipped({ access, talk, me, log }: Base, updates: readonly ChatUpdate[]): void {
  const late = updates.flatMap((update) => (update.kind === 'message' && !update.edited ? [update.message] : []));
  log('warning', `${updates.length} old updates are passed over`);
  const places = new Map<string, { readonly place: Place; count: number }>();
  for (const message of late) {
    if (!isAddressed(message, me) || !access.mayUse(message.from?.id, message.chat.id)) continue;
    const place = placeOf(message);
    const known = places.get(sessionIdOf(place)) ?? { place, count: 0 };
    known.count += 1;
    places.set(sessionIdOf(place), known);
  }
  for (const { place, count } of places.values()) {
    void talk.say(
      place,
      `💤 odek was not running when you wrote ${count === 1 ? 'a message' : `${count} messages`}; send again what is still wanted.`,
    );
  }
}

async function openJobs(base: Base, cards: Cards, runs: Runs, print: (text: string) => void): Promise<Scheduler> {
  const { config, env, workspace, store, clock, log, mask } = base;
  const policy = SCHEDULE_POLICIES.telegram;
  const approver = scheduleApprover({
    config,
    policy,
    store,
    redact: mask,
    warn: (text) => log('warning', text),
    onWaiting: () => void cards.look(),
  });
  const scheduler = await openScheduler({
    surface: 'telegram',
    policy,
    config,
    env,
    cwd: workspace,
    store,
    clock,
    log,
    print,
    senders: { telegram: deliverySender(base, { whenIdle: runs.whenIdle }) },
    edgesOf: () => (approver === undefined ? {} : { approver }),
    timers: config.schedules.enabled,
  });
  if (config.schedules.enabled) {
    scheduler.start().then(
      (holder) => {
        if (holder !== undefined)
          log('info', `jobs are run by odek ${holder.surface} (process ${holder.pid}); this bot takes over when it ends`);
      },
      (error: unknown) => log('error', `jobs are not run: ${messageOf(error)}`),
    );
  }
  return scheduler;
}

export async function openBot(parts: BotParts): Promise<RunningBot> {
  const { config, bot, clock, log, inbox, restart, print } = parts;
  const over = new AbortController();
  const talk = createTalk({ bot, format: (markdown) => formatMarkdown(markdown, 4096), clock, signal: over.signal, log });
  const base: Base = { ...parts, talk, signal: over.signal };
  const cards = createCards(base, { placeOf: (pending) => placeOfQuestion(base, pending) });
  const questions = createQuestions(base);
  const agents = createAgents(base);
  const runs = createRuns({
    base,
    inbox,
    agents,
    cards,
    questions,
    budget: createDailyBudget(base),
    openProgress: openProgressOf(base),
    sendFor: (place, edges) => senderFor(base, place, edges),
    answer: (place, text, edges, signal) => sayAnswer(base, place, text, edges, signal),
  });
  const jobs = await openJobs(base, cards, runs, print);
  const intake = createIntake({
    bot: { base, runs, agents, restart, reloadJobs: () => void jobs.tick() },
    inbox,
    cards,
    questions,
  });
  const tidy = (): Promise<void> => tidyMedia(config.state.home, clock.now());
  void tidy();
  const commands = Object.entries(COMMANDS).map(([name, { description }]) => ({ name, description }));
  bot.feed
    .setCommands(commands, over.signal)
    .catch((error: unknown) => log('warning', `the list of commands could not be set: ${messageOf(error)}`));
  const stops = [
    every(clock, MEDIA_TIDY_MS, tidy),
    every(clock, OUTBOX_LOOK_MS, () => jobs.pump()),
    // Other processes cannot wake this one.
    ...(config.schedules.approver === 'telegram' ? [every(clock, CARDS_LOOK_MS, cards.look)] : []),
  ];
  const claims = createClaims(inbox, intake, { clock, log });
  return {
    base,
    claims,
    get running() {
      return runs.running;
    },
    skipped: (updates) => tellSkipped(base, updates),
    async stop(graceMs) {
      await claims.stop();
      await Promise.all([runs.drain(graceMs), jobs.stop(graceMs)]);
      for (const stop of stops) stop();
      over.abort();
      await agents.closeAll();
    },
  };
}

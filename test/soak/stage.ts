import { join } from 'node:path';
import { vi } from 'vitest';
import { createCronCalendar } from '../../adapters/cron/croner.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { openStore } from '../../adapters/store/index.ts';
import { accessOf } from '../../hosts/telegram/access.ts';
import { openBot } from '../../hosts/telegram/bot.ts';
import { poll } from '../../hosts/telegram/polling.ts';
import type { ChatBot } from '../../ports/chat.ts';
import type { ChatInbox } from '../../ports/chat-inbox.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { ScheduleJob } from '../../ports/schedule.ts';
import { job } from '../contracts/schedule-store.suite.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import { type ServerRequest, startOpenAiServer } from '../fakes/openai-server.ts';
import { makeHome } from '../hosts/config/home.ts';

const JOBS = 1_000;
const CHATS = 200;
const WRITERS_A_MINUTE = 9;
/** A minute before midnight, so that the first tick is that of a new day. */
const START = Date.UTC(2026, 2, 1, 23, 59, 30);
const MINUTE = 60_000;
/** In 2028. */
const SELDOM = '0 0 29 2 *';
const SETTLE_MS = 60_000;
const QUIET_MINUTES = 5;

/** A due instant of a job, or a message of a chat, as `<id> <what>`. */
type Mark = string;

/** A bot with its embedded scheduler in this process, on fake time, over a real database and a model that plays a script. */
export interface Soak {
  /** A few people write, each in a chat of their own. */
  write(round: number): void;
  /** Lets fake time pass, and what begins meanwhile end. */
  pass(ms: number): Promise<void>;
  /** Nobody writes, and all jobs are on and due years from now. */
  quiet(): Promise<void>;
  records(): Promise<{
    readonly expected: readonly Mark[];
    readonly recorded: readonly { readonly instant: Mark; readonly end: string }[];
  }>;
  chats(): Record<'wrote' | 'answered' | 'due' | 'delivered', readonly Mark[]>;
  /** When the jobs were looked at; `first` and `last` are minutes that have to be among them. */
  looks(): { readonly first: number; readonly last: number; readonly looks: readonly number[] };
  readonly logged: readonly string[];
  stop(): Promise<void>;
}

/** The globals that fake time stands in for; what I/O waits with stays as it is. */
const FAKED = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => Date.now() - START,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new CancelledError());
      const cancel = (): void => {
        clearTimeout(timer);
        reject(new CancelledError());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      }, ms);
      signal?.addEventListener('abort', cancel, { once: true });
    }),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Most jobs once a day, spread over it; some each ten minutes. Every second one reports to a chat, the others to the log. */
function jobAt(index: number, workspace: string): ScheduleJob {
  return job(`jb-${index.toString(16).padStart(8, '0')}`, {
    name: `job ${index}`,
    cron: index % 250 === 0 ? '*/10 * * * *' : `${(index * 7) % 60} ${index % 24} * * *`,
    task: `job ${index}`,
    deliver: index % 2 === 0 ? { kind: 'telegram', chatId: String(chatOf(index)) } : { kind: 'log' },
    workspace,
    createdAt: START,
  });
}

const chatOf = (index: number): number => 1_000 + (index % CHATS);

/** Answers with what the last message of a person says, so that answers can be told apart. */
function reply({ body }: ServerRequest): { readonly text: string } {
  const messages = (body as { messages: { role: string; content: unknown }[] }).messages;
  const asked = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  return { text: /(?:job|message) \d+/.exec(asked)?.[0].replace(/^/, 'Done: ') ?? 'Done: nothing' };
}

export async function startSoak(): Promise<Soak> {
  const home = await makeHome();
  const server = await startOpenAiServer(reply, { keepRequests: false });
  await home.global({
    provider: 'fixture',
    model: 'scripted',
    providers: { fixture: { format: 'openai', base_url: server.url, api_key: 'k' } },
    telegram: { allow_all_users: true },
    schedules: { max_concurrent: 4 },
  });
  const env = { ODEK_HOME: home.state, PATH: process.env.PATH };
  const { config } = await home.load({ env });
  vi.useFakeTimers({ now: START, toFake: [...FAKED] });

  const ids = createRandomIds();
  const store = await openStore({ path: join(home.state, 'odek.db'), surface: 'telegram', durability: 'process', clock, ids });
  const looks: number[] = [];
  const { jobs } = store.schedules;
  for (let index = 0; index < JOBS; index += 1) await jobs.put(jobAt(index, home.cwd), START);
  const seen = {
    ...store,
    schedules: {
      ...store.schedules,
      jobs: {
        ...jobs,
        list() {
          looks.push(Date.now());
          return jobs.list();
        },
      },
    },
  };

  const seat = createFakeChat();
  const heard = new Map<number, number>();
  const bot: ChatBot = {
    ...seat.bot,
    feed: {
      ...seat.bot.feed,
      // The fake's messages are all of one moment.
      async poll(...asked) {
        const updates = await seat.bot.feed.poll(...asked);
        return updates.map((update) => {
          if (update.kind !== 'message') return update;
          if (!heard.has(update.id)) heard.set(update.id, Date.now());
          return { ...update, message: { ...update.message, at: heard.get(update.id) ?? 0 } };
        });
      },
    },
  };
  const me = await bot.feed.me(new AbortController().signal);
  const inbox: ChatInbox = seen.inbox(String(me.id));
  const logged: string[] = [];
  const note = (level: string, text: string): void => {
    if ((level === 'warning' || level === 'error') && logged.length < 100) logged.push(`${level}: ${text}`);
  };
  const running = await openBot({
    config,
    env,
    workspace: home.cwd,
    bot,
    me,
    store: seen,
    inbox,
    access: accessOf(config.telegram, config.schedules),
    clock,
    ids,
    mask: (text) => text,
    log: note,
    print: () => {},
    restart: async () => undefined,
  });
  const over = new AbortController();
  const polling = poll({
    bot,
    inbox,
    clock,
    signal: over.signal,
    log: note,
    settings: { intervalMs: 1_000, timeoutSeconds: 20, oldestMs: 3_600_000 },
    onState: () => {},
    onRecorded: () => running.claims.wake(),
    onSkipped: (updates) => note('error', `${updates.length} updates were passed over`),
  });

  const wrote: Mark[] = [];
  const answered: Mark[] = [];
  const delivered: Mark[] = [];
  let until = START;

  /** Notes what the bot said, and forgets it: the fake keeps everything else. */
  const clear = async (): Promise<void> => {
    for (let index = 0; index < CHATS; index += 1) {
      const chatId = chatOf(index);
      for (const { id, text } of seat.shown(chatId)) {
        const found = /Done: ((job|message) \d+)$/.exec(text);
        if (found?.[2] === 'message') answered.push(`${chatId} ${found[1]}`);
        if (found?.[2] === 'job') delivered.push(`${chatId} ${found[1]}`);
        await seat.bot.messages.remove({ chatId, messageId: id }, over.signal);
      }
    }
  };

  /** Waits in real time until nothing is under way. */
  const settle = async (): Promise<void> => {
    const started = performance.now();
    for (let calm = 0; calm < 3; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const { waiting, handling } = await inbox.stand(Date.now());
      const open = await store.schedules.fires.find({ unfinished: true, limit: 1 });
      const isCalm = running.running === 0 && waiting === 0 && handling === 0 && open.length === 0;
      calm = isCalm ? calm + 1 : 0;
      if (!isCalm) await vi.advanceTimersByTimeAsync(0);
      if (performance.now() - started > SETTLE_MS) throw new Error(`something does not end: ${logged.join('\n')}`);
    }
  };

  const pass = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms);
    await settle();
  };

  const calendar = createCronCalendar();
  const dueOf = (index: number): readonly number[] => {
    const { cron, timezone } = jobAt(index, home.cwd);
    const schedule = calendar.parse(cron, timezone);
    if ('fault' in schedule) throw new Error(schedule.fault);
    return schedule.between(START, until, 100_000);
  };
  const each = [...Array(JOBS).keys()];

  return {
    logged,
    write(round) {
      for (let writer = 0; writer < WRITERS_A_MINUTE; writer += 1) {
        const number = round * WRITERS_A_MINUTE + writer;
        wrote.push(`${chatOf(number)} message ${number}`);
        seat.say(chatOf(number), `message ${number}`);
      }
    },
    async pass(ms) {
      await pass(ms);
      await clear();
    },
    async quiet() {
      await pass(QUIET_MINUTES * MINUTE);
      until = Date.now();
      for (const { job: each } of await jobs.list()) await jobs.put({ ...each, cron: SELDOM }, until);
      await clear();
    },
    async records() {
      const recorded: { instant: Mark; end: string }[] = [];
      for (const index of each) {
        const { id } = jobAt(index, home.cwd);
        for (const { dueAt, state, outcome } of await store.schedules.fires.find({ jobId: id, limit: 100_000 })) {
          recorded.push({ instant: `${id} ${new Date(dueAt).toISOString()}`, end: `${state} ${outcome}` });
        }
      }
      const expected = each.flatMap((index) => dueOf(index).map((at) => `${jobAt(index, '').id} ${new Date(at).toISOString()}`));
      return { expected: expected.sort(), recorded: recorded.sort((one, other) => (one.instant < other.instant ? -1 : 1)) };
    },
    chats() {
      const toChats = each.filter((index) => index % 2 === 0);
      const due = toChats.flatMap((index) => dueOf(index).map(() => `${chatOf(index)} job ${index}`));
      return { wrote: wrote.sort(), answered: answered.sort(), due: due.sort(), delivered: delivered.sort() };
    },
    looks: () => ({ first: Math.ceil(START / MINUTE) * MINUTE, last: Math.floor(until / MINUTE) * MINUTE, looks }),
    async stop() {
      over.abort();
      const stopping = running.stop(0);
      await vi.advanceTimersByTimeAsync(20_000);
      await stopping;
      await polling;
      vi.useRealTimers();
      await store.close();
      await server.close();
      await home.remove();
    },
  };
}

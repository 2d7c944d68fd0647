import { tmpdir } from 'node:os';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { ChatBot } from '../../ports/chat.ts';
import type { ChatUser } from '../../ports/chat-message.ts';
import type { Clock } from '../../ports/clock.ts';
import { ConfigError, hasCode } from '../../ports/errors.ts';
import type { CommandContext } from '../cli/command.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { loadTold } from '../cli/host.ts';
import { onInterrupt } from '../cli/interrupt.ts';
import { openConfiguredStore } from '../cli/store.ts';
import { selectProvider } from '../config/select.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { type Health, type HealthEndpoint, serveHealth } from '../schedule/health.ts';
import type { LogLevel } from '../schedule/scheduler.ts';
import { accessOf } from './access.ts';
import { messageOf } from './base.ts';
import { openBot, type RunningBot } from './bot.ts';
import { connect, tokenOf } from './connect.ts';
import { lockFiles, takeLocks } from './lock.ts';
import { TELEGRAM_POLICY } from './policy.ts';
import { poll } from './polling.ts';
import { leaveHandover, startAnew, takeHandover } from './restart.ts';
import type { Place } from './rooms.ts';

/** How long runs may go on after the signal to end. */
const DRAIN_MS = 15_000;
const RESTART_EVERY_MS = 60_000;
const MAX_PAUSE_MS = 60_000;
/** A message that is older when it comes is told of, and not handled. */
const OLDEST_MS = 60 * 60_000;

type Log = (level: LogLevel, text: string) => void;

/** Writes lines to standard error, masked. */
function botLog({ io }: CommandContext, config: ResolvedConfig): Log {
  const { text: mask } = createRedactor(config.secrets);
  return (level, text) => {
    if (level === 'debug') return;
    io.stderr.write(`odek: ${level === 'info' ? '' : `${level}: `}${mask(text).replaceAll(/\r?\n/g, '\n  ')}\n`);
  };
}

/** Who the bot is. A service that cannot be reached is asked again; a token that is not valid ends it. */
async function introduce(bot: ChatBot, config: ResolvedConfig, clock: Clock, log: Log, signal: AbortSignal): Promise<ChatUser> {
  const wanted = config.telegram.bot_username?.replace(/^@/, '');
  for (let pause = config.telegram.poll_interval * 1000; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      const me = await bot.feed.me(signal);
      if (wanted === undefined || wanted.toLowerCase() === me.username?.toLowerCase()) return me;
      throw new ConfigError(
        'telegram_other_bot',
        `the token belongs to @${me.username ?? me.name}, and telegram.bot_username says @${wanted}`,
        {
          value: me.username,
          limit: wanted,
        },
      );
    } catch (error) {
      if (hasCode(error, 'chat_unauthorized')) {
        throw new ConfigError('telegram_bad_token', 'Telegram does not know this bot token; @BotFather shows the right one with /token', {
          cause: error,
        });
      }
      const isPassing = ['chat_network', 'chat_service', 'chat_rate_limited'].some((code) => hasCode(error, code));
      if (!isPassing) throw error;
      log('warning', `Telegram cannot be reached (${messageOf(error)}); next try in ${Math.round(pause / 1000)} s`);
      await clock.sleep(pause, signal);
    }
  }
}

async function openHealth(config: ResolvedConfig, look: () => Health, log: Log): Promise<HealthEndpoint | undefined> {
  const { health_addr: address } = config.telegram;
  if (address === undefined) return undefined;
  const endpoint = await serveHealth(address, look, 'telegram.health_addr');
  log('info', `health at http://${endpoint.address}/health`);
  if (!endpoint.isLocal) log('warning', `telegram.health_addr ${address} can be reached from other machines`);
  return endpoint;
}

/** Requests to a bot without a model would all fail: said at once, and no reason not to start. */
function checkModel(config: ResolvedConfig, log: Log): void {
  try {
    selectProvider(config);
  } catch (error) {
    log('warning', `requests will fail until this is mended: ${messageOf(error)}`);
  }
}

/** How the bot is to end, and who asked for it. */
interface Ending {
  restart?: { readonly place?: Place };
}

/** `odek telegram`: answers people in Telegram until SIGTERM or SIGINT; SIGHUP starts it anew. */
export async function runTelegram(context: CommandContext): Promise<number> {
  // As it was given: loading takes keys out of it, which a bot that is started anew needs again.
  const given = { ...context.env };
  const config = await loadTold(context);
  const access = accessOf(config.telegram, config.schedules);
  const token = tokenOf(config);
  const log = botLog(context, config);
  const clock = createSystemClock();
  const interrupt = onInterrupt(() => {}, ['SIGINT', 'SIGTERM']);
  const quit = new AbortController();
  const ending: Ending = {};
  const signal = AbortSignal.any([interrupt.signal, quit.signal]);
  const onHangUp = (): void => {
    ending.restart ??= {};
    quit.abort();
  };
  process.on('SIGHUP', onHangUp);
  const closes: (() => unknown)[] = [];
  try {
    return await serve(context, { given, config, access, token, log, clock, signal, quit, ending, closes });
  } catch (error) {
    if (signal.aborted && hasCode(error, 'cancelled')) return EXIT.ok;
    throw error;
  } finally {
    for (const close of closes.reverse()) await close();
    process.off('SIGHUP', onHangUp);
    interrupt.stop();
  }
}

interface Serving {
  readonly given: CommandContext['env'];
  readonly config: ResolvedConfig;
  readonly access: ReturnType<typeof accessOf>;
  readonly token: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Fires when the bot is to end. */
  readonly signal: AbortSignal;
  readonly quit: AbortController;
  readonly ending: Ending;
  /** What is to be given back, in the order in which it was taken. */
  readonly closes: (() => unknown)[];
}

async function serve(context: CommandContext, serving: Serving): Promise<number> {
  const { given, config, access, token, log, clock, signal, quit, ending, closes } = serving;
  const { home } = config.state;
  const store = await openConfiguredStore(config, TELEGRAM_POLICY.surface);
  closes.push(() => store.close());
  const locks = await takeLocks(lockFiles(home, token, tmpdir(), process.getuid?.() ?? 0), clock, signal, (file) =>
    log('warning', `another bot has ${file}; this one waits until it ends`),
  );
  closes.push(() => locks.release());
  const startedAt = clock.monotonic();
  let status: Health['status'] = 'starting';
  let running: RunningBot | undefined;
  const health = await openHealth(
    config,
    () => ({ status, uptime_seconds: Math.floor((clock.monotonic() - startedAt) / 1000), running: running?.running ?? 0 }),
    log,
  );
  closes.push(() => health?.close());
  checkModel(config, log);
  const bot = await connect(config, token, clock);
  closes.push(() => bot.close());
  const me = await introduce(bot, config, clock, log, signal);
  const handover = await takeHandover(home, clock.now());
  let restartedAt = handover?.at ?? Number.NEGATIVE_INFINITY;
  const inbox = store.inbox(String(me.id));
  running = await openBot({
    config,
    env: context.env,
    workspace: context.cwd,
    bot,
    me,
    store,
    inbox,
    access,
    clock,
    ids: createRandomIds(),
    mask: createRedactor(config.secrets).text,
    log,
    print: (text) => void context.io.stdout.write(text),
    async restart(place) {
      const wait = Math.ceil((restartedAt + RESTART_EVERY_MS - clock.now()) / 1000);
      if (wait > 0) return `⏳ The bot was started anew just now; wait ${wait} s.`;
      restartedAt = clock.now();
      await running?.base.talk.say(place, '🔄 Restarting…');
      ending.restart = { place };
      quit.abort();
      return undefined;
    },
  });
  const { talk } = running.base;
  const who = `@${me.username ?? me.id}`;
  log('info', `${who} is there for ${access.words} (process ${process.pid})`);
  if (handover?.place !== undefined) await talk.say(handover.place, '🔄 Bot restarted');
  await poll({
    bot,
    inbox,
    clock,
    signal,
    log,
    settings: { intervalMs: config.telegram.poll_interval * 1000, timeoutSeconds: config.telegram.poll_timeout, oldestMs: OLDEST_MS },
    onState: (state) => {
      status = state;
    },
    onRecorded: () => running?.claims.wake(),
    onSkipped: (updates) => running?.skipped(updates),
  }).finally(async () => {
    status = 'draining';
    log('info', `${who} is ending; a second signal ends it at once`);
    await running?.stop(DRAIN_MS);
  });
  if (ending.restart !== undefined) {
    const { place } = ending.restart;
    await leaveHandover(home, { at: clock.now(), ...(place && { place }) });
    log('info', `${who} is started anew as process ${await startAnew(given, context.cwd)}`);
  }
  return EXIT.ok;
}

import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import { openTelegram } from '../../../adapters/telegram/index.ts';
import type { ChatBot } from '../../../ports/chat.ts';
import type { Clock } from '../../../ports/clock.ts';
import { CancelledError } from '../../../ports/errors.ts';
import type { ChatHarness, ShownMessage } from '../../contracts/chat-seat.ts';
import { badGateway, type Params, startTelegramServer, type TelegramServer, tooManyRequests } from '../../fakes/telegram/server.ts';

/** Waits no longer than a turn of the event loop, and remembers how long it was to be. */
export function hastyClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep(ms, signal) {
      slept.push(ms);
      return new Promise((resolve, reject) => {
        setImmediate(() => (signal?.aborted === true ? reject(new CancelledError()) : resolve()));
      });
    },
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
}

export interface TelegramSeat {
  readonly server: TelegramServer;
  readonly bot: ChatBot;
  readonly slept: readonly number[];
  close(): Promise<void>;
}

export async function telegramSeat(
  options: { readonly token?: string; readonly fallbacks?: readonly string[]; readonly attemptMs?: number } = {},
): Promise<TelegramSeat> {
  const server = await startTelegramServer();
  const clock = hastyClock();
  const roots = [server.url, ...(options.fallbacks ?? [])];
  const http = createHttpClient({ mode: 'operator', allowHosts: roots.map((root) => hostPort(new URL(root))) });
  const bot = await openTelegram({
    token: options.token ?? server.token,
    roots,
    http,
    clock,
    ...(options.attemptMs !== undefined && { attemptMs: options.attemptMs }),
  });
  return {
    server,
    bot,
    slept: clock.slept,
    async close() {
      await bot.close();
      await server.close();
    },
  };
}

/** The contract's seat over the real adapter and the server. */
export const telegramHarness: ChatHarness = {
  async seat() {
    const { server, bot, close } = await telegramSeat();
    let queries = 0;
    return {
      bot,
      botId: server.bot.id,
      token: server.token,
      say: (chatId, text, thread) =>
        void server.say({ chatId, text, ...(thread !== undefined && { topicId: thread.id, isTopic: thread.isTopic }) }),
      strange: () => void server.push({ poll_answer: { poll_id: '1' } }),
      press(chatId, messageId, data) {
        queries += 1;
        server.press({ chatId, messageId, data, from: { id: 5 }, id: `query-${queries}` });
        return `query-${queries}`;
      },
      setRival: server.setRival,
      revoke: () => server.setRevoked(true),
      closeTopic: server.closeTopic,
      fail(times, fault) {
        const of = fault === 'service' ? badGateway : fault === 'network' ? ({ kind: 'drop' } as const) : tooManyRequests(fault.retryAfter);
        server.fail('*', ...Array.from({ length: times }, () => of));
      },
      shown: (chatId) =>
        server.messages(chatId).map(({ id, text, entities, keyboard, topicId, file }) => ({
          id,
          text,
          entities: entities as ShownMessage['entities'],
          buttons: ((keyboard?.inline_keyboard ?? []) as Params[][]).map((row) =>
            row.map((each) => String(each.callback_data ?? each.url)),
          ),
          ...(topicId !== undefined && { topicId }),
          ...(file !== undefined && { file }),
        })),
      answered: () =>
        server
          .callsOf('answerCallbackQuery')
          .map(({ params }) => ({ id: String(params.callback_query_id), ...(params.text !== undefined && { text: String(params.text) }) })),
      addFile: (bytes, { tellsSize }) => server.addFile(bytes, { hideSize: !tellsSize }),
      close,
    };
  },
};

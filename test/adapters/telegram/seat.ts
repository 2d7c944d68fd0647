import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import { openTelegram } from '../../../adapters/telegram/index.ts';
import type { ChatBot } from '../../../ports/chat.ts';
import type { Clock } from '../../../ports/clock.ts';
import { CancelledError } from '../../../ports/errors.ts';
import { startTelegramServer, type TelegramServer } from '../../fakes/telegram/server.ts';

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
  options: { readonly token?: string; readonly fallbacks?: readonly string[] } = {},
): Promise<TelegramSeat> {
  const server = await startTelegramServer();
  const clock = hastyClock();
  const roots = [server.url, ...(options.fallbacks ?? [])];
  const http = createHttpClient({ mode: 'operator', allowHosts: roots.map((root) => hostPort(new URL(root))) });
  const bot = await openTelegram({ token: options.token ?? server.token, roots, http, clock });
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

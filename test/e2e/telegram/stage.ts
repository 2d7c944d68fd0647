import type { ServerScript } from '../../fakes/openai-server.ts';
import { type StoredMessage, startTelegramServer, type TelegramServer } from '../../fakes/telegram/server.ts';
import type { Running, StartOptions } from '../support/odek.ts';
import { onStage, type Stage } from '../support/stage.ts';

/** The one person who may use the bot, and the private chat with them. */
export const ANN = 101;

/** Somebody else, who may not. */
export const EVE = 666;

/** A stage with a Bot API server on it. */
export interface ChatStage extends Stage {
  readonly telegram: TelegramServer;
  /** Starts the bot and waits until it polls. */
  bot(options?: StartOptions): Promise<Running>;
  /** Waits for a message of the bot in a chat that holds `text`. */
  said(text: string | RegExp, chatId?: number): Promise<StoredMessage>;
}

const holds = (message: StoredMessage, text: string | RegExp): boolean =>
  typeof text === 'string' ? message.text.includes(text) : text.test(message.text);

export const countOf = (telegram: TelegramServer, text: string | RegExp, chatId: number = ANN): number =>
  telegram.history(chatId).filter((message) => holds(message, text)).length;

export async function onChatStage(
  script: ServerScript,
  work: (stage: ChatStage) => Promise<void>,
  options: { readonly telegram?: object; readonly config?: object } = {},
): Promise<void> {
  const telegram = await startTelegramServer();
  const settings = {
    bot_token: telegram.token,
    api_root: telegram.url,
    allowed_users: [ANN],
    poll_timeout: 5,
    ...options.telegram,
  };
  try {
    await onStage(
      script,
      (stage) =>
        work({
          ...stage,
          telegram,
          async bot(startOptions) {
            const running = stage.start(['telegram'], startOptions);
            await running.untilTold('is there for');
            return running;
          },
          said: (text, chatId = ANN) => telegram.until(() => telegram.messages(chatId).find((message) => holds(message, text)), 40_000),
        }),
      { config: { telegram: settings, ...options.config } },
    );
  } finally {
    await telegram.close();
  }
}

/** Presses the button of a message whose data begins with `prefix`. */
export function press(telegram: TelegramServer, message: StoredMessage, prefix: string, from: number, chatId: number = ANN): void {
  const rows = (message.keyboard?.inline_keyboard ?? []) as { callback_data: string }[][];
  const button = rows.flat().find(({ callback_data: data }) => data.startsWith(prefix));
  telegram.press({ chatId, messageId: message.id, data: button?.callback_data ?? `${prefix}${'0'.repeat(16)}`, from: { id: from } });
}

import { ConfigError } from '../../ports/errors.ts';
import type { RunResult } from '../../ports/run.ts';
import type { Composed } from '../compose.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { connect, tokenOf } from './connect.ts';
import { chatOf } from './delivery.ts';
import { formatMarkdown } from './format/index.ts';
import { appendDelivered } from './sessions.ts';
import { createTalk } from './talk.ts';

const MAX_UNITS = 4_096;
const LABEL = '[a task on the command line ran]';

/**
 * What `odek run --deliver` does with an answer: it goes to the default chat, and into the conversation there. Throws
 * `ConfigError` where bot or chat are missing, before anything runs; what is made rejects with `ChatError`.
 */
export async function answerDelivery(
  config: ResolvedConfig,
): Promise<(result: RunResult, composed: Composed, signal: AbortSignal) => Promise<void>> {
  const token = tokenOf(config);
  const chatId = chatOf(undefined, config);
  if (chatId === undefined) {
    throw new ConfigError('telegram_no_chat', '--deliver needs telegram.default_chat_id: the number of the chat that the answer goes to');
  }
  return async ({ answer, outcome, error }, { root }, signal) => {
    const text = answer || `The run ended without an answer (${outcome}${error === undefined ? '' : `: ${error.message}`}).`;
    const bot = await connect(config, token, root.clock);
    const log = (): void => {};
    try {
      const talk = createTalk({ bot, format: (markdown) => formatMarkdown(markdown, MAX_UNITS), clock: root.clock, signal, log });
      await talk.deliver({ chatId }, text, { done: 0, onSent() {} });
    } finally {
      await bot.close();
    }
    const base = { store: root.store, ids: root.ids, mask: root.redactor.text, log };
    await appendDelivered(base, { chatId }, { label: LABEL, text, maybeRepeat: false }, signal);
  };
}

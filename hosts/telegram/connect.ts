import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import { apiRoots, openTelegram } from '../../adapters/telegram/index.ts';
import type { ChatBot } from '../../ports/chat.ts';
import type { Clock } from '../../ports/clock.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { endpointProxy } from '../network.ts';

/** The configured token. Throws `ConfigError` `telegram_no_token`. */
export function tokenOf({ telegram }: ResolvedConfig): string {
  if (telegram.bot_token !== undefined) return telegram.bot_token;
  throw new ConfigError(
    'telegram_no_token',
    'there is no bot: ask @BotFather in Telegram for a token, and write ODEK_TELEGRAM_BOT_TOKEN=… into secrets.env of the state folder',
  );
}

/** A bot over the configured service, which alone it reaches. */
export async function connect(config: ResolvedConfig, token: string, clock: Clock): Promise<ChatBot> {
  const { api_root: root, fallback_urls: others } = config.telegram;
  const roots = apiRoots(root, others);
  const [first] = roots;
  const hosts = roots.map((each) => hostPort(new URL(each)));
  const http = createHttpClient({ mode: 'operator', allowHosts: hosts, ...endpointProxy(config, new URL(first ?? root)) });
  const { noDeprecation } = process;
  // What grammY is made of uses something old of node's, which is nobody's concern here.
  process.noDeprecation = true;
  try {
    return await openTelegram({ token, roots, http, clock });
  } finally {
    process.noDeprecation = noDeprecation === true;
  }
}

import type { ResolvedConfig } from '../config/types.ts';
import { accessOf } from './access.ts';

const PRIVACY =
  'in groups a bot sees only what is meant for it, unless its privacy mode is off: mentions and replies are enough for odek; if even these do not arrive, ask @BotFather for /setprivacy, or make the bot an admin of the group';

/** A line of `odek doctor`. */
interface Finding {
  readonly ok: boolean;
  readonly text: string;
  readonly advice?: string;
}

/** What `odek doctor` says about the Telegram bot. Reaches no network. */
export function telegramFinding({ telegram, schedules }: Pick<ResolvedConfig, 'telegram' | 'schedules'>): Finding {
  if (telegram.bot_token === undefined) {
    const isMeant = telegram.allowed_users.length > 0 || telegram.allowed_chats.length > 0 || telegram.allow_all_users;
    if (!isMeant) return { ok: true, text: 'no Telegram bot; none is needed' };
    return {
      ok: false,
      text: 'Telegram: people are allowed, and there is no bot token',
      advice: 'write ODEK_TELEGRAM_BOT_TOKEN=… into secrets.env',
    };
  }
  try {
    const { words } = accessOf(telegram, schedules);
    const isOpen = telegram.allow_all_users && telegram.allowed_chats.length === 0;
    const text = `Telegram bot: token set, ${words} may use it`;
    return {
      ok: true,
      text,
      advice: isOpen ? 'everybody who finds the bot can let it work here; telegram.allowed_users names people' : PRIVACY,
    };
  } catch (error) {
    return {
      ok: false,
      text: `Telegram: ${(error as Error).message}`,
      advice: 'put your own number into telegram.allowed_users; docs/telegram.md says how to find it',
    };
  }
}

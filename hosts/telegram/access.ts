import { ConfigError } from '../../ports/errors.ts';
import type { SchedulesConfig, TelegramConfig } from '../config/types.ts';

/** Who may do what. Ids are those of Telegram; an absent one is nobody. */
export interface Access {
  /** Whether the bot listens to this person in this chat. */
  mayUse(user: number | undefined, chat: number | undefined): boolean;
  /** Whether jobs may be changed, and the bot restarted, by this person in this chat. */
  isAdmin(user: number | undefined, chat: number | undefined): boolean;
  /** How it is set up, in words, for the log. */
  readonly words: string;
}

const listed = (list: readonly string[], id: number | undefined): boolean => id !== undefined && list.includes(String(id));

/**
 * The rules as configured. Of two lists that are both there both must hold. Throws `ConfigError` `telegram_open` where
 * nothing says who may use the bot.
 */
export function accessOf(telegram: TelegramConfig, schedules: SchedulesConfig): Access {
  const { allowed_users: users, allowed_chats: chats, allow_all_users: all, default_chat_id: home } = telegram;
  const { telegram_admin_users: adminUsers, telegram_admin_chats: adminChats } = schedules;
  if (!all && users.length === 0 && chats.length === 0) {
    throw new ConfigError(
      'telegram_open',
      'nobody is allowed to use the bot: set telegram.allowed_users, telegram.allowed_chats, or telegram.allow_all_users for everybody',
    );
  }
  const isAnybody = adminUsers.length === 0 && adminChats.length === 0;
  const mayUse: Access['mayUse'] = (user, chat) =>
    user !== undefined &&
    chat !== undefined &&
    (all || users.length === 0 || listed(users, user)) &&
    (chats.length === 0 || listed(chats, chat));
  return {
    mayUse,
    isAdmin(user, chat) {
      if (!mayUse(user, chat)) return false;
      if (isAnybody) return home !== undefined && home === String(chat);
      return (adminUsers.length === 0 || listed(adminUsers, user)) && (adminChats.length === 0 || listed(adminChats, chat));
    },
    words: `${all ? 'everybody' : users.length === 0 ? 'anybody' : `${users.length} ${users.length === 1 ? 'person' : 'people'}`}${chats.length === 0 ? '' : ` in ${chats.length} chats`}`,
  };
}

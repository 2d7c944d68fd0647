import { keySpec } from './keys.ts';
import type { ConfigValue, TelegramConfig } from './types.ts';

/** `telegram.*` in the configuration's own shape. */
export function telegramOf(values: ReadonlyMap<string, ConfigValue>): TelegramConfig {
  const of = <T extends ConfigValue>(name: string): T => (values.get(`telegram.${name}`) ?? keySpec(`telegram.${name}`).default) as T;
  const list = (name: string): readonly string[] => (values.get(`telegram.${name}`) as readonly string[] | undefined) ?? [];
  const optional = <K extends string>(name: K): { [P in K]?: string } =>
    values.has(`telegram.${name}`) ? ({ [name]: of<string>(name) } as { [P in K]?: string }) : {};
  return {
    ...optional('bot_token'),
    api_root: of('api_root'),
    fallback_urls: list('fallback_urls'),
    allowed_users: list('allowed_users'),
    allowed_chats: list('allowed_chats'),
    allow_all_users: of('allow_all_users'),
    ...optional('bot_username'),
    poll_interval: of('poll_interval'),
    poll_timeout: of('poll_timeout'),
    max_msg_length: of('max_msg_length'),
    progress: of<TelegramConfig['progress']>('progress'),
    progress_cleanup: of('progress_cleanup'),
    daily_token_budget: of('daily_token_budget'),
    agent_timeout_seconds: of('agent_timeout_seconds'),
    session_ttl_hours: of('session_ttl_hours'),
    ...optional('health_addr'),
    max_download_size: of('max_download_size'),
    media_quota_per_chat: of('media_quota_per_chat'),
    ...optional('default_chat_id'),
  };
}

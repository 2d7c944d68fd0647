import type { Store } from '../../adapters/store/index.ts';
import type { ChatBot } from '../../ports/chat.ts';
import type { ChatUser } from '../../ports/chat-message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { LogLevel } from '../schedule/scheduler.ts';
import type { Access } from './access.ts';
import type { Talk } from './talk.ts';

/** What every part of the bot works with. */
export interface Base {
  readonly config: ResolvedConfig;
  /** The very object that the configuration was loaded from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute: where the agents of the chats work. */
  readonly workspace: string;
  readonly bot: ChatBot;
  readonly me: ChatUser;
  readonly store: Store;
  readonly access: Access;
  readonly talk: Talk;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Takes secrets out of a text. */
  mask(text: string): string;
  log(level: LogLevel, text: string): void;
  /** Fires when the bot ends. */
  readonly signal: AbortSignal;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

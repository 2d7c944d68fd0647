import type { ChatEntity, ChatMessage, ChatUser } from '../../ports/chat-message.ts';

/** A command as somebody wrote it. */
export interface GivenCommand {
  /** Lower case, with `_` for `-`. */
  readonly name: string;
  /** What follows it, without spaces around it. */
  readonly rest: string;
  /** The bot that it names, lower case; absent: none. */
  readonly bot?: string;
}

const COMMAND = /^\/([A-Za-z0-9_-]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?=\s|$)/;

/** The command that a text begins with; undefined for any other text, a path such as `/etc/hosts` among it. */
export function commandOf(text: string): GivenCommand | undefined {
  const found = COMMAND.exec(text);
  if (found === null) return undefined;
  const [whole, name = '', bot] = found;
  return {
    name: name.toLowerCase().replaceAll('-', '_'),
    rest: text.slice(whole.length).trim(),
    ...(bot !== undefined && { bot: bot.toLowerCase() }),
  };
}

/** The stretch of an entity. JavaScript counts text as Telegram does, in UTF-16 units. */
function stretch({ text }: Pick<ChatMessage, 'text'>, { offset, length }: ChatEntity): string {
  return text.slice(offset, offset + length);
}

function names(message: ChatMessage, entity: ChatEntity, me: ChatUser): boolean {
  if (entity.type === 'text_mention') return entity.userId === me.id;
  const name = me.username?.toLowerCase();
  if (name === undefined) return false;
  const text = stretch(message, entity).toLowerCase();
  if (entity.type === 'mention') return text === `@${name}`;
  return entity.type === 'bot_command' && text.endsWith(`@${name}`) && text.lastIndexOf('@') === text.length - name.length - 1;
}

/**
 * Whether a message is meant for the bot: in a private chat every one; in a group one that mentions it by its exact name, as
 * an entity and not as a piece of some other word, or that replies to it.
 */
export function isAddressed(message: ChatMessage, me: ChatUser): boolean {
  if (message.chat.kind === 'private') return true;
  return message.replyTo?.from?.id === me.id || message.entities.some((entity) => names(message, entity, me));
}

/** The text without a mention of the bot at its beginning. */
export function withoutMention(message: ChatMessage, me: ChatUser): string {
  const first = message.entities.find((entity) => entity.offset === 0 && entity.type === 'mention' && names(message, entity, me));
  return first === undefined ? message.text : message.text.slice(first.length).trimStart();
}

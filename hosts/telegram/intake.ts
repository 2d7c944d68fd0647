import { wrapUntrusted } from '../../core/untrusted/wrapper.ts';
import type { ChatInbox, InboxClaim } from '../../ports/chat-inbox.ts';
import type { ChatCallback, ChatMessage, ChatUser } from '../../ports/chat-message.ts';
import { isOdekError } from '../../ports/errors.ts';
import { commandOf, isAddressed, withoutMention } from './addressed.ts';
import { BUTTON_PREFIX } from './answer.ts';
import { messageOf } from './base.ts';
import type { Cards } from './cards.ts';
import type { Bot, Command, CommandCall } from './commands/command.ts';
import { COMMANDS } from './commands/index.ts';
import { MediaRefused, mediaName, takeMedia } from './media-in.ts';
import type { Questions } from './questions.ts';
import type { Place } from './rooms.ts';

/** What is done with each update that came in. */
export interface Intake {
  /** Handles one, and ends its claim now or with the run that it leads to. Never rejects. */
  handle(claim: InboxClaim): Promise<void>;
}

export interface IntakeParts {
  readonly bot: Bot;
  readonly inbox: ChatInbox;
  readonly cards: Cards;
  readonly questions: Questions;
}

const NONCE_BYTES = 8;
const MAX_TOLD = 1_000;
const MAX_QUOTE = 4_000;
const MAX_NAME = 64;
const NOT_YOURS = '⛔ You are not allowed to use this bot.';
const LOST =
  '⚠️ odek ended while it worked on this, and what it had done by then is not known. Look, and send it again if it is still wanted.';

export const placeOf = ({ chat, topicId }: Pick<ChatMessage, 'chat' | 'topicId'>): Place => ({
  chatId: chat.id,
  ...(topicId !== undefined && { topicId }),
});

/** A person in words that cannot pass for more than a name: one line, no brackets. */
function writerOf({ name, username }: ChatUser): string {
  const shown = [...name.replaceAll(/[\p{C}\p{Z}[\]<>]+/gu, ' ').trim()].slice(0, MAX_NAME).join('');
  return username === undefined ? shown : `${shown} (@${username})`;
}

export function createIntake({ bot, inbox, cards, questions }: IntakeParts): Intake {
  const { base, runs } = bot;
  const { access, talk, me, log, config, ids, signal } = base;
  const strangers = new Set<string>();

  const ignore = (user: number | undefined, chat: number, why: string): void => {
    const line = `ignored: person ${user ?? '?'} in chat ${chat} ${why}`;
    if (strangers.has(line)) return;
    if (strangers.size > MAX_TOLD) strangers.clear();
    strangers.add(line);
    log('warning', line);
  };

  const wrapped = (text: string, source: string): string => wrapUntrusted(text, source, ids.hex(NONCE_BYTES));

  /** What the model is told of a message: the words of the person, and what others wrote marked as such. */
  const told = (message: ChatMessage, text: string, path: string | undefined): string => {
    const { chat, from, forward, replyTo, media } = message;
    const isShared = chat.kind !== 'private' && from !== undefined && (text !== '' || path !== undefined);
    const isForeign = replyTo !== undefined && replyTo.text !== '' && replyTo.from?.id !== me.id;
    return [
      // Several people share one conversation.
      ...(isShared ? [`[From ${writerOf(from)}]`] : []),
      ...(isForeign ? [`In reply to this message:\n${wrapped(replyTo.text.slice(0, MAX_QUOTE), `telegram:chat:${chat.id}:reply`)}`] : []),
      ...(text === '' ? [] : [forward === undefined ? text : wrapped(text, `telegram:chat:${chat.id}:forwarded`)]),
      ...(path === undefined
        ? []
        : [`[The person sent a ${media?.kind ?? 'file'}${media?.kind === 'voice' ? ' message' : ''}; it is at ${path}]`]),
    ].join('\n\n');
  };

  const command = async (call: CommandCall, name: string): Promise<boolean> => {
    const found = Object.hasOwn(COMMANDS, name) ? (COMMANDS as Readonly<Record<string, Command>>)[name] : undefined;
    if (found === undefined) {
      await call.reply(`Unknown command: /${name}`);
      return false;
    }
    try {
      const task = await found.run(call);
      if (task) runs.add(task);
      return task !== undefined;
    } catch (error) {
      if (!isOdekError(error)) throw error;
      await call.reply(`⚠️ ${base.mask(error.message)}`);
      return false;
    }
  };

  /** Resolves to whether the claim goes on with a run. */
  const request = async (claim: InboxClaim, message: ChatMessage, text: string, user: number): Promise<boolean> => {
    const place = placeOf(message);
    let path: string | undefined;
    if (message.media !== undefined) {
      try {
        path = await takeMedia(base, message.chat.id, message.media, signal);
      } catch (error) {
        if (!(error instanceof MediaRefused)) throw error;
        await talk.say(place, `📎 ${error.message}`, { replyTo: message.id });
        return false;
      }
    }
    const whole = told(message, text, path);
    if (whole === '') return false;
    runs.add({ place, user, text: whole, ...(whole !== text && text !== '' && { original: text }), replyTo: message.id, claim });
    return true;
  };

  const isForUs = (message: ChatMessage, edited: boolean): boolean => {
    const { chat, from } = message;
    if (from === undefined || from.isBot || chat.kind === 'channel') return false;
    return !edited || chat.kind === 'private';
  };

  const onMessage = async (claim: InboxClaim, message: ChatMessage, edited: boolean): Promise<boolean> => {
    const { from, chat } = message;
    if (!isForUs(message, edited) || from === undefined) return false;
    if (!isAddressed(message, me)) return false;
    if (!access.mayUse(from.id, chat.id)) {
      ignore(from.id, chat.id, 'is not in telegram.allowed_users or telegram.allowed_chats');
      return false;
    }
    const place = placeOf(message);
    const limit = config.telegram.max_msg_length;
    if (message.text.length > limit) {
      await inbox.begin(claim);
      await talk.say(place, `✂️ That is too long: ${message.text.length} characters, at most ${limit} are taken. Send it as a file.`);
      return false;
    }
    const text = withoutMention(message, me).trim();
    const given = message.forward === undefined ? commandOf(text) : undefined;
    if (given !== undefined) {
      if (given.bot !== undefined && given.bot !== me.username?.toLowerCase()) return false;
      await inbox.begin(claim);
      const reply = async (said: string): Promise<void> => {
        await talk.post(place, { text: said, entities: [] });
      };
      const isAdmin = access.isAdmin(from.id, chat.id);
      return command({ bot, place, user: from, message, rest: given.rest, isAdmin, claim, reply }, given.name);
    }
    if (text !== '' && message.media === undefined && message.forward === undefined && questions.offer(place, from.id, text)) return false;
    const isTaken = message.media === undefined || mediaName(chat.id, message.media) !== undefined;
    if (!isTaken && text === '') return false;
    return request(claim, message, text, from.id);
  };

  const toast = (callback: ChatCallback, text?: string): Promise<void> =>
    base.bot.messages.answerCallback(callback.id, text, signal).catch(() => {});

  const onCallback = async (claim: InboxClaim, callback: ChatCallback): Promise<boolean> => {
    const { from, message, data } = callback;
    if (message === undefined || from.isBot || !access.mayUse(from.id, message.chat.id)) {
      ignore(from.id, message?.chat.id ?? 0, 'pressed a button and is not allowed to');
      await toast(callback, NOT_YOURS);
      return false;
    }
    await inbox.begin(claim);
    if (cards.isFor(data)) {
      await cards.press(callback);
      return false;
    }
    if (questions.isFor(data)) {
      await questions.press(callback);
      return false;
    }
    if (!data.startsWith(BUTTON_PREFIX)) {
      await toast(callback, 'This button does nothing any more.');
      return false;
    }
    await toast(callback);
    runs.add({
      place: placeOf(message),
      user: from.id,
      text: `[The person pressed the button ${JSON.stringify(data)}]`,
      claim,
      isBegun: true,
    });
    return true;
  };

  /** Told once, and not done again: what it did until then is not known. */
  const onInterrupted = async ({ update }: InboxClaim): Promise<void> => {
    if (update.kind !== 'message') return;
    const { message } = update;
    if (message.from !== undefined && access.mayUse(message.from.id, message.chat.id)) {
      await talk.say(placeOf(message), LOST, { replyTo: message.id });
    }
  };

  const handled = async (claim: InboxClaim): Promise<boolean> => {
    const { update } = claim;
    if (claim.interrupted) {
      await onInterrupted(claim);
      return false;
    }
    if (update.kind === 'message') return onMessage(claim, update.message, update.edited);
    return update.kind === 'callback' ? onCallback(claim, update.callback) : false;
  };

  return {
    async handle(claim) {
      let goesOn = false;
      try {
        goesOn = await handled(claim);
      } catch (error) {
        log('error', `update ${claim.update.id} could not be handled: ${messageOf(error)}`);
        const { update } = claim;
        if (update.kind === 'message' && !signal.aborted) await talk.say(placeOf(update.message), `❌ ${base.mask(messageOf(error))}`);
      }
      if (goesOn) return;
      await inbox.finish(claim).catch((error: unknown) => log('warning', `update ${claim.update.id}: ${messageOf(error)}`));
    },
  };
}

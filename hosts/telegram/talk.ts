import { CHAT_LIMITS, type ChatBot, ChatError } from '../../ports/chat.ts';
import type { ChatButton, ChatMessageRef, ChatSent, ChatText } from '../../ports/chat-message.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel } from '../schedule/scheduler.ts';
import { type Place, sessionIdOf } from './rooms.ts';

/** Markdown as messages of at most 4096 UTF-16 units each. */
export type Formatter = (markdown: string) => readonly ChatText[];

export interface SayOptions {
  readonly keyboard?: readonly (readonly ChatButton[])[];
  readonly replyTo?: number;
  readonly silent?: boolean;
}

/** What the bot says. Texts of one place come in the order in which they were said. */
export interface Talk {
  /** Says Markdown, in several messages where it is long, as a file where it is very long. Never rejects: what is lost is told in the log. */
  say(place: Place, markdown: string, options?: SayOptions): Promise<void>;
  /** The same for text and entities that are ready, at most 4096 units. Undefined: it was lost. */
  post(place: Place, content: ChatText, options?: SayOptions): Promise<ChatSent | undefined>;
  /** Like `say`, and rejects with `ChatError`. Begins after the first `done` messages and tells each that is through. */
  deliver(place: Place, markdown: string, progress: { readonly done: number; onSent(count: number): void }): Promise<void>;
  /** Replaces a message; one that is gone or the same is no fault. Never rejects. */
  change(message: ChatMessageRef, content: ChatText): Promise<void>;
}

export interface TalkParts {
  readonly bot: Pick<ChatBot, 'messages' | 'files'>;
  readonly format: Formatter;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  log(level: LogLevel, text: string): void;
}

/** More messages than this are a file. */
const MAX_MESSAGES = 6;
/** The longest hold that is waited out; the longest seen was under four hours. */
const MAX_HOLD_MS = 6 * 3_600_000;
/** Longer ones are left to whoever delivers: others wait behind it. */
const MAX_DELIVERY_HOLD_MS = 60_000;
const MAX_HOLDS = 3;
const LOST = '⚠️ [part of response lost — Telegram API error]';
const FILE_CAPTION = 'The whole answer is in this file.';

export const plain = (text: string): ChatText => ({ text, entities: [] });

export function createTalk({ bot, format, clock, signal, log }: TalkParts): Talk {
  const lines = new Map<string, Promise<unknown>>();

  /** One after the other in each place. */
  const inOrder = <T>(place: Place, work: () => Promise<T>): Promise<T> => {
    const key = sessionIdOf(place);
    const done = (lines.get(key) ?? Promise.resolve()).then(work, work);
    const line = done.then(
      () => {},
      () => {},
    );
    lines.set(key, line);
    void line.then(() => {
      if (lines.get(key) === line) lines.delete(key);
    });
    return done;
  };

  /** Waits out what the service asks for, so that nothing that matters is lost to a hold. */
  const patiently = async <T>(work: () => Promise<T>, longest = MAX_HOLD_MS): Promise<T> => {
    for (let held = 0; ; held += 1) {
      try {
        return await work();
      } catch (error) {
        const wait = error instanceof ChatError ? error.retryAfterMs : undefined;
        if (wait === undefined || wait > longest || held === MAX_HOLDS) throw error;
        log('warning', `Telegram asks to wait ${Math.round(wait / 1000)} s before the next message`);
        await clock.sleep(wait, signal);
      }
    }
  };

  const sendOnce = (place: Place, content: ChatText, options: SayOptions, longest?: number): Promise<ChatSent> =>
    patiently(() => bot.messages.send(place, { ...content, ...options }, signal), longest);

  /** As formatted, and where the service does not take that, as plain text. */
  const send = async (place: Place, content: ChatText, options: SayOptions = {}, longest?: number): Promise<ChatSent> => {
    try {
      return await sendOnce(place, content, options, longest);
    } catch (error) {
      if (!(error instanceof ChatError) || error.code !== 'chat_bad_request' || content.entities.length === 0) throw error;
      return await sendOnce(place, plain(content.text), options, longest);
    }
  };

  const asFile = (place: Place, markdown: string, longest?: number): Promise<ChatSent> => {
    const file = { kind: 'document', name: 'answer.md', bytes: new TextEncoder().encode(markdown), caption: FILE_CAPTION } as const;
    return patiently(() => bot.files.upload(place, file, signal), longest);
  };

  /** The parts of a text, each as what sends it. */
  const partsOf = (place: Place, markdown: string, options: SayOptions, longest?: number): (() => Promise<ChatSent>)[] => {
    const parts = format(markdown).filter(({ text }) => text.trim() !== '');
    const shown = parts.length > MAX_MESSAGES ? parts.slice(0, 1) : parts;
    const sends = shown.map((part, index) => {
      const isLast = index === shown.length - 1;
      const { keyboard, ...rest } = options;
      return () => send(place, part, { ...(index === 0 && rest), ...(isLast && keyboard && { keyboard }) }, longest);
    });
    return parts.length > MAX_MESSAGES ? [...sends, () => asFile(place, markdown, longest)] : sends;
  };

  return {
    say: (place, markdown, options = {}) =>
      inOrder(place, async () => {
        for (const part of partsOf(place, markdown, options)) {
          try {
            await part();
          } catch (error) {
            if (signal.aborted) return;
            log('error', `a message to ${sessionIdOf(place)} was lost: ${(error as Error).message}`);
            await send(place, plain(LOST)).catch(() => {});
          }
        }
      }),
    post: (place, content, options) =>
      inOrder(place, async () => {
        try {
          const text = content.text.length <= CHAT_LIMITS.text ? content : plain(`${content.text.slice(0, CHAT_LIMITS.text - 1)}…`);
          return await send(place, text, options);
        } catch (error) {
          if (!signal.aborted) log('error', `a message to ${sessionIdOf(place)} was lost: ${(error as Error).message}`);
          return undefined;
        }
      }),
    deliver: (place, markdown, { done, onSent }) =>
      inOrder(place, async () => {
        const parts = partsOf(place, markdown, {}, MAX_DELIVERY_HOLD_MS);
        for (const [index, part] of parts.entries()) {
          if (index < done) continue;
          await part();
          onSent(index + 1);
        }
      }),
    async change(message, content) {
      try {
        await patiently(() => bot.messages.edit(message, content, signal));
      } catch (error) {
        if (error instanceof ChatError && error.code === 'chat_not_modified') return;
        if (!signal.aborted) log('debug', `a message could not be changed: ${(error as Error).message}`);
      }
    },
  };
}

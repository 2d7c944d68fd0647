/** One message that changes while work goes on: as often as the service bears it, and at the end with the text that counts. */
import { CHAT_LIMITS, ChatError, type ChatMessages } from '../../ports/chat.ts';
import type { ChatMessageRef, ChatPlace, ChatText } from '../../ports/chat-message.ts';
import type { Clock } from '../../ports/clock.ts';
import { hasCode } from '../../ports/errors.ts';
import { chunked } from './format/chunks.ts';

/** Between two edits, in milliseconds. A group bears 20 messages a minute, from all of a bot. */
const GAP_MS = 1_500;
const GROUP_GAP_MS = 3_000;
/** After so many failures in a row nothing is shown on the way any more; the end still is. */
const MAX_FAILURES = 5;
/** The longest hold that the end waits for. */
const MAX_HOLD_MS = 6 * 3_600_000;
const MAX_HOLDS = 3;
const MAX_OWN = 20;
/** Chats whose holds are known. */
const MAX_CHATS = 1_000;

export interface Bubble {
  /** What is to be seen now. Texts that are overtaken are dropped. */
  show(content: ChatText): void;
  /** Something was sent below: what comes next is a message of its own. */
  renew(): void;
  /** Shows nothing more on the way; then the text that counts, once, in several messages where it is long. False: it was lost. */
  finish(content: ChatText): Promise<boolean>;
  /** Shows nothing more, and takes its messages away, at most the last 20. */
  remove(): Promise<void>;
  /** Shows nothing more, and leaves the message as it is. */
  leave(): Promise<void>;
}

export interface BubbleOptions {
  readonly replyTo?: number;
  readonly silent?: boolean;
}

export type OpenBubble = (place: ChatPlace, options?: BubbleOptions) => Bubble;

interface Bubbles {
  readonly messages: Pick<ChatMessages, 'send' | 'edit' | 'remove'>;
  readonly clock: Clock;
  /** Ends all of them. */
  readonly signal: AbortSignal;
}

const isGroup = (chatId: number | string): boolean => typeof chatId === 'string' || chatId < 0;
const clipped = (content: ChatText): ChatText => chunked(content, CHAT_LIMITS.text)[0] ?? { text: '', entities: [] };
const keyOf = ({ text, entities }: ChatText): string => JSON.stringify([text, entities]);

/** Bubbles of one bot. What the service asks a chat to wait holds for all bubbles of that chat. None of it rejects. */
export function createBubbles({ messages, clock, signal }: Bubbles): OpenBubble {
  const holds = new Map<number | string, number>();

  const hold = (chatId: number | string, ms: number): void => {
    for (const [chat, until] of holds) if (until <= clock.monotonic() || holds.size >= MAX_CHATS) holds.delete(chat);
    holds.set(chatId, Math.max(holds.get(chatId) ?? 0, clock.monotonic() + ms));
  };
  const heldFor = (chatId: number | string): number => Math.max(0, (holds.get(chatId) ?? 0) - clock.monotonic());

  return (place, options = {}) => {
    const { chatId } = place;
    const gap = isGroup(chatId) ? GROUP_GAP_MS : GAP_MS;
    let message: ChatMessageRef | undefined;
    /** All that were made, the oldest first. */
    let own: readonly ChatMessageRef[] = [];
    /** Grows when what is under way is not this bubble's newest message any more. */
    let era = 0;
    let shown = '';
    let wanted: ChatText | undefined;
    let stopTimer: (() => void) | undefined;
    let busy: Promise<void> | undefined;
    let lastAt = Number.NEGATIVE_INFINITY;
    let failures = 0;
    let isOver = false;
    let finished: Promise<boolean> | undefined;

    const put = async (content: ChatText, draft: boolean): Promise<void> => {
      const before = era;
      if (message !== undefined) await messages.edit(message, { ...content, draft }, signal);
      else {
        const sent = await messages.send(place, { ...content, ...options, draft }, signal);
        const made = { chatId: sent.place.chatId, messageId: sent.messageId };
        own = [...own, made].slice(-MAX_OWN);
        if (era === before) message = made;
      }
      if (era === before) shown = keyOf(content);
    };

    const onFault = (error: unknown, content: ChatText): void => {
      if (hasCode(error, 'chat_not_modified')) {
        shown = keyOf(content);
        return;
      }
      if (error instanceof ChatError && error.retryAfterMs !== undefined) hold(chatId, error.retryAfterMs);
      else failures += 1;
      // Somebody deleted it, or edits are flooded: what comes next is a new message.
      if (hasCode(error, 'chat_not_found') || hasCode(error, 'chat_rate_limited')) message = undefined;
      wanted ??= content;
    };

    const flush = async (): Promise<void> => {
      const content = wanted;
      wanted = undefined;
      if (content === undefined || (message !== undefined && keyOf(content) === shown)) return;
      try {
        await put(content, true);
        failures = 0;
      } catch (error) {
        onFault(error, content);
      }
      lastAt = clock.monotonic();
    };

    const schedule = (): void => {
      if (isOver || signal.aborted || wanted === undefined || busy !== undefined || stopTimer !== undefined || failures >= MAX_FAILURES)
        return;
      const wait = Math.max(0, lastAt + gap - clock.monotonic(), heldFor(chatId));
      stopTimer = clock.after(wait, () => {
        stopTimer = undefined;
        busy = flush().finally(() => {
          busy = undefined;
          schedule();
        });
      });
    };

    const stop = async (): Promise<void> => {
      isOver = true;
      stopTimer?.();
      stopTimer = undefined;
      await busy;
    };

    /** Waits for holds; a message that is gone is sent anew, entities that are refused are left out. */
    const insist = async (content: ChatText): Promise<boolean> => {
      let isPlain = false;
      for (let tries = 0; tries <= MAX_HOLDS; tries += 1) {
        try {
          const wait = heldFor(chatId);
          if (wait > MAX_HOLD_MS) return false;
          if (wait > 0) await clock.sleep(wait, signal);
          await put(isPlain ? { text: content.text, entities: [] } : content, false);
          return true;
        } catch (error) {
          if (hasCode(error, 'chat_not_modified')) return true;
          if (hasCode(error, 'chat_not_found') && message !== undefined) message = undefined;
          else if (error instanceof ChatError && error.retryAfterMs !== undefined) hold(chatId, error.retryAfterMs);
          else if (hasCode(error, 'chat_bad_request') && !isPlain) isPlain = true;
          else return false;
        }
      }
      return false;
    };

    const finish = async (content: ChatText): Promise<boolean> => {
      await stop();
      let isWhole = true;
      for (const [index, part] of chunked(content).entries()) {
        if (index > 0) message = undefined;
        isWhole = (await insist(part)) && isWhole;
      }
      return isWhole;
    };

    return {
      show(content) {
        wanted = clipped(content);
        if (wanted.text === '') wanted = undefined;
        schedule();
      },
      renew() {
        era += 1;
        wanted = undefined;
        message = undefined;
        shown = '';
      },
      finish(content) {
        finished ??= finish(content);
        return finished;
      },
      async remove() {
        await stop();
        const gone = own;
        own = [];
        message = undefined;
        for (const each of gone) await messages.remove(each, signal).catch(() => undefined);
      },
      leave: stop,
    };
  };
}

import type { ChatCallback } from '../../ports/chat-message.ts';
import type { Clarification, Clarifier } from '../../ports/clarifier.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { Base } from './base.ts';
import type { Place } from './rooms.ts';
import { plain } from './talk.ts';

/** The open question of one place, put to one person. */
export interface Questions {
  /** Asks in this place; `user` gives who is asked when it is asked. */
  clarifierFor(place: Place, user: () => number | undefined): Clarifier;
  /** Takes a text as the answer. False: nothing is asked of this person here. */
  offer(place: Place, user: number, text: string): boolean;
  isFor(data: string): boolean;
  press(callback: ChatCallback): Promise<void>;
}

interface Open {
  readonly id: string;
  readonly user: number;
  answer(text: string): void;
}

const DATA = /^clarify:([0-9a-f]{16}):(yes|no)$/;
const ID_BYTES = 8;
const NONE = { kind: 'unanswered', reason: 'ended' } as const;

const placeKey = ({ chatId, topicId }: Place): string => `${chatId}/${topicId ?? ''}`;

export function createQuestions({ bot, talk, clock, ids, signal: ending }: Base): Questions {
  const open = new Map<string, Open>();

  const waitFor = async (place: Place, user: number, id: string, timeoutMs: number, signal: AbortSignal): Promise<Clarification> => {
    const came = Promise.withResolvers<Clarification>();
    const stopTimer = clock.after(timeoutMs, () => came.resolve({ kind: 'unanswered', reason: 'timeout' }));
    const cancel = (): void => came.reject(new CancelledError());
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    open.set(placeKey(place), {
      id,
      user,
      answer: (text) => came.resolve(text === '' ? { kind: 'unanswered', reason: 'empty' } : { kind: 'answered', text }),
    });
    try {
      return await came.promise;
    } finally {
      open.delete(placeKey(place));
      stopTimer();
      signal.removeEventListener('abort', cancel);
    }
  };

  return {
    clarifierFor(place, user) {
      let last: Promise<unknown> = Promise.resolve();
      const ask: Clarifier['ask'] = async ({ text, timeoutMs }, signal) => {
        const asked = user();
        if (signal.aborted) throw new CancelledError();
        if (asked === undefined) return NONE;
        const id = ids.hex(ID_BYTES);
        const keyboard = [
          [
            { text: 'Yes', data: `clarify:${id}:yes` },
            { text: 'No', data: `clarify:${id}:no` },
          ],
        ];
        const waiting = waitFor(place, asked, id, timeoutMs, signal);
        waiting.catch(() => {});
        const question = `❓ ${text}`;
        const sent = await talk.post(place, plain(question), { keyboard });
        if (sent === undefined) return NONE;
        const ref = { chatId: sent.place.chatId, messageId: sent.messageId };
        try {
          const came = await waiting;
          const end = came.kind === 'answered' ? '✔️ answered' : '⌛ no answer came';
          void talk.change(ref, plain(`${question}\n\n${end}`));
          return came;
        } catch (error) {
          void talk.change(ref, plain(`${question}\n\n⏹️ not needed any more`));
          throw error;
        }
      };
      return {
        ask(question, signal) {
          const mine = last.then(() => ask(question, signal));
          last = mine.catch(() => {});
          return mine;
        },
      };
    },
    offer(place, user, text) {
      const waiting = open.get(placeKey(place));
      if (waiting === undefined || waiting.user !== user) return false;
      waiting.answer(text.trim());
      return true;
    },
    isFor: (data) => DATA.test(data),
    async press({ id: callbackId, data, from }) {
      const [, id, word] = DATA.exec(data) ?? [];
      const waiting = [...open.values()].find((each) => each.id === id);
      const isYours = waiting?.user === from.id;
      if (isYours) waiting?.answer(word === 'yes' ? 'yes' : 'no');
      const toast = isYours
        ? `Answered: ${word}`
        : waiting === undefined
          ? '⌛ The question is over.'
          : '⛔ The question is not yours to answer.';
      await bot.messages.answerCallback(callbackId, toast, ending).catch(() => {});
    },
  };
}

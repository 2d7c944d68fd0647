import { ChatError } from '../../ports/chat.ts';
import type { Delivery, DeliveryTarget } from '../../ports/schedule.ts';
import { DeliveryFault, type Sender } from '../schedule/scheduler.ts';
import type { Base } from './base.ts';
import type { Place } from './rooms.ts';
import { appendDelivered } from './sessions.ts';

/** What no second attempt changes. */
const FINAL = new Set(['chat_forbidden', 'chat_not_found', 'chat_unauthorized']);
const MAX_PARTIAL = 1_000;

/** The chat of a delivery: its own, else the configured one. */
export function chatOf(chatId: string | undefined, { telegram }: Pick<Base['config'], 'telegram'>): number | undefined {
  const id = Number(chatId ?? telegram.default_chat_id ?? Number.NaN);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** Where results of a target go; undefined: nowhere. */
export function placeOfTarget(target: DeliveryTarget | undefined, config: Pick<Base['config'], 'telegram'>): Place | undefined {
  const { chatId, topicId } = target?.kind === 'telegram' ? target : {};
  const id = chatOf(chatId, config);
  return id === undefined ? undefined : { chatId: id, ...(topicId !== undefined && { topicId }) };
}

/** How a result is labelled in the conversation. */
export const labelOf = (jobName: string): string => `[scheduled task "${jobName}" ran]`;

function faultOf(error: unknown): DeliveryFault {
  if (!(error instanceof ChatError))
    return new DeliveryFault(error instanceof Error ? error.message : String(error), { retry: true, cause: error });
  return new DeliveryFault(error.message, {
    retry: !FINAL.has(error.code),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    cause: error,
  });
}

export interface DeliveryParts {
  /** Absent: there is nothing that could be under way. */
  whenIdle?(place: Place, work: () => Promise<void>): void;
}

/** Sends results of scheduled runs to chats, and adds them to the conversations there. */
export function deliverySender(base: Base, { whenIdle }: DeliveryParts): Sender {
  /** Messages that are through, of results that broke off: what arrived is not sent again. */
  const through = new Map<number, number>();

  const send = async (delivery: Delivery, place: Place): Promise<void> => {
    const repeat = delivery.maybeRepeat ? '🔁 This may have come before.\n\n' : '';
    const head = `🗓 **${delivery.jobName.replaceAll(/[*_`[\]\\]/g, '\\$&')}**\n\n`;
    try {
      await base.talk.deliver(place, `${head}${repeat}${delivery.text}`, {
        done: through.get(delivery.id) ?? 0,
        onSent: (count) => through.set(delivery.id, count),
      });
      through.delete(delivery.id);
    } catch (error) {
      if (through.size > MAX_PARTIAL) through.clear();
      throw faultOf(error);
    }
  };

  return async (delivery, signal) => {
    const { target, jobName, text, maybeRepeat } = delivery;
    const place = placeOfTarget(target, base.config);
    if (place === undefined) throw new DeliveryFault('telegram.default_chat_id is not set, and the job names no chat', { retry: true });
    await send(delivery, place);
    const turn = { label: labelOf(jobName), text, maybeRepeat };
    if (await appendDelivered(base, place, turn, signal)) return;
    whenIdle?.(place, async () => {
      if (!(await appendDelivered(base, place, turn, base.signal)))
        base.log('warning', `what job ${jobName} delivered is not in the conversation`);
    });
  };
}

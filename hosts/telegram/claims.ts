import type { ChatInbox } from '../../ports/chat-inbox.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel } from '../schedule/scheduler.ts';
import { messageOf } from './base.ts';
import type { Intake } from './intake.ts';

export interface Claims {
  /** Takes what waits in the inbox. */
  wake(): void;
  /** Takes nothing more; resolves when what is in hand was handed on, after 5 s at most. */
  stop(): Promise<void>;
}

/** Updates that are handled at the same time; those whose run goes on are not among them. */
const MAX_AT_ONCE = 32;
const LOOK_MS = 15_000;
const STOP_MS = 5_000;

/** Hands update after update to whoever handles it, off the poll. */
export function createClaims(
  inbox: ChatInbox,
  intake: Intake,
  { clock, log }: { readonly clock: Clock; log(level: LogLevel, text: string): void },
): Claims {
  const inHand = new Set<Promise<void>>();
  let isOver = false;
  let isTaking = false;
  let again = false;
  let stopTimer = (): void => {};

  const take = async (): Promise<void> => {
    while (!isOver && inHand.size < MAX_AT_ONCE) {
      const claim = await inbox.claim();
      if (claim === undefined) return;
      const handling: Promise<void> = intake.handle(claim).finally(() => {
        inHand.delete(handling);
        wake();
      });
      inHand.add(handling);
    }
  };

  const wake = (): void => {
    again = true;
    if (isTaking || isOver) return;
    isTaking = true;
    const taking = async (): Promise<void> => {
      while (again && !isOver) {
        again = false;
        await take();
      }
    };
    void taking()
      .catch((error: unknown) => log('error', `the inbox could not be read: ${messageOf(error)}`))
      .finally(() => {
        isTaking = false;
      });
  };

  // What another process left behind is found without an update.
  const look = (): void => {
    wake();
    stopTimer = clock.after(LOOK_MS, look);
  };
  look();
  return {
    wake,
    async stop() {
      isOver = true;
      stopTimer();
      const late = Promise.withResolvers<void>();
      const stopWait = clock.after(STOP_MS, late.resolve);
      await Promise.race([Promise.all(inHand), late.promise]);
      stopWait();
    },
  };
}

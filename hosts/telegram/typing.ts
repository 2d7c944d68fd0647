import type { Base } from './base.ts';
import type { Place } from './rooms.ts';

const EVERY_MS = 4_000;
const MAX_FAILURES = 3;

/** Shows that the bot is at work until the returned function is called; gives up after three failures in a row. */
export function typing({ bot, clock, signal }: Pick<Base, 'bot' | 'clock' | 'signal'>, place: Place): () => void {
  let failures = 0;
  let over = false;
  let stopTimer = (): void => {};
  const show = (): void => {
    if (over || signal.aborted || failures >= MAX_FAILURES) return;
    bot.messages.action(place, 'typing', signal).then(
      () => {
        failures = 0;
      },
      () => {
        failures += 1;
      },
    );
    stopTimer = clock.after(EVERY_MS, show);
  };
  show();
  return () => {
    over = true;
    stopTimer();
  };
}

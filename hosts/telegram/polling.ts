import type { ChatBot, ChatUpdate } from '../../ports/chat.ts';
import { type ChatInbox, INBOX_LIMITS } from '../../ports/chat-inbox.ts';
import type { Clock } from '../../ports/clock.ts';
import { hasCode } from '../../ports/errors.ts';
import type { LogLevel } from '../schedule/scheduler.ts';
import { messageOf } from './base.ts';

export interface PollParts {
  readonly bot: Pick<ChatBot, 'feed'>;
  readonly inbox: ChatInbox;
  readonly clock: Clock;
  /** Ends the poll. */
  readonly signal: AbortSignal;
  readonly settings: {
    /** First wait after a poll that failed; it doubles up to 60 times that. */
    readonly intervalMs: number;
    readonly timeoutSeconds: number;
    /** Messages that are older when they come are skipped. */
    readonly oldestMs: number;
  };
  log(level: LogLevel, text: string): void;
  onState(state: 'starting' | 'ok' | 'conflict'): void;
  onRecorded(): void;
  onSkipped(updates: readonly ChatUpdate[]): void;
}

const MAX_GROWTH = 60;
const FULL_WAIT_MS = 1_000;
const CONFLICT =
  'another instance polls with the same token, or a webhook is set: end the other one, or delete the webhook. This one tries again';

/**
 * Polls until `signal` fires; then resolves. What comes is in the inbox before the next poll tells the service that it was
 * taken. Another poller is waited for and told; rejects only for a token that is not valid any more.
 */
export async function poll({ bot, inbox, clock, signal, settings, log, onState, onRecorded, onSkipped }: PollParts): Promise<void> {
  let failures = 0;
  let isConflict = false;

  const pollOnce = async (): Promise<void> => {
    const { offset, waiting } = await inbox.stand(clock.now());
    if (waiting >= INBOX_LIMITS.waiting) return clock.sleep(FULL_WAIT_MS, signal);
    const updates = await bot.feed.poll({ offset, timeoutSeconds: settings.timeoutSeconds }, signal);
    failures = 0;
    isConflict = false;
    onState('ok');
    if (updates.length === 0) return;
    const now = clock.now();
    const { recorded, skipped } = await inbox.record(updates, { now, oldest: now - settings.oldestMs });
    if (recorded > 0) onRecorded();
    if (skipped.length > 0) onSkipped(skipped);
  };

  const pause = async (error: unknown): Promise<void> => {
    if (hasCode(error, 'chat_unauthorized')) throw error;
    const wasConflict = isConflict;
    isConflict = hasCode(error, 'chat_conflict');
    if (isConflict) onState('conflict');
    const wait = settings.intervalMs * Math.min(MAX_GROWTH, 2 ** failures);
    failures += 1;
    if (isConflict && !wasConflict) log('error', CONFLICT);
    if (!isConflict) log('warning', `the poll failed: ${messageOf(error)}; next one in ${Math.round(wait / 1000)} s`);
    await clock.sleep(wait, signal);
  };

  while (!signal.aborted) {
    try {
      await pollOnce();
    } catch (error) {
      if (signal.aborted) return;
      await pause(error).catch((failure: unknown) => {
        if (!signal.aborted) throw failure;
      });
    }
  }
}

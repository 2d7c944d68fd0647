import { type ChatBot, ChatError, type ChatUpdate } from '../../ports/chat.ts';
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
  onState(state: 'ok' | 'conflict' | 'unreachable'): void;
  onRecorded(): void;
  onSkipped(updates: readonly ChatUpdate[]): void;
}

const MAX_GROWTH = 60;
/** Beyond a long poll that simply waits, polls that fail for so long are no hiccup. */
const UNREACHABLE_MS = 90_000;
const FULL_WAIT_MS = 1_000;
/** Beyond the time of a poll: the one of an instance that just ended may be open as long. */
const WINDOW_GRACE_MS = 5_000;
/** The longest wait that the service can ask for. */
const MAX_ASKED_MS = 3_600_000;
const CONFLICT =
  'another instance polls with the same token, or a webhook is set: end the other one, or delete the webhook. This one asks again now and then';

/**
 * Polls until `signal` fires; then resolves. What comes is in the inbox before the next poll tells the service that it was
 * taken. Another poller is waited for, and told when it is there longer than one that just ended could be; from then on this
 * one asks seldom, so that it is no trouble. Rejects only for a token that is not valid any more.
 */
export async function poll({ bot, inbox, clock, signal, settings, log, onState, onRecorded, onSkipped }: PollParts): Promise<void> {
  const { intervalMs, timeoutSeconds, oldestMs } = settings;
  const longest = intervalMs * MAX_GROWTH;
  let failures = 0;
  /** Since when another one polls, on the monotonic clock. */
  let rivalSince: number | undefined;
  let isTold = false;
  /** When a poll last succeeded, on the monotonic clock. */
  let succeededAt = clock.monotonic();
  let isFirst = true;

  const pollOnce = async (): Promise<void> => {
    const { offset, waiting } = await inbox.stand(clock.now());
    if (waiting >= INBOX_LIMITS.waiting) return clock.sleep(FULL_WAIT_MS, signal);
    // The first one only asks whether all is well.
    const updates = await bot.feed.poll({ offset, timeoutSeconds: isFirst ? 0 : timeoutSeconds }, signal);
    if (updates.length > 0) {
      const now = clock.now();
      const { recorded, skipped } = await inbox.record(updates, { now, oldest: now - oldestMs });
      if (recorded > 0) onRecorded();
      if (skipped.length > 0) onSkipped(skipped);
    }
    if (isTold) log('info', 'the other instance is gone');
    failures = 0;
    rivalSince = undefined;
    isTold = false;
    isFirst = false;
    succeededAt = clock.monotonic();
    onState('ok');
  };

  /** How long to wait for the other poller to end. */
  const besideRival = (wait: number): number => {
    isFirst = false;
    rivalSince ??= clock.monotonic();
    if (clock.monotonic() - rivalSince < timeoutSeconds * 1000 + WINDOW_GRACE_MS) return wait;
    if (!isTold) {
      isTold = true;
      onState('conflict');
      log('error', CONFLICT);
    }
    return longest;
  };

  const pause = async (error: unknown): Promise<void> => {
    if (hasCode(error, 'chat_unauthorized')) throw error;
    const asked = error instanceof ChatError ? Math.min(error.retryAfterMs ?? 0, MAX_ASKED_MS) : 0;
    const backOff = Math.min(longest, intervalMs * 2 ** failures);
    failures = Math.min(failures + 1, MAX_GROWTH);
    const isRival = hasCode(error, 'chat_conflict');
    const wait = isRival ? besideRival(backOff) : Math.max(backOff, asked);
    if (!isRival && clock.monotonic() - succeededAt >= UNREACHABLE_MS) onState('unreachable');
    if (!isRival) log('warning', `the poll failed: ${messageOf(error)}; next one in ${Math.round(wait / 1000)} s`);
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

import { afterEach, describe, expect, it } from 'vitest';
import { type PollParts, poll } from '../../../hosts/telegram/polling.ts';
import { ChatError, type ChatUpdate } from '../../../ports/chat.ts';
import { type ChatInbox, INBOX_LIMITS } from '../../../ports/chat-inbox.ts';
import { type TelegramSeat, telegramSeat } from '../../adapters/telegram/seat.ts';
import { update } from '../../contracts/chat-inbox.suite.ts';
import { createFakeInboxes } from '../../fakes/chat-inbox.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { badGateway, tooManyRequests } from '../../fakes/telegram/server.ts';

const SETTINGS = { intervalMs: 1_000, timeoutSeconds: 30, oldestMs: 600_000 };
const conflict = (): ChatError => new ChatError('chat_conflict', 'terminated by other getUpdates request');

type Feed = PollParts['bot']['feed'];

/** A poll over a feed that a script plays, on a clock that stands still. */
function scripted(script: (count: number, offset: number) => readonly ChatUpdate[] | Error) {
  const clock = createManualClock(Date.UTC(2026, 5, 1, 12));
  const over = new AbortController();
  const inbox = createFakeInboxes()('here');
  const polls: { readonly at: number; readonly offset: number; readonly timeoutSeconds: number }[] = [];
  const states: string[] = [];
  const logs: string[] = [];
  const feed: Pick<Feed, 'poll'> = {
    async poll({ offset, timeoutSeconds }, signal) {
      polls.push({ at: Math.round(clock.monotonic() / 1000), offset, timeoutSeconds });
      const found = script(polls.length, offset);
      if (found instanceof Error) throw found;
      if (found.length === 0 && timeoutSeconds > 0) await clock.sleep(timeoutSeconds * 1000, signal);
      return found;
    },
  };
  const parts: PollParts = {
    bot: { feed: feed as Feed },
    inbox,
    clock,
    signal: over.signal,
    settings: SETTINGS,
    log: (level, text) => void logs.push(`${level}: ${text}`),
    onState: (state) => void states.push(state),
    onRecorded: () => undefined,
    onSkipped: () => undefined,
  };
  return { clock, over, inbox, polls, states, logs, parts };
}

describe('the poll', () => {
  it('tells the service that an update was taken only after it is in the inbox', async () => {
    const all = [update(10), update(11)];
    const { clock, over, inbox, polls, parts } = scripted((_, offset) => all.filter(({ id }) => id >= offset));
    let isFull = true;
    const failing: ChatInbox = {
      ...inbox,
      record: (...args) => (isFull ? Promise.reject(new Error('the disk is full')) : inbox.record(...args)),
    };
    const done = poll({ ...parts, inbox: failing });
    await clock.advance(2_500);
    expect(polls.map(({ offset }) => offset)).toEqual([0, 0]);
    isFull = false;
    await clock.advance(3_000);
    expect(polls.map(({ offset }) => offset)).toEqual([0, 0, 0, 12]);
    expect((await inbox.stand(clock.now())).waiting).toBe(2);
    over.abort();
    await done;
  });

  it('waits twice as long after each failure, up to 60 times the interval, or as long as the service asks', async () => {
    const { clock, over, polls, parts } = scripted((count) =>
      count === 9
        ? new ChatError('chat_rate_limited', 'Too Many Requests', { retryAfterMs: 198_000 })
        : new ChatError('chat_service', 'Bad Gateway'),
    );
    const done = poll(parts);
    await clock.advance(600_000);
    expect(polls.slice(0, 11).map(({ at }) => at)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 381, 441]);
    over.abort();
    await done;
  });

  it('waits for the long poll of an instance that just ended, and says nothing of it', async () => {
    const { clock, over, states, logs, parts } = scripted((count) => (count <= 4 ? conflict() : []));
    const done = poll(parts);
    await clock.advance(60_000);
    expect(states).toEqual(['ok']);
    expect(logs).toEqual([]);
    over.abort();
    await done;
  });

  it('says that another instance polls when it stays, asks seldom from then on, and goes on when it is gone', async () => {
    let isThere = true;
    const { clock, over, polls, states, logs, parts } = scripted(() => (isThere ? conflict() : []));
    const done = poll(parts);
    await clock.advance(80_000);
    expect(states).toEqual(['conflict']);
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatch(/^error: another instance/);
    const before = polls.length;
    await clock.advance(600_000);
    expect(polls.length - before).toBeLessThanOrEqual(10);
    isThere = false;
    await clock.advance(100_000);
    expect(states[1]).toBe('ok');
    over.abort();
    await done;
  });

  it('says that the service cannot be reached when polls fail for more than a minute and a half, and takes it back', async () => {
    let isDown = true;
    const { clock, over, states, parts } = scripted(() => (isDown ? new ChatError('chat_network', 'the connection failed') : []));
    const done = poll(parts);
    await clock.advance(80_000);
    expect(states).toEqual([]);
    await clock.advance(80_000);
    expect(states[0]).toBe('unreachable');
    isDown = false;
    await clock.advance(100_000);
    expect(states.at(-1)).toBe('ok');
    isDown = true;
    await clock.advance(45_000);
    expect(states.at(-1)).toBe('ok');
    over.abort();
    await done;
  });

  it('ends for a token that is not valid any more', async () => {
    const { parts } = scripted(() => new ChatError('chat_unauthorized', 'Unauthorized'));
    await expect(poll(parts)).rejects.toMatchObject({ code: 'chat_unauthorized' });
  });

  it('does not ask while the inbox is full', async () => {
    const { clock, over, inbox, polls, parts } = scripted(() => []);
    await inbox.record(
      Array.from({ length: INBOX_LIMITS.waiting }, (_, index) => update(index + 1, clock.now())),
      { now: clock.now(), oldest: 0 },
    );
    const done = poll(parts);
    await clock.advance(10_000);
    expect(polls).toEqual([]);
    const claim = await inbox.claim();
    if (claim !== undefined) await inbox.finish(claim);
    await clock.advance(2_000);
    expect(polls[0]?.offset).toBe(INBOX_LIMITS.waiting + 1);
    over.abort();
    await done;
  });
});

describe('the poll of a real server', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function polling(seat: TelegramSeat, inbox: ChatInbox, settings = SETTINGS) {
    const over = new AbortController();
    const states: string[] = [];
    const skipped: ChatUpdate[] = [];
    const clock = {
      ...createManualClock(),
      now: () => Date.now(),
      sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 5))),
    };
    const done = poll({
      bot: seat.bot,
      inbox,
      clock,
      signal: over.signal,
      settings,
      log: () => undefined,
      onState: (state) => void states.push(state),
      onRecorded: () => undefined,
      onSkipped: (updates) => void skipped.push(...updates),
    });
    const stop = async (): Promise<void> => {
      over.abort();
      await done;
    };
    ends.push(stop);
    return { stop, states, skipped };
  }

  async function seated(): Promise<TelegramSeat> {
    const seat = await telegramSeat();
    ends.push(seat.close);
    return seat;
  }

  const waiting = async (inbox: ChatInbox): Promise<number> => (await inbox.stand(Date.now())).waiting;

  it('handles each update once, over restarts and lost answers', async () => {
    const seat = await seated();
    const { server } = seat;
    const inbox = createFakeInboxes()('here');
    server.fail('getUpdates', { kind: 'drop' }, badGateway, tooManyRequests(1), { kind: 'garbage' });
    for (const text of ['one', 'two', 'three']) server.say({ chatId: 5, text });
    const first = await polling(seat, inbox);
    await server.until(() => server.pending() === 0 && server.callsOf('getUpdates').length > 5);
    await first.stop();
    server.jumpTo(1_000);
    const again = await polling(seat, inbox);
    server.say({ chatId: 5, text: 'one' });
    await server.until(() => again.states.length > 0);
    server.jumpTo(2_000);
    server.say({ chatId: 5, text: 'four' });
    await server.until(() => server.pending() === 0);
    const texts: string[] = [];
    for (let claim = await inbox.claim(); claim !== undefined; claim = await inbox.claim()) {
      await inbox.finish(claim);
      if (claim.update.kind === 'message') texts.push(claim.update.message.text);
    }
    expect(texts).toEqual(['one', 'two', 'three', 'four']);
    await again.stop();
  });

  it('passes over a backlog of 100 old messages and tells it', async () => {
    const seat = await seated();
    const inbox = createFakeInboxes()('here');
    const yesterday = Math.floor(Date.now() / 1000) - 20 * 3600;
    for (let count = 0; count < 100; count += 1) seat.server.say({ chatId: 5, text: `old ${count}`, date: yesterday });
    seat.server.say({ chatId: 5, text: 'new' });
    const { skipped } = await polling(seat, inbox);
    await seat.server.until(() => seat.server.pending() === 0);
    expect(skipped).toHaveLength(100);
    expect(await waiting(inbox)).toBe(1);
  });

  it('tells a rival and a webhook from other failures, and ends its long poll at once', async () => {
    const seat = await seated();
    const { server } = seat;
    const { stop, states } = await polling(seat, createFakeInboxes()('here'));
    await server.until(() => server.callsOf('getUpdates').some(({ params }) => params.timeout === 30));
    expect(states).toEqual(['ok']);
    const before = performance.now();
    await stop();
    expect(performance.now() - before).toBeLessThan(1_000);
    server.setWebhook('https://example.com/');
    await expect(seat.bot.feed.poll({ offset: 0, timeoutSeconds: 0 }, new AbortController().signal)).rejects.toMatchObject({
      code: 'chat_conflict',
      message: expect.stringContaining('webhook'),
    });
  });
});

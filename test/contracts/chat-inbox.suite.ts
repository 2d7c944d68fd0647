import assert from 'node:assert/strict';
import type { ChatUpdate } from '../../ports/chat.ts';
import { type ChatInbox, INBOX_LIMITS, type InboxClaim } from '../../ports/chat-inbox.ts';
import { hasCode } from '../../ports/errors.ts';
import type { ContractSuite } from './suite.ts';

/** One inbox seen by three processes: this one, another that lives, and one that is dead whatever it claims. */
export interface InboxPlace {
  readonly here: ChatInbox;
  readonly there: ChatInbox;
  readonly dead: ChatInbox;
  close(): Promise<void>;
}

export interface ChatInboxHarness {
  place(): Promise<InboxPlace>;
}

const NOON = Date.UTC(2026, 5, 1, 12);
const DAY = 86_400_000;

export function update(id: number, at = NOON, text = `number ${id}`): ChatUpdate {
  const message = { id, chat: { id: 5, kind: 'private', isForum: false }, at, text, entities: [] } as const;
  return { id, kind: 'message', message, edited: false };
}

const rules = (now = NOON) => ({ now, oldest: now - 600_000 });
const idOf = (claim: InboxClaim | undefined): number | undefined => claim?.update.id;
const lost = (promise: Promise<void>): Promise<void> => assert.rejects(promise, (error) => hasCode(error, 'inbox_claim_lost'));

async function ended(inbox: ChatInbox): Promise<InboxClaim> {
  const claim = await inbox.claim();
  assert.ok(claim, 'there is one to claim');
  await inbox.begin(claim);
  await inbox.finish(claim);
  return claim;
}

async function inPlace(harness: ChatInboxHarness, test: (place: InboxPlace) => Promise<void>): Promise<void> {
  const place = await harness.place();
  try {
    await test(place);
  } finally {
    await place.close();
  }
}

/** The contract of {@link ChatInbox}. */
export const chatInboxSuite: ContractSuite<ChatInboxHarness> = {
  port: 'ChatInbox',
  cases: [
    {
      id: 'chat-inbox/record',
      sentence: 'What `record` stored is there for every process once its promise resolved, together with the offset that follows it',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          assert.deepEqual(await there.stand(NOON), { offset: 0, waiting: 0, handling: 0 });
          assert.deepEqual(await here.record([update(11), update(10)], rules()), { recorded: 2, skipped: [] });
          assert.deepEqual(await there.stand(NOON), { offset: 12, waiting: 2, handling: 0 });
          const claim = await there.claim();
          assert.deepEqual(claim?.update, update(10));
          assert.equal(claim.recordedAt, NOON);
        }),
    },
    {
      id: 'chat-inbox/once',
      sentence: 'An update that was recorded before is not recorded again, also after a restart and after it was finished',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.record([update(10), update(11)], rules());
          await ended(here);
          assert.deepEqual(await there.record([update(10), update(11), update(12)], rules(NOON + 1000)), { recorded: 1, skipped: [] });
          assert.equal(idOf(await ended(there)), 11);
          assert.equal(idOf(await ended(there)), 12);
          assert.equal(await there.claim(), undefined);
        }),
    },
    {
      id: 'chat-inbox/anew',
      sentence: 'Ids that begin anew, lower or higher, after a week without updates are recorded as new ones',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          await here.record([update(900_000)], rules());
          await ended(here);
          const week = NOON + 8 * DAY;
          assert.equal((await here.stand(week)).offset, 0, 'the old offset would drop lower ids');
          assert.equal((await here.record([update(500, week), update(501, week)], rules(week))).recorded, 2);
          assert.equal((await here.stand(week)).offset, 502);
          assert.equal(idOf(await ended(here)), 500);
          assert.equal(idOf(await ended(here)), 501);
          const later = week + 8 * DAY;
          assert.equal((await here.record([update(800_000_000, later)], rules(later))).recorded, 1);
          assert.equal((await here.record([update(501, week)], rules(later))).recorded, 0);
        }),
    },
    {
      id: 'chat-inbox/skip',
      sentence: '`record` skips a message that is older than `oldest` and tells it; `claim` never gives it',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          const old = update(10, NOON - 3_600_000);
          assert.deepEqual(await here.record([old, update(11)], rules()), { recorded: 1, skipped: [old] });
          assert.equal(idOf(await ended(here)), 11);
          assert.equal(await here.claim(), undefined);
          assert.deepEqual(await here.record([old], rules()), { recorded: 0, skipped: [] }, 'told once');
        }),
    },
    {
      id: 'chat-inbox/claim',
      sentence: '`claim` gives the oldest update that waits, to one process at a time; undefined when there is none',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.record([update(10), update(11), update(12)], rules());
          const claims = await Promise.all([here.claim(), there.claim(), here.claim(), there.claim()]);
          assert.deepEqual(claims.map(idOf).sort(), [10, 11, 12, undefined]);
          assert.equal(idOf(claims[0]), 10);
        }),
    },
    {
      id: 'chat-inbox/not-begun',
      sentence: 'An update that was claimed and not begun waits again when its process died',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          await here.record([update(10)], rules());
          assert.equal(idOf(await dead.claim()), 10);
          const claim = await here.claim();
          assert.equal(idOf(claim), 10);
          assert.equal(claim?.interrupted, false);
        }),
    },
    {
      id: 'chat-inbox/interrupted',
      sentence: 'An update that was begun comes back when its process died, as `interrupted`, and never as a new one',
      run: (harness) =>
        inPlace(harness, async ({ here, there, dead }) => {
          await here.record([update(10), update(11)], rules());
          const begun = await dead.claim();
          assert.ok(begun);
          await dead.begin(begun);
          const back = await here.claim();
          assert.equal(idOf(back), 10);
          assert.equal(back?.interrupted, true);
          assert.equal(idOf(await there.claim()), 11, 'to one process');
          await here.finish(back);
          assert.equal(await there.claim(), undefined);
        }),
    },
    {
      id: 'chat-inbox/lost',
      sentence:
        '`finish` ends an update for good; `begin` and `finish` of a claim that is not this process’s any more reject with `inbox_claim_lost`',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          await here.record([update(10)], rules());
          const old = await dead.claim();
          assert.ok(old);
          const mine = await here.claim();
          assert.ok(mine);
          await lost(dead.begin(old));
          await lost(dead.finish(old));
          await here.begin(mine);
          await here.finish(mine);
          await lost(here.finish(mine));
          assert.equal(await here.claim(), undefined);
        }),
    },
    {
      id: 'chat-inbox/bound',
      sentence: 'Ended updates are forgotten when 10,000 newer ones are there; one that waits is never pruned',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          const ancient = update(2, NOON - DAY);
          await here.record([update(1), ancient], rules());
          const many = Array.from({ length: INBOX_LIMITS.kept + 100 }, (_, index) => update(index + 10, NOON - DAY));
          await here.record(many, rules());
          await here.record([update(90_000, NOON - DAY)], rules());
          const later = NOON + 8 * DAY;
          assert.equal((await here.record([many.at(-1) ?? ancient], rules(later))).skipped.length, 0, 'a newer one is known');
          assert.equal((await here.record([ancient], rules(later))).skipped.length, 1, 'the first one is forgotten');
          assert.equal(idOf(await ended(here)), 1);
        }),
    },
    {
      id: 'chat-inbox/stand',
      sentence: '`stand` counts what waits and what is being handled',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.record([update(10), update(11), update(12)], rules());
          const claim = await here.claim();
          assert.ok(claim);
          assert.deepEqual(await there.stand(NOON), { offset: 13, waiting: 2, handling: 1 });
          await here.begin(claim);
          assert.deepEqual(await there.stand(NOON), { offset: 13, waiting: 2, handling: 1 });
          await here.finish(claim);
          assert.deepEqual(await there.stand(NOON), { offset: 13, waiting: 2, handling: 0 });
        }),
    },
  ],
};

import assert from 'node:assert/strict';
import type { Delivery } from '../../ports/schedule.ts';
import { claimed, inPlace, MINUTE, NOON, refused, type ScheduleHarness, type ScheduleParts } from './schedule-store.suite.ts';
import type { ContractSuite } from './suite.ts';

/** Puts three rows into the outbox: `log`, `telegram`, `log`. */
async function filled(parts: ScheduleParts): Promise<void> {
  const claim = await claimed(parts);
  const deliveries = [
    { target: { kind: 'log' } as const, text: 'first' },
    { target: { kind: 'telegram', chatId: '42' } as const, text: 'second' },
    { target: { kind: 'log' } as const, text: 'third' },
  ];
  await parts.fires.finish(claim, { state: 'ran', deliveries }, NOON);
}

async function taken(parts: ScheduleParts, now = NOON): Promise<Delivery> {
  const delivery = await parts.outbox.take(['log'], now);
  assert.ok(delivery, 'nothing was given');
  return delivery;
}

/** The contract of {@link DeliveryOutbox}. */
export const deliveryOutboxSuite: ContractSuite<ScheduleHarness> = {
  port: 'DeliveryOutbox',
  cases: [
    {
      id: 'delivery-outbox/take',
      sentence: '`take` gives the oldest row of these kinds that is due, to one process at a time, and counts the attempt',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await filled(here);
          const first = await taken(here);
          assert.deepEqual([first.text, first.attempts, first.maybeRepeat, first.state], ['first', 1, false, 'sending']);
          assert.equal((await taken(there)).text, 'third');
          assert.equal(await here.outbox.take(['log', 'file'], NOON), undefined);
          assert.equal((await there.outbox.take(['telegram'], NOON))?.text, 'second');
        }),
    },
    {
      id: 'delivery-outbox/job',
      sentence: '`take` with a job gives only rows of that',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          await filled(here);
          const [row] = await here.outbox.list(1);
          assert.equal(await here.outbox.take(['log'], NOON, 'jb-ffffffff'), undefined);
          assert.equal((await here.outbox.take(['log'], NOON, row?.jobId))?.text, 'first');
        }),
    },
    {
      id: 'delivery-outbox/died',
      sentence: 'a row whose process died while sending comes back once for each kill, with `maybeRepeat`',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          await filled(here);
          const lost = await taken(dead);
          const again = await taken(here);
          assert.deepEqual([again.id, again.maybeRepeat, again.attempts], [lost.id, true, 2]);
          assert.equal((await taken(here)).text, 'third');
          assert.equal(await here.outbox.take(['log'], NOON), undefined);
        }),
    },
    {
      id: 'delivery-outbox/settled',
      sentence: '`settle` as `sent` ends it; as `failed` with `retryAt` it comes back then, and without it never',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          await filled(here);
          const first = await taken(here);
          await here.outbox.settle(first, { state: 'failed', error: 'the host is away', retryAt: NOON + MINUTE }, NOON);
          const third = await taken(here);
          assert.equal(third.text, 'third');
          await here.outbox.settle(third, { state: 'failed', error: 'no such chat' }, NOON);
          assert.equal(await here.outbox.take(['log'], NOON + MINUTE - 1), undefined);
          const again = await taken(here, NOON + MINUTE);
          assert.deepEqual([again.id, again.lastError, again.maybeRepeat], [first.id, 'the host is away', false]);
          await here.outbox.settle(again, { state: 'sent' }, NOON + MINUTE);
          assert.equal(await here.outbox.take(['log'], NOON + 60 * MINUTE), undefined);
        }),
    },
    {
      id: 'delivery-outbox/lost',
      sentence: '`settle` of a row that another process has taken since rejects with `claim_lost`',
      run: (harness) =>
        inPlace(harness, async ({ here, dead }) => {
          await filled(here);
          const lost = await taken(dead);
          const again = await taken(here);
          await refused(dead.outbox.settle(lost, { state: 'sent' }, NOON), 'claim_lost');
          await here.outbox.settle(again, { state: 'sent' }, NOON);
          await refused(here.outbox.settle(again, { state: 'failed', error: 'late' }, NOON), 'claim_lost');
        }),
    },
    {
      id: 'delivery-outbox/list',
      sentence: 'nothing is lost: `list` shows every row until it is pruned, newest first',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await filled(here);
          const first = await taken(here);
          await here.outbox.settle(first, { state: 'failed', error: 'no such file' }, NOON);
          const shown = (await there.outbox.list(9)).map(({ text, state, lastError }) => [text, state, lastError]);
          assert.deepEqual(shown, [
            ['third', 'pending', undefined],
            ['second', 'pending', undefined],
            ['first', 'failed', 'no such file'],
          ]);
          assert.equal((await there.outbox.list(1)).length, 1);
        }),
    },
  ],
};

import type { DeliveryOutbox } from '../../ports/schedule.ts';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import type { ScheduleHarness } from './schedule-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (
  name: string,
  caughtBy: string,
  fault: (outbox: DeliveryOutbox) => Partial<DeliveryOutbox>,
): BrokenAdapter<ScheduleHarness> => ({
  name,
  caughtBy: `delivery-outbox/${caughtBy}`,
  harness: sqliteSchedules((parts) => ({ ...parts, outbox: { ...parts.outbox, ...fault(parts.outbox) } })),
});

/** Outboxes that each break one sentence. */
export const brokenDeliveryOutboxes: readonly BrokenAdapter<ScheduleHarness>[] = [
  broken('gives rows of every kind', 'take', (outbox) => ({ take: (_kinds, now) => outbox.take(['log', 'telegram', 'file'], now) })),
  broken('gives rows of every job', 'job', (outbox) => ({ take: (kinds, now) => outbox.take(kinds, now) })),
  broken('sends a repeat as if it were none', 'died', (outbox) => ({
    async take(kinds, now) {
      const delivery = await outbox.take(kinds, now);
      return delivery && { ...delivery, maybeRepeat: false };
    },
  })),
  broken('gives up at the first failure', 'settled', (outbox) => ({
    settle: (delivery, end, now) => outbox.settle(delivery, end.state === 'failed' ? { state: 'failed', error: end.error } : end, now),
  })),
  broken('passes over a lost row', 'lost', (outbox) => ({
    settle: (delivery, end, now) => outbox.settle(delivery, end, now).catch(() => {}),
  })),
  broken('hides what failed', 'list', (outbox) => ({
    list: async (limit) => (await outbox.list(limit)).filter((each) => each.state !== 'failed'),
  })),
];

import { describe, expect, it } from 'vitest';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import { brokenDeliveryOutboxes } from './delivery-outbox.broken.ts';
import { deliveryOutboxSuite } from './delivery-outbox.suite.ts';

describe('the database keeps the contract of a delivery outbox', () => {
  for (const { id, sentence, run } of deliveryOutboxSuite.cases) it(`${id}: ${sentence}`, () => run(sqliteSchedules()));
});

describe('the suite of a delivery outbox', () => {
  it.each(brokenDeliveryOutboxes)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = deliveryOutboxSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

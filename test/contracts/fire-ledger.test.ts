import { describe, expect, it } from 'vitest';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import { brokenFireLedgers } from './fire-ledger.broken.ts';
import { fireLedgerSuite } from './fire-ledger.suite.ts';

describe('the database keeps the contract of a fire ledger', () => {
  for (const { id, sentence, run } of fireLedgerSuite.cases) it(`${id}: ${sentence}`, () => run(sqliteSchedules()));
});

describe('the suite of a fire ledger', () => {
  it.each(brokenFireLedgers)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = fireLedgerSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});

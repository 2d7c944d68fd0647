import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { openCommandReceipts } from '../../adapters/store/command-receipts.ts';
import { openDatabase } from '../../adapters/store/database.ts';
import { ownIdentity } from '../../adapters/store/process-identity.ts';
import { brokenCommandReceipts, memoryReceiptsHarness } from './command-receipts.broken.ts';
import { type CommandReceiptsHarness, commandReceiptsSuite } from './command-receipts.suite.ts';

/** No process has it: it is over the largest number that the system gives. */
const GONE = { pid: 999_999_999, start: '' };

const onDisk: CommandReceiptsHarness = {
  async make() {
    const folder = await mkdtemp(join(tmpdir(), 'odek-receipts-'));
    const clock = createSystemClock();
    const open = () => openDatabase({ path: join(folder, 'odek.db'), durability: 'process', clock });
    const [mine, theirs] = [await open(), await open()];
    return {
      receipts: openCommandReceipts(mine, ownIdentity(), clock),
      // The process that started this one outlives it.
      other: openCommandReceipts(theirs, { pid: process.ppid, start: '' }, clock),
      dead: openCommandReceipts(theirs, GONE, clock),
      async close() {
        mine.close();
        theirs.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

for (const [name, harness] of Object.entries({ 'those in the database': onDisk, 'those in memory': memoryReceiptsHarness() })) {
  describe(`${name} keep the contract of command receipts`, () => {
    for (const { id, sentence, run } of commandReceiptsSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of command receipts', () => {
  it.each(brokenCommandReceipts)('rejects those that: $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = commandReceiptsSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has broken receipts for each of its cases', () => {
    const caught = new Set(brokenCommandReceipts.map(({ caughtBy }) => caughtBy));
    expect(commandReceiptsSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});

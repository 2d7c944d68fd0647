import assert from 'node:assert/strict';
import type { CommandReceipts } from '../../ports/command-receipt.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

export interface CommandReceiptsPlace {
  readonly receipts: CommandReceipts;
  /** The same receipts as another process that lives sees them. */
  readonly other: CommandReceipts;
  /** The same receipts in the hands of a process that is gone. */
  readonly dead: CommandReceipts;
  close(): Promise<void>;
}

export interface CommandReceiptsHarness {
  make(): Promise<CommandReceiptsPlace>;
}

const MAX_RECENT = 100;

function command(operationKey: string, thread = 't1') {
  return { thread, operationKey, requestHash: 'a'.repeat(64), name: 'greet', origin: 'extension:hello' } as const;
}

function over(id: string, sentence: string, test: (place: CommandReceiptsPlace) => Promise<void>): ContractCase<CommandReceiptsHarness> {
  return {
    id: `command-receipts/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link CommandReceipts}. */
export const commandReceiptsSuite: ContractSuite<CommandReceiptsHarness> = {
  port: 'CommandReceipts',
  cases: [
    over('once', 'one `begin` of a key is `claimed`, and every other one gets what is there', async ({ receipts, other }) => {
      const begun = await Promise.all([receipts, other, receipts, other].map((each) => each.begin(command('k'))));
      assert.equal(begun.filter((each) => each === 'claimed').length, 1);
      const rest = begun.filter((each) => each !== 'claimed');
      for (const each of rest) assert.deepEqual({ ...each, createdAt: 0 }, { ...command('k'), state: 'running', text: '', createdAt: 0 });
      await receipts.settle('t1', 'k', { state: 'success', text: 'done' });
      const again = await other.begin(command('k'));
      assert.ok(again !== 'claimed' && again.state === 'success' && again.text === 'done');
    }),
    over('found', 'what was recorded is found again, also by another process', async ({ receipts, other }) => {
      assert.equal(await receipts.find('t1', 'k'), undefined);
      await receipts.begin(command('k'));
      assert.equal((await other.find('t1', 'k'))?.settledAt, undefined);
      await receipts.settle('t1', 'k', { state: 'submitted', text: 'beside', turn: 'turn-1' });
      for (const each of [receipts, other]) {
        const found = await each.find('t1', 'k');
        assert.ok(found?.settledAt !== undefined && found.settledAt >= found.createdAt);
        const { createdAt, settledAt, ...rest } = found;
        assert.deepEqual(rest, { ...command('k'), state: 'submitted', text: 'beside', turn: 'turn-1', lost: false });
      }
    }),
    over('settled', 'only a command that runs is settled; one that has ended stays as it was', async ({ receipts, other }) => {
      assert.equal(await receipts.settle('t1', 'k', { state: 'success', text: 'never begun' }), false);
      assert.equal(await receipts.find('t1', 'k'), undefined);
      await receipts.begin(command('k'));
      assert.equal(await receipts.settle('t1', 'k', { state: 'cancelled', text: 'first' }), true);
      assert.equal(await other.settle('t1', 'k', { state: 'success', text: 'second', turn: 'turn-1' }), false);
      for (const each of [receipts, other]) {
        const found = await each.find('t1', 'k');
        assert.deepEqual([found?.state, found?.text, found?.turn], ['cancelled', 'first', undefined]);
      }
    }),
    over('apart', 'a key of one thread is unknown in another', async ({ receipts }) => {
      await receipts.begin(command('k'));
      assert.equal(await receipts.find('t2', 'k'), undefined);
      assert.equal(await receipts.begin(command('k', 't2')), 'claimed');
      await receipts.settle('t2', 'k', { state: 'error', text: 'no' });
      assert.equal((await receipts.find('t1', 'k'))?.state, 'running');
      assert.deepEqual(await receipts.recent('t1'), []);
    }),
    over('lost', 'a command whose process is gone is `lost` while it runs, and one of a live process is not', async (place) => {
      const { receipts, other, dead } = place;
      await dead.begin(command('dead'));
      await other.begin(command('alive'));
      assert.equal((await receipts.find('t1', 'dead'))?.lost, true);
      assert.equal((await receipts.find('t1', 'alive'))?.lost, false);
      assert.equal(await receipts.settle('t1', 'dead', { state: 'uncertain', text: '' }), true);
      assert.equal((await receipts.find('t1', 'dead'))?.lost, false);
    }),
    over('recent', '`recent` gives what ended without a turn, the newest first, at most 100', async ({ receipts }) => {
      await receipts.begin(command('running'));
      await receipts.begin(command('turn'));
      await receipts.settle('t1', 'turn', { state: 'submitted', text: '', turn: 'turn-1' });
      const keys = Array.from({ length: MAX_RECENT + 2 }, (_, at) => `k-${at}`);
      for (const key of keys) {
        await receipts.begin(command(key));
        await receipts.settle('t1', key, { state: 'success', text: key });
      }
      const recent = await receipts.recent('t1');
      assert.deepEqual(
        recent.map(({ operationKey }) => operationKey),
        keys.toReversed().slice(0, MAX_RECENT),
      );
    }),
  ],
};

import type { CommandReceipts } from '../../ports/command-receipt.ts';
import { createFakeReceipts } from '../fakes/command-receipts.ts';
import type { CommandReceiptsHarness } from './command-receipts.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: CommandReceipts) => Partial<CommandReceipts>;

/** Receipts in memory, with or without a fault. */
export function memoryReceiptsHarness(fault: Fault = () => ({})): CommandReceiptsHarness {
  return {
    async make() {
      const open = createFakeReceipts((owner) => owner === 'dead');
      const as = (owner: string): CommandReceipts => ({ ...open(owner), ...fault(open(owner)) });
      return { receipts: as('a'), other: as('b'), dead: as('dead'), close: async () => {} };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault): BrokenAdapter<CommandReceiptsHarness> => ({
  name,
  caughtBy: `command-receipts/${caughtBy}`,
  harness: memoryReceiptsHarness(fault),
});

/** Receipts that each break one sentence. */
export const brokenCommandReceipts: readonly BrokenAdapter<CommandReceiptsHarness>[] = [
  broken('lets everybody run a command', 'once', (plain) => ({
    begin: async (command) => {
      await plain.begin(command);
      return 'claimed';
    },
  })),
  broken('forgets the turn', 'found', (plain) => ({
    settle: (thread, key, { state, text }) => plain.settle(thread, key, { state, text }),
  })),
  broken('lets the last one win', 'settled', (plain) => {
    const last = new Map<string, Parameters<CommandReceipts['settle']>[2]>();
    return {
      async settle(thread, key, outcome) {
        last.set(key, outcome);
        return plain.settle(thread, key, outcome);
      },
      async find(thread, key) {
        const found = await plain.find(thread, key);
        return found && { ...found, ...last.get(key) };
      },
    };
  }),
  broken('records an end without a beginning', 'settled', (plain) => ({
    settle: async (...given) => (await plain.settle(...given)) || true,
  })),
  broken('has one shelf for all threads', 'apart', (plain) => ({
    begin: (command) => plain.begin({ ...command, thread: 'all' }),
    settle: (_thread, key, outcome) => plain.settle('all', key, outcome),
    find: (_thread, key) => plain.find('all', key),
    recent: () => plain.recent('all'),
  })),
  broken('takes everybody for alive', 'lost', (plain) => ({
    async find(thread, key) {
      const found = await plain.find(thread, key);
      return found && { ...found, lost: false };
    },
  })),
  broken('takes whatever runs for lost', 'lost', (plain) => ({
    async find(thread, key) {
      const found = await plain.find(thread, key);
      return found && { ...found, lost: found.state === 'running' };
    },
  })),
  broken('begins with the oldest', 'recent', (plain) => ({ recent: async (thread) => [...(await plain.recent(thread))].reverse() })),
  broken('has no bound', 'recent', (plain) => {
    const ended: string[] = [];
    return {
      async settle(thread, key, outcome) {
        if (outcome.turn === undefined) ended.unshift(key);
        return plain.settle(thread, key, outcome);
      },
      recent: async (thread) =>
        (await Promise.all(ended.map((key) => plain.find(thread, key))))
          .filter((each) => each !== undefined)
          .map(({ lost: _, ...rest }) => rest),
    };
  }),
];

import type { CommandReceipt, CommandReceipts } from '../../ports/command-receipt.ts';

const RECENT = 100;

/** Receipts in memory that several processes share. `isGone` says whose process is dead. */
export function createFakeReceipts(isGone: (owner: string) => boolean = () => false): (owner: string) => CommandReceipts {
  const kept = new Map<string, { receipt: CommandReceipt; readonly owner: string }>();
  let now = 0;
  const keyOf = (thread: string, operationKey: string): string => JSON.stringify([thread, operationKey]);
  return (owner) => ({
    async begin(command) {
      const key = keyOf(command.thread, command.operationKey);
      const there = kept.get(key);
      if (there !== undefined) return there.receipt;
      now += 1;
      kept.set(key, { receipt: { ...command, state: 'running', text: '', createdAt: now }, owner });
      return 'claimed';
    },
    async settle(thread, operationKey, outcome) {
      const there = kept.get(keyOf(thread, operationKey));
      if (there?.receipt.state !== 'running') return false;
      now += 1;
      there.receipt = { ...there.receipt, ...outcome, settledAt: now };
      return true;
    },
    async find(thread, operationKey) {
      const there = kept.get(keyOf(thread, operationKey));
      return there && { ...there.receipt, lost: there.receipt.state === 'running' && isGone(there.owner) };
    },
    recent: async (thread) =>
      [...kept.values()]
        .map(({ receipt }) => receipt)
        .filter((each) => each.thread === thread && each.state !== 'running' && each.turn === undefined)
        .reverse()
        .slice(0, RECENT),
  });
}

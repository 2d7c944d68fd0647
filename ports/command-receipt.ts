/** How a command of a client stands. Everything but `running` is final. */
export type CommandState = 'running' | 'success' | 'error' | 'submitted' | 'cancelled' | 'uncertain';

/** A command that a client had run in a thread, under a key that the client chose. */
export interface CommandReceipt {
  readonly thread: string;
  /** 1 to 128 of `[A-Za-z0-9_.:-]`. */
  readonly operationKey: string;
  /** 64 hex digits: of exactly what was asked for. */
  readonly requestHash: string;
  readonly name: string;
  /** `extension:<plugin>`. */
  readonly origin: string;
  readonly state: CommandState;
  /** What it gave, shown to people; empty while it runs. At most 64 KiB. */
  readonly text: string;
  /** The turn that a submitted prompt began. */
  readonly turn?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly settledAt?: number;
}

export interface CommandOutcome {
  readonly state: Exclude<CommandState, 'running'>;
  readonly text: string;
  readonly turn?: string;
}

/**
 * What is known of the commands of clients, over restarts.
 *
 * Contract (the `command-receipts` suite):
 * - One `begin` of a key is `claimed`, whoever asks and at the same time; every other one gets what is there.
 * - What was recorded is found again, also by another process later; what was not is undefined.
 * - Only a command that runs is settled; one that has ended stays as it was.
 * - A key of one thread is unknown in another.
 * - A command whose process is gone is `lost` while it runs, and one of a live process is not.
 * - `recent` gives what ended without a turn, the newest first, at most 100.
 */
export interface CommandReceipts {
  /** Claims the key for this process, or gives what is there under it already. Only who claimed it may run the command. */
  begin(command: Pick<CommandReceipt, 'thread' | 'operationKey' | 'requestHash' | 'name' | 'origin'>): Promise<CommandReceipt | 'claimed'>;
  /** Ends a command that runs. False: it has ended already, and stays as it was. */
  settle(thread: string, operationKey: string, outcome: CommandOutcome): Promise<boolean>;
  /** `lost`: it runs no more, because its process is gone. */
  find(thread: string, operationKey: string): Promise<(CommandReceipt & { readonly lost: boolean }) | undefined>;
  /** Commands that ended without a turn, the newest first, at most 100. */
  recent(thread: string): Promise<readonly CommandReceipt[]>;
}

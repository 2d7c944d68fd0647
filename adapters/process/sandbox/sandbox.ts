import { OdekError } from '../../../ports/errors.ts';
import type { Confinement } from '../../../ports/process.ts';
import type { Launcher } from '../launcher.ts';

export interface SandboxOptions {
  /** The variables of odek's own process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the working directory. */
  readonly workspace: string;
  /** Absolute path of odek's state folder; never to be seen from inside. */
  readonly stateDir: string;
  /** Absolute path of the user's home folder; absent where there is none. */
  readonly home: string | undefined;
  /** Whether commands reach a network. */
  readonly network: boolean;
  /** Whether the working directory cannot be written. */
  readonly readonly: boolean;
  /** Whether it is kept in the state folder what has been seen to run, and not tried again until the machine is started anew. */
  readonly remember?: boolean;
  /** Memory for data, in bytes. */
  readonly memoryBytes?: number;
}

/** A launcher that keeps commands apart from the machine. */
export interface Sandbox extends Launcher {
  readonly confinement: Confinement;
  /** Gives back what it made on the machine. Idempotent. */
  close(): Promise<void>;
}

/** Code `sandbox_unavailable`: why, and what to do about it. */
export class SandboxUnavailable extends OdekError {
  readonly advice: string;

  constructor(why: string, advice: string) {
    super('sandbox_unavailable', why);
    this.advice = advice;
  }
}

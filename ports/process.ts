/** A command run to its end. */
export interface ProcessSpec {
  /** Run by `sh -c`. */
  readonly command: string;
  readonly cwd: string;
  /** Added to the adapter's clean environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed. Absent: standard input is empty. */
  readonly stdin?: string;
  /** Bytes kept of each stream; the rest is read and thrown away. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export interface ProcessResult {
  /** Absent when a signal ended the process. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** Ended because `timeoutMs` passed. */
  readonly timedOut: boolean;
  /** True: the command ended and had started processes that still ran; they were ended too. */
  readonly leftovers?: boolean;
  readonly durationMs: number;
}

/** What keeps commands apart from the machine. */
export interface Confinement {
  readonly backend: 'bwrap' | 'docker';
  /** Whether commands reach a network. */
  readonly network: boolean;
  /** Whether the working directory cannot be written. */
  readonly readonly: boolean;
  /** Where commands find the working directory. */
  readonly workspace: string;
}

/**
 * Child processes.
 *
 * Contract:
 * - The child gets an allow-listed environment: no variable with a secret-looking name, whatever the parent has.
 * - The child leads its own process group; on cancel and on time-out the whole group is killed.
 * - What the command leaves running when it ends is ended with it, as far as the system tells what that is, and `leftovers` says so.
 * - Output is read continuously, so a full pipe never blocks the child, and kept up to `maxBytes` a stream.
 * - A result comes at most 3 s after the child itself ended, even if a grandchild keeps a pipe open.
 * - When `signal` fires, `run` rejects with `CancelledError` after the group is gone.
 * - A command that cannot be started rejects with `OdekError` of code `spawn_failed`.
 */
export interface ProcessRunner {
  /** Absent: commands run as odek itself does. */
  readonly confinement?: Confinement;
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>;
}

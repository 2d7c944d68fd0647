import type { Confinement } from '../../ports/process.ts';

/** A script of ours and the command line that it gets as `$1`. */
export interface LaunchRequest {
  readonly script: string;
  readonly command: string;
  /** Absolute path on this machine. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What is spawned for a request. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends what does not end with the process that is spawned. */
  kill?(): void;
}

/** How a script gets to run: as it is, or inside a sandbox. */
export interface Launcher {
  readonly confinement?: Confinement;
  /** False: descriptors beyond standard error do not reach the script. */
  readonly passesDescriptors: boolean;
  /** Told when what it launched did not get to run the script. */
  failed?(): void;
  /** Throws `OdekError` `spawn_failed`. */
  launch(request: LaunchRequest, signal?: AbortSignal): Promise<Launch>;
}

/** Runs scripts by the `sh` of the search path, without anything in between. */
export const PLAIN: Launcher = {
  passesDescriptors: true,
  launch: async ({ script, command, cwd, env }) => ({ file: 'sh', args: ['-c', script, 'sh', command], cwd, env }),
};

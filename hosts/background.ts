import type { Sandbox } from '../adapters/process/sandbox/sandbox.ts';
import { createJobDesk, type JobDesk } from '../core/jobs/desk.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import { PLUGIN_NAMES, type PluginName } from '../plugins/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Hash } from '../ports/hash.ts';
import type { Ids } from '../ports/ids.ts';
import type { ResolvedConfig } from './config/types.ts';
import type { HostEnvironment } from './environment.ts';

const NEEDED: readonly PluginName[] = ['shell', 'background'];

/** Whether a host has background jobs: the operator wants them, and both ways to run a command are offered. */
export function hasJobs(config: Pick<ResolvedConfig, 'background' | 'tools'>, builtIns: readonly PluginName[] = PLUGIN_NAMES): boolean {
  const { enabled, disabled } = config.tools;
  const isOffered = (tool: string): boolean => (enabled === undefined || enabled.includes(tool)) && !disabled.includes(tool);
  const isThere = NEEDED.every((name) => builtIns.includes(name));
  return config.background.enabled && isThere && isOffered('shell') && isOffered('bg_start');
}

/** The jobs of a host. What an odek that was killed left running is ended first. */
export async function openJobDesk(
  { config, env }: HostEnvironment,
  {
    sandbox,
    ...parts
  }: {
    readonly sandbox: Sandbox | undefined;
    readonly redactor: Redactor;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly hash: Hash;
  },
): Promise<JobDesk> {
  const { createJobRunner } = await import('../adapters/process/jobs.ts');
  const { max_jobs, max_output_bytes, max_timeout_seconds, notify } = config.background;
  return createJobDesk({
    ...parts,
    runner: createJobRunner({ environment: env, recordsFolder: config.state.jobsFolder, ...(sandbox && { launcher: sandbox }) }),
    maxJobs: max_jobs,
    maxOutputBytes: max_output_bytes,
    ...(max_timeout_seconds > 0 && { maxTimeoutMs: max_timeout_seconds * 1000 }),
    notify: notify === 'observe',
  });
}

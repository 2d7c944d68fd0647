import { resolve } from 'node:path';
import { type Composed, compose } from '../compose.ts';
import { loadConfig } from '../config/load.ts';
import { selectProvider } from '../config/select.ts';
import type { LoadedConfig, ProviderSelection, ResolvedConfig } from '../config/types.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import { isPlanning } from '../planning.ts';
import type { HostPolicy } from '../policy.ts';
import { buildSystemPrompt } from '../system-prompt.ts';
import type { CommandContext, FlagValue } from './command.ts';
import { sanitise } from './render/sanitise.ts';

/** A flag that names a file, as an absolute path. */
function fileFlag(context: CommandContext, name: string): string | undefined {
  const value = context.args.flags[name];
  return typeof value === 'string' ? resolve(context.cwd, value) : undefined;
}

/** Writes lines for a person to standard error. */
export function warner(context: CommandContext): (text: string) => void {
  return (text) => {
    context.io.stderr.write(`odek: ${sanitise(text)}\n`);
  };
}

/** The configuration with its warnings told. `extra` flags stand below those that were given. */
export async function loadTold(context: CommandContext, extra: Readonly<Record<string, FlagValue>> = {}): Promise<ResolvedConfig> {
  return told(context, await loadConfig({ env: context.env, cwd: context.cwd, flags: { ...extra, ...context.args.flags } }));
}

/** The same for a command that asks no model: it has no word about the endpoint. */
export async function loadToldWithoutModel(context: CommandContext): Promise<ResolvedConfig> {
  return told(context, await loadConfig({ env: context.env, cwd: context.cwd, flags: context.args.flags, usesModel: false }));
}

function told(context: CommandContext, { config, warnings }: LoadedConfig): ResolvedConfig {
  context.io.mask?.(config.secrets);
  const warn = warner(context);
  for (const warning of warnings) warn(warning);
  return config;
}

/** With `--replay` no endpoint is needed: the recording stands in for it. */
function selectionFor(config: ResolvedConfig, replayFile: string | undefined): ProviderSelection {
  if (replayFile === undefined) return selectProvider(config);
  return { id: 'replay', include_reasoning: true, model: config.model ?? 'replay' };
}

/** Everything a command of the terminal needs to know before it composes. */
export async function hostEnvironment(context: CommandContext, config: ResolvedConfig, surface: string): Promise<HostEnvironment> {
  const replayFile = fileFlag(context, 'replay');
  const recordFile = fileFlag(context, 'record');
  const eventFile = fileFlag(context, 'events-jsonl');
  return {
    config,
    selection: selectionFor(config, replayFile),
    env: context.env,
    workspace: context.cwd,
    systemPrompt: await buildSystemPrompt(
      config,
      { workspace: context.cwd, surface, now: Date.now(), planning: isPlanning(config) },
      warner(context),
    ),
    dataDirOf: (plugin) => resolve(config.state.home, 'plugins', plugin, 'data'),
    eventsIncludeArgs: context.args.flags['events-include-args'] === true,
    ...(eventFile !== undefined && { eventFile }),
    ...(recordFile !== undefined && { recordFile }),
    ...(replayFile !== undefined && { replayFile }),
  };
}

/** Composes and always closes, whatever `work` does. */
export async function withHost<Result>(
  policy: HostPolicy,
  environment: HostEnvironment,
  edges: Edges,
  work: (composed: Composed) => Promise<Result>,
): Promise<Result> {
  const composed = await compose(policy, environment, edges);
  try {
    return await work(composed);
  } finally {
    await composed.close();
  }
}

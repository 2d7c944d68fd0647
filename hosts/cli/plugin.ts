import { ConfigError } from '../../ports/errors.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel, warner } from './host.ts';
import { runPluginAction } from './plugin/actions.ts';
import { type LivePlugins, openPluginWork } from './plugin/work.ts';
import type { CommandResult } from './repl/commands.ts';

/** `odek plugin …`: other people's plugins, from the copy to the switch. Nothing of a plugin runs here. */
export async function run(context: CommandContext): Promise<number> {
  const { args, io } = context;
  if (args.flags.replace === true && args.positionals[0] !== 'install') {
    throw new ConfigError('unknown_flag', '--replace goes with odek plugin install', { value: 'replace' });
  }
  const work = openPluginWork({
    config: await loadToldWithoutModel(context),
    cwd: context.cwd,
    env: context.env,
    how: 'odek plugin',
    isPerson: io.stdinIsTty && io.stderrIsTty,
    json: args.flags.json === true,
    replace: args.flags.replace === true,
    out: (line) => void io.stdout.write(`${line}\n`),
    warn: warner(context),
  });
  return runPluginAction(args.positionals, work);
}

export interface SlashOptions {
  readonly config: Pick<ResolvedConfig, 'extension_host' | 'plugins' | 'state'>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person types at a terminal; else the lines come from a pipe. */
  readonly isPerson: boolean;
  /** Absent where nothing of a plugin runs. */
  readonly live?: LivePlugins;
}

/** `/plugin …` of the repl: the same actions with the same words. */
export async function runSlashPlugin(
  rest: string,
  print: (line: string) => void,
  { config, cwd, env, isPerson, live }: SlashOptions,
): Promise<CommandResult> {
  const words = wordsOf(rest);
  const replace = words.includes('--replace');
  const work = openPluginWork({
    ...{ config, cwd, env, isPerson, replace, out: print, warn: print },
    how: '/plugin',
    ...(live && { live }),
  });
  const code = await runPluginAction(
    words.filter((word) => word !== '--replace'),
    work,
  );
  if (code !== EXIT.ok) print(`/plugin ${words[0] ?? ''} found something wrong`);
  return 'stay';
}

/** Words with spaces between; one in quotes keeps its spaces. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

import type { CommandContext, CommandModule, TerminalIo } from './command.ts';

const VERSION = new Set(['version', '--version', '-v']);

/**
 * Runs one command line and returns its exit code. Never throws: an error becomes a message on stderr
 * and a code (DECISIONS 6). Set `ODEK_DEBUG` to see where an unexpected error came from.
 */
export async function main(
  argv: readonly string[],
  io: TerminalIo = processIo(),
  env: Readonly<Record<string, string | undefined>> = process.env,
  cwd?: string,
): Promise<number> {
  // The version is asked for by scripts, often: it loads nothing but itself.
  const [name, ...rest] = argv;
  if (name !== undefined && VERSION.has(name) && rest.length === 0) return (await import('./version.ts')).run({ io });
  const masked = (await import('./masked-io.ts')).maskedIo(io, env);
  try {
    return await dispatch(argv, { io: masked, env, cwd: cwd ?? (await workingDirectory()) });
  } catch (error) {
    const { exitCodeOfError } = await import('./exit-codes.ts');
    masked.stderr.write(await errorText(error, env));
    return exitCodeOfError(error);
  }
}

async function workingDirectory(): Promise<string> {
  try {
    return process.cwd();
  } catch (cause) {
    const { ConfigError } = await import('../../ports/errors.ts');
    throw new ConfigError('no_working_directory', 'the working directory is gone; change to a folder that exists', { cause });
  }
}

async function dispatch(argv: readonly string[], { io, env, cwd }: Omit<CommandContext, 'args'>): Promise<number> {
  const [name, ...rest] = argv;
  const [{ COMMANDS }, { parseArgs }, help] = await Promise.all([import('./commands.ts'), import('./args.ts'), import('./help.ts')]);
  if (name === undefined || name === '--help' || name === '-h') {
    io.stdout.write(help.overview(COMMANDS, io.columns));
    return 0;
  }
  const spec = help.findCommand(COMMANDS, name);
  const parsed = parseArgs(name, spec, rest);
  if (parsed.help) {
    io.stdout.write(help.commandHelp(spec, io.columns));
    return 0;
  }
  const command: CommandModule = await spec.load();
  return command.run({ args: parsed.args, io, env, cwd });
}

async function errorText(error: unknown, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const [{ isOdekError }, { sanitise }] = await Promise.all([import('../../ports/errors.ts'), import('./render/sanitise.ts')]);
  // A message may quote what a server, a file or a name of a folder says.
  const message = sanitise(error instanceof Error ? error.message : String(error));
  if (isOdekError(error)) return `odek: ${message}\n`;
  const trace = env.ODEK_DEBUG === undefined || !(error instanceof Error) ? '' : `${error.stack}\n`;
  return `odek: unexpected error: ${message}\n${trace}`;
}

/** The streams of this process. A reader that goes away (`odek … | head`) ends the writing, not the program. */
function processIo(): TerminalIo {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  }
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    stdoutIsTty: process.stdout.isTTY === true,
    stderrIsTty: process.stderr.isTTY === true,
    stdinIsTty: process.stdin.isTTY === true,
    columns: process.stdout.columns ?? process.stderr.columns ?? 80,
  };
}

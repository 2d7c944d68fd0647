import { ConfigError } from '../../ports/errors.ts';
import { numberText } from './args.ts';
import type { CommandModule, CommandSpec, CommandTable, FlagSpec } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { suggestion } from './nearest.ts';

/** `odek help [command]` over a table of commands. */
export function helpCommand(commands: CommandTable): CommandModule {
  return {
    run: async ({ args, io }) => {
      const [name] = args.positionals;
      io.stdout.write(name === undefined ? overview(commands, io.columns) : commandHelp(findCommand(commands, name), io.columns));
      return EXIT.ok;
    },
  };
}

/** The row of a command. Throws `ConfigError` `unknown_command`, which names the nearest. */
export function findCommand(commands: CommandTable, name: string): CommandSpec {
  const spec = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (spec !== undefined) return spec;
  const near = suggestion(name, Object.keys(commands), (match) => `odek ${match}`);
  throw new ConfigError('unknown_command', `unknown command "${name.slice(0, 80)}"${near}\nodek help lists the commands`, { value: name });
}

/** What `odek` alone prints. */
export function overview(commands: CommandTable, columns: number): string {
  const rows = Object.entries(commands).map(([name, spec]): Row => [name, spec.summary]);
  return [
    'odek runs a language model in a loop with tools, inside budgets, and keeps a journal of every step.',
    '',
    'usage: odek <command> [flags] [arguments]',
    '',
    ...table(rows, columns),
    '',
    'odek help <command> explains one. Exit codes: 0 done, 1 failed, 3 usage or set-up, 4 budget used up, 130 cancelled.',
    '',
  ].join('\n');
}

/** What `odek <command> --help` prints. */
export function commandHelp(spec: CommandSpec, columns: number): string {
  const positionals = spec.positionals.map((positional): Row => [`<${positional.name}>`, positional.summary]);
  const flags = [...spec.flags.map((flag): Row => [flagText(flag), flagNotes(flag)]), ['-h, --help', 'Show this.'] as const];
  return [
    spec.summary,
    '',
    `usage: odek ${spec.usage}`,
    ...(positionals.length === 0 ? [] : ['', ...table(positionals, columns)]),
    '',
    'flags:',
    ...table(flags, columns),
    '',
  ].join('\n');
}

/** A flag as it is written: `-f, --force`, `--[no-]stream`, `--model <id>`. */
export function flagText(flag: FlagSpec): string {
  const name = flag.negatable === true ? `--[no-]${flag.name}` : `--${flag.name}`;
  const value = flag.kind === 'boolean' ? '' : ` <${flag.placeholder ?? 'value'}>`;
  return `${flag.short === undefined ? '' : `-${flag.short}, `}${name}${value}`;
}

/** The summary, and what the value may be. */
export function flagNotes(flag: FlagSpec): string {
  const notes: string[] = [];
  if (flag.choices !== undefined) notes.push(flag.choices.filter((choice) => choice !== '').join(', '));
  if (flag.kind === 'number' && (flag.min !== undefined || flag.max !== undefined)) notes.push(numberText(flag));
  if (flag.kind === 'list' && !flag.summary.includes('repeated')) notes.push('may be repeated');
  return notes.length === 0 ? flag.summary : `${flag.summary} (${notes.join('; ')})`;
}

type Row = readonly [left: string, right: string];

function table(rows: readonly Row[], columns: number): string[] {
  const left = Math.min(34, Math.max(...rows.map(([name]) => name.length)));
  const width = Math.max(24, Math.min(columns, 120) - left - 5);
  return rows.flatMap(([name, text]) => {
    const [first = '', ...rest] = wrap(text, width);
    const indent = ' '.repeat(left + 4);
    const head = name.length <= left ? [`  ${name.padEnd(left)}  ${first}`] : [`  ${name}`, `${indent}${first}`];
    return [...head, ...rest.map((line) => `${indent}${line}`)];
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

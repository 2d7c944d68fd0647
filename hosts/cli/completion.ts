import { spellings } from './args.ts';
import type { CommandModule, CommandSpec, CommandTable, FlagSpec } from './command.ts';
import { EXIT } from './exit-codes.ts';

type Rows = readonly (readonly [name: string, spec: CommandSpec])[];

/** `odek completion bash|zsh|fish`: a script that knows the whole command table and needs no odek at run time. */
export function completionCommand(commands: CommandTable): CommandModule {
  return {
    run: async ({ args, io }) => {
      io.stdout.write(completionScript(args.positionals[0] as keyof typeof SHELLS, commands));
      return EXIT.ok;
    },
  };
}

export function completionScript(shell: keyof typeof SHELLS, commands: CommandTable): string {
  return SHELLS[shell](Object.entries(commands));
}

const SHELLS = { bash, zsh, fish } as const;

/** Words that the first argument of a command may be. */
function firstWords(name: string, spec: CommandSpec, rows: Rows): readonly string[] {
  if (name === 'help') return rows.map(([command]) => command);
  const [positional] = spec.positionals;
  return positional?.choices ?? positional?.suggests ?? [];
}

function takesValue(flag: FlagSpec): boolean {
  return flag.kind !== 'boolean';
}

function choicesOf(flag: FlagSpec): readonly string[] {
  return (flag.choices ?? []).filter((choice) => choice !== '');
}

function bash(rows: Rows): string {
  const cases = rows.map(([name, spec]) => {
    const values = spec.flags.filter(takesValue).map((flag) => `        --${flag.name}) ${bashValue(flag)} ;;`);
    return [
      `    ${name})`,
      `      case "$prev" in`,
      ...values,
      '      esac',
      `      words=${quote(firstWords(name, spec, rows).join(' '))}`,
      `      flags=${quote([...spellings(spec.flags), '--help', '-h'].join(' '))}`,
      '      ;;',
    ].join('\n');
  });
  return `# bash completion for odek. To use it: source <(odek completion bash)
_odek() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words='' flags='' IFS=$' \\t\\n'
  COMPREPLY=()
  # bash makes a word of its own of the "=" in --flag=value.
  if [ "$cur" = '=' ]; then cur=''; elif [ "$prev" = '=' ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quote([...rows.map(([name]) => name), '--help', '--version'].join(' '))} -- "$cur"))
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -F _odek odek
`;
}

function bashValue(flag: FlagSpec): string {
  if (flag.completes !== undefined) {
    return `IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen ${flag.completes === 'folder' ? '-d' : '-f'} -- "$cur")); return`;
  }
  const choices = choicesOf(flag);
  return choices.length === 0 ? 'return' : `COMPREPLY=($(compgen -W ${quote(choices.join(' '))} -- "$cur")); return`;
}

function zsh(rows: Rows): string {
  const cases = rows.map(([name, spec]) => {
    const words = firstWords(name, spec, rows);
    const first = words.length === 0 ? quote('*:text: ') : quote(`1:${spec.positionals[0]?.name ?? 'word'}:(${words.join(' ')})`);
    const flags = spec.flags.flatMap(zshFlags);
    return [
      `    ${name})`,
      `      _arguments \\`,
      ...[...flags, quote('(- *)--help[Show help.]')].map((part) => `        ${part} \\`),
      `        ${first} ;;`,
    ].join('\n');
  });
  return `#compdef odek
# zsh completion for odek. To use it: source <(odek completion zsh)
_odek() {
  local -a commands
  commands=(
${rows.map(([name, spec]) => `    ${quote(`${name}:${spec.summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_odek" ]; then _odek "$@"; else compdef _odek odek; fi
`;
}

function zshFlags(flag: FlagSpec): readonly string[] {
  const summary = flag.summary.replace(/[[\]\\:]/g, '\\$&');
  const repeat = flag.kind === 'list' ? '*' : '';
  const choices = choicesOf(flag);
  const action =
    flag.completes === undefined
      ? choices.length === 0
        ? ' '
        : `(${choices.join(' ')})`
      : flag.completes === 'folder'
        ? '_files -/'
        : '_files';
  const value = takesValue(flag) ? `:${flag.placeholder ?? 'value'}:${action}` : '';
  const equals = takesValue(flag) ? '=' : '';
  return [
    quote(`${repeat}--${flag.name}${equals}[${summary}]${value}`),
    ...(flag.negatable === true ? [quote(`--no-${flag.name}[Not: ${summary}]`)] : []),
    ...(flag.short === undefined ? [] : [quote(`-${flag.short}[${summary}]${value}`)]),
  ];
}

function fish(rows: Rows): string {
  const lines = ['# fish completion for odek. To use it: odek completion fish | source', 'complete -c odek -f'];
  for (const [name, spec] of rows) {
    lines.push(`complete -c odek -n __fish_use_subcommand -a ${name} -d ${fishQuote(spec.summary)}`);
  }
  for (const [name, spec] of rows) {
    const when = `-n ${fishQuote(`__fish_seen_subcommand_from ${name}`)}`;
    const words = firstWords(name, spec, rows);
    if (words.length > 0) lines.push(`complete -c odek ${when} -a ${fishQuote(words.join(' '))}`);
    for (const flag of spec.flags) lines.push(...fishFlags(flag).map((part) => `complete -c odek ${when} ${part}`));
  }
  return `${lines.join('\n')}\n`;
}

function fishFlags(flag: FlagSpec): readonly string[] {
  const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
  const choices = choicesOf(flag);
  const value = !takesValue(flag)
    ? ''
    : flag.completes !== undefined
      ? ' -r -F'
      : choices.length > 0
        ? ` -x -a ${fishQuote(choices.join(' '))}`
        : ' -x';
  const text = ` -d ${fishQuote(flag.summary)}`;
  return [`-l ${flag.name}${short}${value}${text}`, ...(flag.negatable === true ? [`-l no-${flag.name}${text}`] : [])];
}

/** Single quotes for sh, bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Single quotes for fish, where a backslash and a quote are escaped inside. */
function fishQuote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

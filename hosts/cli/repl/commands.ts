import { nearest } from '../nearest.ts';

/** What a command does with the repl afterwards: a `turn` is given to the model. */
export type CommandResult = 'stay' | 'leave' | { readonly turn: string };

/** One slash command. */
export interface ReplCommand {
  /** One line for `/help`. */
  readonly summary: string;
  /** `rest`: what follows the name, trimmed. `print` writes a line for the person. `signal` fires at Ctrl-C. */
  run(rest: string, print: (line: string) => void, signal: AbortSignal): Promise<CommandResult> | CommandResult;
}

/** By name without the slash. */
export type ReplCommands = Readonly<Record<string, ReplCommand>>;

/** `/exit`, `/quit`, `/help`, and `/info` with what `info` tells. */
export function builtInCommands(all: () => ReplCommands, info: () => readonly string[]): ReplCommands {
  const leave: ReplCommand = { summary: 'leave', run: () => 'leave' };
  return {
    exit: leave,
    quit: leave,
    help: {
      summary: 'list the commands',
      run: (_, print) => {
        const entries = Object.entries(all());
        const width = Math.max(...entries.map(([name]) => name.length));
        for (const [name, command] of entries) print(`/${name.padEnd(width)}  ${command.summary}`);
        print('Alt-Enter or a trailing \\ starts a new line; // at the start sends a text that begins with a slash');
        return 'stay';
      },
    },
    info: {
      summary: 'what this session is and uses',
      run: (_, print) => {
        for (const line of info()) print(line);
        return 'stay';
      },
    },
  };
}

/** What an input asks for. */
export type ReplInput =
  | { readonly kind: 'empty' }
  | { readonly kind: 'turn'; readonly text: string }
  | { readonly kind: 'command'; readonly command: ReplCommand; readonly rest: string }
  | { readonly kind: 'unknown'; readonly message: string };

/** `/name …` is a command; `//…` is a text that begins with one slash; `/a/path …` is a text. */
export function parseInput(input: string, commands: ReplCommands): ReplInput {
  const text = input.trim();
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('//')) return { kind: 'turn', text: text.slice(1) };
  const match = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text);
  const name = match?.[1];
  if (name === undefined) return { kind: 'turn', text };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return { kind: 'command', command, rest: match?.[2] ?? '' };
  const near = nearest(name, Object.keys(commands));
  return { kind: 'unknown', message: `unknown command /${name}${near === undefined ? '' : `; did you mean /${near}?`} (/help lists them)` };
}

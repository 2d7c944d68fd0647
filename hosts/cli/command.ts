/** The three streams of a terminal, and what is known about them. */
export interface TerminalIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: NodeJS.ReadableStream;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly stdinIsTty: boolean;
  /** Width in cells; 80 when unknown. */
  readonly columns: number;
  /** From now on, hides these values, and what has the shape of a secret, in all that is written. Absent: nothing is hidden. */
  mask?(secrets: readonly string[]): void;
}

/** A flag's value: text, number, switch, or all values of a repeatable flag in order. */
export type FlagValue = string | number | boolean | readonly string[];

export interface ParsedArgs {
  readonly command: string;
  /** By flag name without dashes. A flag that was not given is absent. `--no-x` of a switch `x` gives `x: false`. */
  readonly flags: Readonly<Record<string, FlagValue>>;
  readonly positionals: readonly string[];
}

export interface CommandContext {
  readonly args: ParsedArgs;
  readonly io: TerminalIo;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** What a command's file exports. `run` returns the exit code; an `OdekError` it throws is printed by `main`. */
export interface CommandModule {
  run(context: CommandContext): Promise<number>;
}

/** One flag of a command. The parser, help, completion and docs read nothing else. */
export interface FlagSpec {
  /** Long name without dashes. */
  readonly name: string;
  /** One letter, without dash. */
  readonly short?: string;
  readonly kind: 'boolean' | 'string' | 'number' | 'list';
  readonly summary: string;
  /** Shown in help for a flag with a value: `--model <id>`. */
  readonly placeholder?: string;
  /** A switch that also takes `--no-<name>`. */
  readonly negatable?: boolean;
  /** The closed set of values. */
  readonly choices?: readonly string[];
  /** Other accepted spellings of a choice, to the choice they mean. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
  /** What completion offers for the value. */
  readonly completes?: 'file' | 'folder';
  /** The configuration key this flag sets, dotted. */
  readonly key?: string;
}

export interface PositionalSpec {
  readonly name: string;
  readonly summary: string;
  readonly required?: boolean;
  /** Takes all that follow. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** What completion offers; unlike `choices`, other values are fine. */
  readonly suggests?: readonly string[];
}

/** One row of the command table. */
export interface CommandSpec {
  readonly summary: string;
  /** Usage without the leading `odek`. */
  readonly usage: string;
  readonly flags: readonly FlagSpec[];
  readonly positionals: readonly PositionalSpec[];
  load(): Promise<CommandModule>;
}

/** All commands by name. */
export type CommandTable = Readonly<Record<string, CommandSpec>>;

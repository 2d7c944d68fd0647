/** A piece of a word, with its quotes taken off and nothing expanded. */
export type ShellPart =
  | { readonly kind: 'text'; readonly value: string; readonly quoted: boolean }
  /** A pattern that the file system completes. */
  | { readonly kind: 'glob'; readonly value: string }
  | ShellVariable
  | { readonly kind: 'command'; readonly quoted: boolean; readonly script: ShellScript }
  /** A number; `words` are the operands and what is nested in them. */
  | { readonly kind: 'arithmetic'; readonly words: readonly ShellWord[] }
  | { readonly kind: 'process'; readonly direction: 'read' | 'write'; readonly script: ShellScript }
  /** Braces: one word for each option. */
  | { readonly kind: 'choice'; readonly options: readonly (readonly ShellPart[])[] };

export interface ShellVariable {
  readonly kind: 'variable';
  /** As written, without index: `HOME`, `1`, `@`, `arr`. Empty when it is no name at all. */
  readonly name: string;
  readonly quoted: boolean;
  /** `plain` is the value; `default` the value or `words[0]`; `assigned` the same, stored; `indirect` follows the value; `changed` is anything else. */
  readonly form: 'plain' | 'default' | 'assigned' | 'length' | 'indirect' | 'changed';
  readonly words: readonly ShellWord[];
}

export interface ShellWord {
  readonly parts: readonly ShellPart[];
  /** As written. */
  readonly text: string;
}

export interface ShellAssignment {
  readonly name: string;
  readonly append: boolean;
  /** The value; several words for a list. */
  readonly words: readonly ShellWord[];
  /** Words of an index. */
  readonly index: readonly ShellWord[];
  /** `NAME=(…)` or `NAME[…]=`. */
  readonly list: boolean;
}

export type ShellRedirect =
  /** `both` opens for reading and writing. */
  | { readonly kind: 'file'; readonly access: 'read' | 'write' | 'both'; readonly target: ShellWord }
  /** One descriptor becomes a copy of another, or is closed. */
  | { readonly kind: 'descriptor'; readonly target: ShellWord }
  /** Text as standard input. */
  | { readonly kind: 'text'; readonly content: ShellWord };

export interface ShellSimple {
  readonly kind: 'simple';
  readonly assignments: readonly ShellAssignment[];
  /** The program first. Empty when the command only assigns or redirects. */
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
}

export interface ShellPipeline {
  readonly kind: 'pipeline';
  /** Two or more. */
  readonly members: readonly ShellNode[];
}

export interface ShellCompound {
  readonly kind: 'compound';
  /** `branch` bodies may be skipped, `loop` bodies repeated; `subshell` forgets what it sets. */
  readonly form: 'group' | 'subshell' | 'branch' | 'loop' | 'test';
  /** The variable that a `for` sets to each of `words` in turn. */
  readonly variable?: string;
  readonly words: readonly ShellWord[];
  readonly bodies: readonly ShellScript[];
  readonly redirects: readonly ShellRedirect[];
}

export interface ShellFunction {
  readonly kind: 'function';
  readonly name: string;
  readonly body: ShellNode;
}

export type ShellNode = ShellSimple | ShellPipeline | ShellCompound | ShellFunction;

export interface ShellStatement {
  readonly node: ShellNode;
  /** Whether it runs only after the one before succeeded (`&&`) or failed (`||`). */
  readonly when: 'always' | 'success' | 'failure';
  readonly background: boolean;
}

export interface ShellScript {
  readonly statements: readonly ShellStatement[];
}

export interface ShellFault {
  /** `syntax`: not a complete script. `ambiguous`: shells read it differently. `limit`: too long or too deep to read. */
  readonly code: 'syntax' | 'ambiguous' | 'limit';
  readonly message: string;
}

export interface ParsedShell {
  readonly script: ShellScript;
  /** At most 20, also those of nested scripts. With any of them the tree may miss commands. */
  readonly faults: readonly ShellFault[];
}

/** Never throws. Synchronous, and linear in the length of the source up to its bounds. */
export type ShellParser = (source: string) => ParsedShell;

/** UTF-8 bytes of a source that is parsed. */
export const MAX_SHELL_BYTES = 64 * 1024;
/** Levels of commands inside of commands. */
export const MAX_SHELL_DEPTH = 64;

/**
 * The grammar of the shell that runs commands.
 *
 * Contract:
 * - Every command of a source is in the tree, also those in substitutions, here-documents, functions and compound commands.
 * - A word's text has its quotes taken off as the shell would: `r\m`, `'rm'` and `"r"m` are all `rm`.
 * - What is expanded at run time stays an expansion and is never turned into text.
 * - A source that is incomplete, or that shells read differently, has a fault.
 * - A source of more than `MAX_SHELL_BYTES` or nested deeper than `MAX_SHELL_DEPTH` has a fault of code `limit`; nothing is thrown.
 */
export interface ShellGrammar {
  /** Loads the parser at first use. */
  load(): Promise<ShellParser>;
}

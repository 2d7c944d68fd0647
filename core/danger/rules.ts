import type { DangerClass } from '../../ports/approval.ts';

/**
 * What a word means to the program that gets it.
 * `value`: nothing. `read`, `list`, `write`, `delete`: a path. `code`: program text. `line`: a shell
 * command line. `script`: a file that is executed. `sends`: data that leaves the machine.
 * `change`: a path, read and written. `sweep`: a path, read with everything below it. `unpack`: an archive or
 * a patch, whose content is put in its place.
 * `address`: a host or URL. `folder`: the program changes into it.
 */
export type Role =
  | 'value'
  | 'read'
  | 'list'
  | 'write'
  | 'change'
  | 'sweep'
  | 'unpack'
  | 'delete'
  | 'code'
  | 'line'
  | 'script'
  | 'sends'
  | 'address'
  | 'folder';

/** An option: the role of its value, or a class that the bare flag adds, or both (`value+install`). `flag` does nothing. */
export type OptionEffect = Role | `+${DangerClass}` | `${Role}+${DangerClass}` | 'flag';

export type SpecialRule =
  | 'awk'
  | 'cd'
  | 'chmod'
  | 'copy'
  | 'curl'
  | 'dd'
  | 'declare'
  | 'echo'
  | 'eval'
  | 'find'
  | 'git'
  | 'grep'
  | 'jq'
  | 'kubectl'
  | 'lookup'
  | 'ps'
  | 'read'
  | 'rm'
  | 'sed'
  | 'set'
  | 'shell'
  | 'source'
  | 'tar'
  | 'trap'
  | 'unset'
  | 'xargs'
  | 'alias'
  | 'patch'
  | 'printf'
  | 'python'
  | 'tee'
  | 'test'
  | 'remote-copy'
  | 'cat'
  | 'base64';

/** What is known about a program. */
export interface ProgramRule {
  /** Classes of running it at all. */
  readonly adds?: readonly DangerClass[];
  /** Why, in words that follow the program's name. */
  readonly because?: string;
  /** Role of its operands; `value` when absent. */
  readonly operands?: Role;
  /** Role of the first operand, where it differs. Void when one of `unless` is given. */
  readonly first?: Role;
  readonly unless?: readonly string[];
  /** Role of the last of two or more operands, where it differs. */
  readonly last?: Role;
  /** Names of an option, separated by spaces, to its effect. */
  readonly options?: Readonly<Record<string, OptionEffect>>;
  readonly verbs?: Readonly<Record<string, ProgramRule>>;
  /** Without a verb; `unknown` when absent. */
  readonly bare?: readonly DangerClass[];
  /** With a verb that is not listed; `unknown` when absent. */
  readonly others?: readonly DangerClass[];
  /** For what the data cannot say. */
  readonly special?: SpecialRule;
}

export type ProgramTable = Readonly<Record<string, ProgramRule>>;

/** The same rule under several names. */
export function each(names: string, rule: ProgramRule): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]));
}

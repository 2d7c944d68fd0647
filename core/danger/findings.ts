import type { DangerClass } from '../../ports/approval.ts';
import type { ShellParser, ShellScript } from '../../ports/shell-grammar.ts';
import type { Field } from './fields.ts';
import type { Place } from './place.ts';
import type { Scope } from './scope.ts';

/** A command before it in the line makes links (`links`), or moves what may be or hold some (`files`): what is not there yet can be one by then. */
export type Rearranged = 'links' | 'files';

/** What only the file system can answer about a command. All paths are absolute. */
export type Check =
  /** Does the path lead out of the working directory, or to a credential? */
  | { readonly kind: 'path'; readonly path: string; readonly use: 'read' | 'write'; readonly after?: Rearranged }
  /** Is this folder, out of which the path goes up again, reached through a link? What is above it is then elsewhere. */
  | { readonly kind: 'climb'; readonly path: string; readonly after?: Rearranged }
  /** Is there a credential file among everything below? */
  | {
      readonly kind: 'sweep';
      readonly path: string;
      readonly hidden: boolean;
      /** Links in it are followed. */
      readonly links?: boolean;
      /** What git ignores is left out. */
      readonly ignores?: boolean;
      readonly after?: Rearranged;
    }
  /** Does what lies here, brought to that place, lead elsewhere by a link, or run later there? */
  | {
      readonly kind: 'carry';
      readonly path: string;
      readonly to: string;
      /** Also what begins with a dot, at the top. */
      readonly hidden: boolean;
      readonly after?: Rearranged;
    }
  /** Does this archive or patch hold what runs later? */
  | { readonly kind: 'unpack'; readonly path: string; readonly after?: Rearranged }
  /** Was this script read whole in this session? */
  | { readonly kind: 'script'; readonly path: string }
  /** Would git run something that the repository at this place names? */
  | { readonly kind: 'repository'; readonly path: string };

/** Where the parts of a classification put what they find, and how they look into what is nested. */
export interface Inspection {
  readonly place: Place;
  readonly parse: ShellParser;
  add(cls: DangerClass, reason: string): void;
  ask(check: Check): void;
  /** A command at a command position, for the denylist. */
  ran(argv: readonly Field[]): void;
  /** Books one unit of work. False: the bound is reached, which is a finding. */
  spend(): boolean;
  /** Goes one payload deeper, unless that is too deep, which is a finding. */
  nested(look: () => void): void;
  /** A program with its arguments. Gives what it prints, as far as that can be known. */
  command(argv: readonly Field[], scope: Scope, stdin: Field | undefined): Field;
  /** A command line inside of a command. */
  line(text: string, scope: Scope, stdin: Field | undefined): void;
  script(script: ShellScript, scope: Scope, stdin: Field | undefined): Field;
}

/** Commands, rounds of loops, expansions and payloads looked at for one line. */
export const MAX_WORK = 20_000;
/** Payloads inside of payloads (`sh -c 'sh -c …'`, functions, substitutions). */
export const MAX_PAYLOADS = 40;
export const MAX_CHECKS = 256;

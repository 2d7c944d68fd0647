import type { ShellNode } from '../../ports/shell-grammar.ts';
import { type Field, literal, UNKNOWN_FIELD } from './fields.ts';
import type { Place } from './place.ts';

/** A function of the line. */
export interface Defined {
  readonly body: ShellNode;
  /** It is defined for sure when it is called. */
  readonly certain: boolean;
}

/** What a line has set so far: variables, functions, aliases, the folder it is in. */
export interface Scope {
  /** Every value that a variable can have; never empty. */
  get(name: string): readonly Field[];
  /** The value of a variable that can have only one, and a known one. */
  single(name: string): string | undefined;
  /** The line itself gave the variable its value. */
  isSet(name: string): boolean;
  set(name: string, values: readonly Field[]): void;
  /** The value is no longer known. */
  forget(name: string): void;
  forgetAll(): void;
  readonly functions: Map<string, Defined>;
  readonly aliases: Map<string, Field>;
  /** `"$@"` where it is known. */
  readonly args: readonly Field[] | undefined;
  /** Folders the line can be in; empty when nobody knows. */
  readonly folders: readonly string[];
  /** The line may now be in one of `folders` instead; none: nobody knows where. */
  enter(folders: readonly string[]): void;
  /** The last `enter` worked for sure. */
  arrive(): void;
  readonly splitsOddly: boolean;
  splitOddly(): void;
  /** A copy whose changes stay in it. */
  subshell(): Scope;
  /** A copy for a piece that may not run: `join` brings its changes back as possibilities. */
  branch(): Scope;
  join(branch: Scope): void;
  /** A copy for the body of a function; changes are shared. */
  call(args: readonly Field[]): Scope;
  /** For joining: what is set. */
  readonly variables: ReadonlyMap<string, readonly Field[]>;
}

const MAX_VALUES = 4;
const MAX_FOLDERS = 4;

interface State {
  variables: Map<string, readonly Field[]>;
  folders: readonly string[];
  /** Where the last `enter` led. */
  arrived: readonly string[] | undefined;
  splitsOddly: boolean;
}

export function createScope(place: Place): Scope {
  const variables = new Map<string, readonly Field[]>();
  if (place.home !== undefined) variables.set('HOME', [literal(place.home)]);
  variables.set('PWD', [literal(place.workspace)]);
  variables.set('IFS', [literal(' \t\n')]);
  return scopeOf({ variables, arrived: undefined, folders: [place.workspace], splitsOddly: false }, new Map(), new Map(), undefined);
}

/** Parameters that are always a number. */
const NUMBERS = new Set(['?', '#', '$', '!', 'LINENO', 'SECONDS', 'RANDOM', 'UID', 'EUID', 'PPID']);

/** Known before the line, so not set by it. */
const GIVEN = new Set(['HOME', 'PWD', 'IFS']);

function scopeOf(state: State, functions: Map<string, Defined>, aliases: Map<string, Field>, args: readonly Field[] | undefined): Scope {
  const get = (name: string): readonly Field[] => {
    if (NUMBERS.has(name)) return [literal('0')];
    if (/^[1-9]\d*$/.test(name)) return [args?.[Number(name) - 1] ?? UNKNOWN_FIELD];
    return state.variables.get(name) ?? [UNKNOWN_FIELD];
  };
  const moveTo = (folders: readonly string[]): void => {
    state.folders = folders;
    state.variables.set('PWD', folders.length === 0 ? [UNKNOWN_FIELD] : folders.map(literal));
  };
  const copy = (): Scope => scopeOf({ ...state, variables: new Map(state.variables) }, new Map(functions), new Map(aliases), args);
  return {
    get,
    single(name) {
      const values = get(name);
      const only = values.length === 1 ? values[0] : undefined;
      return only === undefined || only.text.includes('\0') ? undefined : only.text;
    },
    isSet: (name) => !GIVEN.has(name) && state.variables.has(name) && !get(name).some((value) => value.text.includes('\0')),
    set(name, values) {
      state.variables.set(name, values.length === 0 || values.length > MAX_VALUES ? [UNKNOWN_FIELD] : values);
    },
    forget(name) {
      const values = state.variables.get(name) ?? [];
      state.variables.set(name, [...values.filter((value) => value !== UNKNOWN_FIELD).slice(0, MAX_VALUES - 1), UNKNOWN_FIELD]);
    },
    forgetAll() {
      for (const name of state.variables.keys()) state.variables.set(name, [UNKNOWN_FIELD]);
    },
    functions,
    aliases,
    args,
    get folders() {
      return state.folders;
    },
    enter(folders) {
      state.arrived = folders;
      const next = folders.length === 0 || state.folders.length === 0 ? [] : [...new Set([...state.folders, ...folders])];
      moveTo(next.length > MAX_FOLDERS ? [] : next);
    },
    arrive() {
      if (state.arrived !== undefined) moveTo(state.arrived);
      state.arrived = undefined;
    },
    get splitsOddly() {
      return state.splitsOddly;
    },
    splitOddly() {
      state.splitsOddly = true;
    },
    subshell: copy,
    branch: copy,
    join(branch) {
      for (const [name, values] of branch.variables) {
        const own = state.variables.get(name);
        if (own === values) continue;
        const merged = unique([...(own ?? [UNKNOWN_FIELD]), ...values]);
        state.variables.set(name, merged.length > MAX_VALUES ? [UNKNOWN_FIELD] : merged);
      }
      const folders = branch.folders.length === 0 ? [] : [...new Set([...state.folders, ...branch.folders])];
      if (state.folders.length > 0) state.folders = folders.length > MAX_FOLDERS ? [] : folders;
      state.splitsOddly ||= branch.splitsOddly;
      for (const [name, { body }] of branch.functions) if (!functions.has(name)) functions.set(name, { body, certain: false });
      for (const [name, value] of branch.aliases) aliases.set(name, value);
    },
    call: (given) => scopeOf(state, functions, aliases, given),
    get variables() {
      return state.variables;
    },
  };
}

function unique(values: readonly Field[]): readonly Field[] {
  return values.filter((value, index) => values.findIndex((other) => other.text === value.text && other.glob === value.glob) === index);
}

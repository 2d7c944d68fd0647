import type { DangerClass } from '../../ports/approval.ts';
import { type Field, literal } from './fields.ts';
import { RUN_TIME } from './place.ts';
import type { OptionEffect, ProgramRule, Role } from './rules.ts';

/** An option as it was given. */
export interface GivenOption {
  /** As the rule names it, or as written when no rule does. */
  readonly name: string;
  readonly value: Field | undefined;
  readonly role: Role | undefined;
  readonly adds: DangerClass | undefined;
  /** No rule names it. */
  readonly strange: boolean;
}

export interface Arguments {
  readonly options: readonly GivenOption[];
  readonly operands: readonly Field[];
  /** An argument that is only known at run time and could be an option. */
  readonly open: boolean;
}

interface Effect {
  readonly role: Role | undefined;
  readonly adds: DangerClass | undefined;
}

type Table = ReadonlyMap<string, { readonly name: string; readonly effect: Effect }>;

const TABLES = new WeakMap<ProgramRule, Table>();

function tableOf(rule: ProgramRule): Table {
  const known = TABLES.get(rule);
  if (known !== undefined) return known;
  const table = new Map<string, { name: string; effect: Effect }>();
  for (const [names, effect] of Object.entries(rule.options ?? {})) {
    const [name = '', ...more] = names.split(' ');
    for (const each of [name, ...more]) table.set(each, { name, effect: effectOf(effect) });
  }
  TABLES.set(rule, table);
  return table;
}

function effectOf(effect: OptionEffect): Effect {
  if (effect === 'flag') return { role: undefined, adds: undefined };
  const [role, adds] = effect.split('+') as [Role | '', DangerClass | undefined];
  return { role: role === '' ? undefined : role, adds };
}

/**
 * Sorts arguments into options and operands as most programs do: `-x`, `-xvalue`, `-abc`, `--long`,
 * `--long=value`, and `--` before operands. `stopAtOperand`: what follows the first operand belongs
 * to something else.
 */
export function readArguments(args: readonly Field[], rule: ProgramRule, stopAtOperand = false): Arguments {
  const table = tableOf(rule);
  const options: GivenOption[] = [];
  const operands: Field[] = [];
  let open = false;
  let at = 0;
  const next = (): Field | undefined => {
    at += 1;
    return args[at];
  };
  for (; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    const { text } = field;
    if (text === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (text.startsWith(RUN_TIME)) open = true;
    if (text.startsWith('--')) options.push(...longOption(field, table, next));
    else if (text.length > 1 && (text[0] === '-' || (text[0] === '+' && table.has(text.slice(0, 2)))))
      options.push(...shortOptions(field, table, next));
    else {
      operands.push(field);
      if (stopAtOperand) {
        operands.push(...args.slice(at + 1));
        break;
      }
    }
  }
  return { options, operands, open };
}

function longOption(field: Field, table: Table, next: () => Field | undefined): readonly GivenOption[] {
  const equals = field.text.indexOf('=');
  const name = equals < 0 ? field.text : field.text.slice(0, equals);
  const attached = equals < 0 ? undefined : { ...field, text: field.text.slice(equals + 1) };
  const exact = table.get(name);
  // Programs accept the beginning of a long option, so it means everything that it could be short for.
  const meant = exact ? [exact] : [...table].filter(([key]) => name.length > 2 && key.startsWith(name)).map(([, entry]) => entry);
  if (meant.length === 0) return [{ name, value: attached, role: undefined, adds: undefined, strange: true }];
  const takesNext = attached === undefined && meant.some(({ effect }) => effect.role !== undefined);
  const value = attached ?? (takesNext ? next() : undefined);
  return meant.map((entry) => ({ name: entry.name, value, ...entry.effect, strange: false }));
}

function shortOptions(field: Field, table: Table, next: () => Field | undefined): readonly GivenOption[] {
  const { text } = field;
  const whole = table.get(text);
  // `-name` of programs with single-dash words, and plain `-x`.
  if (whole) return [{ name: whole.name, value: whole.effect.role === undefined ? undefined : next(), ...whole.effect, strange: false }];
  const options: GivenOption[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const name = `${text[0]}${text[at]}`;
    const entry = table.get(name);
    if (entry === undefined) {
      options.push({ name, value: undefined, role: undefined, adds: undefined, strange: true });
      continue;
    }
    const { effect } = entry;
    const rest = text.slice(at + 1);
    const value = effect.role === undefined ? undefined : rest === '' ? next() : { ...field, text: rest };
    options.push({ name: entry.name, value, ...effect, strange: false });
    if (effect.role !== undefined) break;
  }
  return options;
}

export function hasOption({ options }: Arguments, ...names: readonly string[]): boolean {
  return options.some((option) => names.includes(option.name));
}

import { ConfigError } from '../../ports/errors.ts';
import type { CommandSpec, FlagSpec, FlagValue, ParsedArgs, PositionalSpec } from './command.ts';
import { suggestion } from './nearest.ts';

/** `help` is set when `--help` or `-h` was among the flags; then nothing else was checked. */
export interface ParseResult {
  readonly args: ParsedArgs;
  readonly help: boolean;
}

type Spec = Pick<CommandSpec, 'usage' | 'flags' | 'positionals'>;

interface Reading {
  readonly command: string;
  readonly spec: Spec;
  readonly tokens: readonly string[];
  at: number;
  readonly flags: Record<string, FlagValue>;
  readonly positionals: string[];
}

/** A token of any other shape, such as a text with spaces or a negative number, is no flag. */
const LONG = /^--([A-Za-z0-9][A-Za-z0-9_-]*)(?:=([\s\S]*))?$/;
const SHORT = /^-([A-Za-z])(?:=([\s\S]*))?$/;

/**
 * Reads a command's arguments. Flags and text may be mixed; `--` ends the flags. Throws `ConfigError`:
 * `unknown_flag`, `missing_value`, `invalid_value`, `missing_argument`, `unexpected_argument`.
 */
export function parseArgs(command: string, spec: Spec, tokens: readonly string[]): ParseResult {
  const reading: Reading = { command, spec, tokens, at: 0, flags: {}, positionals: [] };
  const ended = tokens.indexOf('--');
  if (tokens.slice(0, ended < 0 ? tokens.length : ended).some((token) => token === '--help' || token === '-h')) {
    return { args: { command, flags: {}, positionals: [] }, help: true };
  }
  while (reading.at < tokens.length) {
    const token = tokens[reading.at++] ?? '';
    if (token === '--') {
      reading.positionals.push(...tokens.slice(reading.at));
      break;
    }
    const long = LONG.exec(token);
    const short = SHORT.exec(token);
    if (long !== null) readLong(reading, long[1] ?? '', long[2]);
    else if (short !== null) readShort(reading, short[1] ?? '', short[2]);
    else reading.positionals.push(token);
  }
  checkPositionals(command, spec, reading.positionals);
  return { args: { command, flags: reading.flags, positionals: reading.positionals }, help: false };
}

/** Every spelling of a command's flags, with dashes. */
export function spellings(flags: readonly FlagSpec[]): string[] {
  return flags.flatMap((flag) => [
    `--${flag.name}`,
    ...(flag.negatable === true ? [`--no-${flag.name}`] : []),
    ...(flag.short === undefined ? [] : [`-${flag.short}`]),
  ]);
}

function readLong(reading: Reading, name: string, given: string | undefined): void {
  const { flags } = reading.spec;
  const exact = flags.find((flag) => flag.name === name);
  if (exact !== undefined) {
    take(reading, exact, `--${name}`, given);
    return;
  }
  const negated = name.startsWith('no-') ? flags.find((flag) => flag.negatable === true && flag.name === name.slice(3)) : undefined;
  if (negated === undefined) throw unknownFlag(reading, `--${name}`);
  if (given !== undefined) throw invalidFlag(`--${name}`, given, 'without a value');
  reading.flags[negated.name] = false;
}

function readShort(reading: Reading, letter: string, given: string | undefined): void {
  const flag = reading.spec.flags.find((candidate) => candidate.short === letter);
  if (flag === undefined) throw unknownFlag(reading, `-${letter}`);
  take(reading, flag, `-${letter}`, given);
}

function take(reading: Reading, flag: FlagSpec, spelling: string, given: string | undefined): void {
  if (flag.kind === 'boolean') {
    reading.flags[flag.name] = given === undefined ? true : asSwitch(spelling, given);
    return;
  }
  const text = given ?? nextValue(reading, flag, spelling);
  if (flag.kind === 'number') reading.flags[flag.name] = asNumber(flag, spelling, text);
  else if (flag.kind === 'list') reading.flags[flag.name] = [...((reading.flags[flag.name] as readonly string[] | undefined) ?? []), text];
  else reading.flags[flag.name] = asChoice(flag, spelling, text);
}

function nextValue(reading: Reading, flag: FlagSpec, spelling: string): string {
  const next = reading.tokens[reading.at];
  if (next === undefined || next === '--' || LONG.test(next) || SHORT.test(next)) {
    const hint = next === undefined || next === '--' ? '' : ` (write ${spelling}=${next} if that is the value)`;
    throw new ConfigError('missing_value', `${spelling} needs a value: ${spelling} <${flag.placeholder ?? 'value'}>${hint}`, {
      value: spelling,
    });
  }
  reading.at++;
  return next;
}

function asSwitch(spelling: string, text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw invalidFlag(spelling, text, 'true or false');
}

function asNumber(flag: FlagSpec, spelling: string, text: string): number {
  const value = /^-?(\d+|\d*\.\d+)$/.test(text.trim()) ? Number(text) : Number.NaN;
  const fits =
    Number.isFinite(value) &&
    (flag.integer !== true || Number.isSafeInteger(value)) &&
    (flag.min === undefined || value >= flag.min) &&
    (flag.max === undefined || value <= flag.max);
  if (!fits) throw invalidFlag(spelling, text, numberText(flag));
  return value;
}

/** What a flag's number must be, in words. */
export function numberText(flag: Pick<FlagSpec, 'integer' | 'min' | 'max'>): string {
  const noun = flag.integer === true ? 'a whole number' : 'a number';
  return [noun, flag.min === undefined ? '' : ` from ${flag.min}`, flag.max === undefined ? '' : ` to ${flag.max}`].join('');
}

function asChoice(flag: FlagSpec, spelling: string, text: string): string {
  const meant = flag.aliases?.[text] ?? text;
  if (flag.choices === undefined || flag.choices.includes(meant)) return meant;
  const choices = flag.choices.filter((choice) => choice !== '');
  throw invalidFlag(spelling, text, `one of ${choices.join(', ')}${suggestion(text, choices)}`);
}

function checkPositionals(command: string, spec: Spec, given: readonly string[]): void {
  for (const [index, positional] of spec.positionals.entries()) {
    const value = given[index];
    if (value === undefined) {
      if (positional.required !== true) return;
      throw new ConfigError(
        'missing_argument',
        `odek ${command} needs <${positional.name}>: ${positional.summary}\nusage: odek ${spec.usage}`,
        {
          value: positional.name,
        },
      );
    }
    checkChoice(positional, value);
    if (positional.many === true) return;
  }
  const extra = given[spec.positionals.length];
  if (extra !== undefined) {
    throw new ConfigError('unexpected_argument', `odek ${command} does not take "${extra}"\nusage: odek ${spec.usage}`, { value: extra });
  }
}

function checkChoice(positional: PositionalSpec, value: string): void {
  if (positional.choices === undefined || positional.choices.includes(value)) return;
  throw new ConfigError(
    'invalid_value',
    `<${positional.name}> must be one of ${positional.choices.join(', ')}, not "${value}"${suggestion(value, positional.choices)}`,
    { value, limit: positional.choices },
  );
}

function unknownFlag(reading: Reading, flag: string): ConfigError {
  const near = suggestion(flag, [...spellings(reading.spec.flags), '--help']);
  const text = reading.spec.positionals.some((positional) => positional.many) ? '; to pass it as text, put -- before the text' : '';
  return new ConfigError('unknown_flag', `unknown flag ${flag} for odek ${reading.command}${near}${text}`, { value: flag });
}

function invalidFlag(spelling: string, value: string, limit: string): ConfigError {
  const shown = value.length <= 80 ? value : `${value.slice(0, 79)}…`;
  return new ConfigError('invalid_value', `${spelling} must be ${limit}, not "${shown}"`, { value, limit });
}

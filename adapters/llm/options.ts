import { ConfigError } from '../../ports/errors.ts';

/** Reads an adapter's options, which are parsed JSON of unknown shape. Every fault names the key and the limit. */
export interface OptionReader {
  text(key: string): string | undefined;
  requiredText(key: string): string;
  flag(key: string): boolean | undefined;
  /** A whole number from `min` to `max`. */
  count(key: string, min: number, max: number): number | undefined;
  choice<const T extends string>(key: string, choices: readonly T[]): T | undefined;
  fail(key: string, value: unknown, limit: string): ConfigError;
}

/** `owner` is what the message calls the options, for example `provider "openai"`. Refuses keys that are not in `known`. */
export function readOptions(owner: string, options: Readonly<Record<string, unknown>>, known: readonly string[]): OptionReader {
  const fail = (key: string, value: unknown, limit: string): ConfigError =>
    new ConfigError('invalid_option', `${owner}: "${key}" must be ${limit}; got ${describe(key, value)}`, {
      value: describe(key, value),
      limit,
    });
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new ConfigError('unknown_option', `${owner}: there is no option "${key}"; there are ${known.join(', ')}`, {
        value: key,
        limit: known,
      });
    }
  }
  const text = (key: string): string | undefined => {
    const value = options[key];
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value.trim() === '') throw fail(key, value, 'a text that is not empty');
    return value;
  };
  return {
    text,
    requiredText(key) {
      const value = text(key);
      if (value === undefined) throw fail(key, undefined, 'a text that is not empty');
      return value;
    },
    flag(key) {
      const value = options[key];
      if (value !== undefined && typeof value !== 'boolean') throw fail(key, value, 'true or false');
      return value;
    },
    count(key, min, max) {
      const value = options[key];
      if (value === undefined) return undefined;
      if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
        throw fail(key, value, `a whole number from ${min} to ${max}`);
      }
      return value;
    },
    choice(key, choices) {
      const value = options[key];
      if (value === undefined) return undefined;
      const found = choices.find((choice) => choice === value);
      if (found === undefined) throw fail(key, value, `one of ${choices.join(', ')}`);
      return found;
    },
    fail,
  };
}

const SECRET_KEY = /key|token|secret|password/i;

function describe(key: string, value: unknown): string {
  if (value === undefined) return 'nothing';
  if (SECRET_KEY.test(key)) return `(a ${typeof value}, not shown)`;
  const shown = JSON.stringify(value) ?? typeof value;
  return shown.length <= 80 ? shown : `${shown.slice(0, 80)}…`;
}

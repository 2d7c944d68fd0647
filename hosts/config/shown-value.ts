import { isObject } from './check-value.ts';
import type { KeySpec } from './key-spec.ts';
import type { ConfigValue } from './types.ts';

const HIDDEN = 'set (hidden)';
const SECRET_MEMBER = /key|token|secret|passw|credential|auth|cookie|dsn/i;
/** Shorter secrets would blank out half of the view; they are hidden where they stand under their own key. */
const SHORTEST_MASKED = 4;

/** A value of the key as it may be shown. */
export function shownValue(spec: KeySpec, value: ConfigValue, secrets: readonly string[]): unknown {
  return spec.secret === true ? HIDDEN : masked(value, secrets);
}

function masked(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    return secrets.reduce((text, secret) => (secret.length < SHORTEST_MASKED ? text : text.replaceAll(secret, '(hidden)')), value);
  }
  if (Array.isArray(value)) return value.map((entry) => masked(entry, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_MEMBER.test(name) && name !== 'token_env' ? HIDDEN : masked(member, secrets),
    ]),
  );
}

import type { KeySpec } from './key-spec.ts';
import { MODEL_KEYS } from './model-keys.ts';
import { OPERATOR_KEYS } from './operator-keys.ts';
import { PLUGIN_KEYS } from './plugin-keys.ts';
import { RUN_KEYS } from './run-keys.ts';
import { SANDBOX_KEYS } from './sandbox-keys.ts';
import { SCHEDULE_KEYS } from './schedule-keys.ts';
import { TELEGRAM_KEYS } from './telegram-keys.ts';

/** Every configuration key, in the order in which they are shown. */
export const CONFIG_KEYS: readonly KeySpec[] = [
  ...MODEL_KEYS,
  ...RUN_KEYS,
  ...SANDBOX_KEYS,
  ...OPERATOR_KEYS,
  ...SCHEDULE_KEYS,
  ...TELEGRAM_KEYS,
  ...PLUGIN_KEYS,
];

/** The spec of an exact key of the table. */
export function keySpec(key: string): KeySpec {
  const spec = CONFIG_KEYS.find((candidate) => candidate.key === key);
  if (spec === undefined) throw new Error(`no such configuration key: ${key}`);
  return spec;
}

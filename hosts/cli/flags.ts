import type { KeySpec } from '../config/key-spec.ts';
import { keySpec } from '../config/keys.ts';
import type { FlagSpec } from './command.ts';

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  model: 'id',
  provider: 'id',
  base_url: 'url',
  system: 'text',
  thinking: 'level',
  interaction_mode: 'mode',
  'dangerous.approver': 'who',
  'tools.enabled': 'name',
  sandbox_image: 'image',
  sandbox_network: 'name',
  sandbox_memory: 'size',
  sandbox_user: 'uid:gid',
  'tools.disabled': 'name',
};

/** The flag of a configuration key. Ranges, choices and the text come from the key table. */
export function flagOf(key: string): FlagSpec {
  const spec = keySpec(key);
  if (spec.flag === undefined) throw new Error(`${key} has no flag`);
  const placeholder = PLACEHOLDERS[key] ?? (spec.unit === undefined ? 'n' : placeholderOf(spec.unit));
  return {
    name: spec.flag,
    kind: kindOf(spec),
    summary: spec.summary.replaceAll('`', ''),
    key,
    ...(spec.type === 'boolean' ? {} : { placeholder }),
    ...(spec.type === 'boolean' && spec.default !== false ? { negatable: true } : {}),
    ...(spec.type === 'integer' ? { integer: true } : {}),
    ...(spec.choices === undefined ? {} : { choices: spec.choices }),
    ...(spec.aliases === undefined ? {} : { aliases: spec.aliases }),
    ...(spec.min === undefined ? {} : { min: spec.min }),
    ...(spec.max === undefined ? {} : { max: spec.max }),
  };
}

function kindOf(spec: KeySpec): FlagSpec['kind'] {
  switch (spec.type) {
    case 'boolean':
    case 'list':
      return spec.type;
    case 'number':
    case 'integer':
      return 'number';
    default:
      return 'string';
  }
}

function placeholderOf(unit: string): string {
  return { s: 'seconds', USD: 'usd' }[unit] ?? unit;
}

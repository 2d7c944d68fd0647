import type { ConfigView } from '../ports/config-view.ts';
import { isObject } from './config/check-value.ts';
import { CONFIG_KEYS } from './config/keys.ts';
import { shownValue } from './config/shown-value.ts';
import type { ConfigValue, ResolvedConfig } from './config/types.ts';

/** The resolved configuration as `odek config` shows it: every key of the table that has a value, secrets hidden. */
export function createConfigView(config: ResolvedConfig): ConfigView {
  return {
    view(section) {
      const rows = CONFIG_KEYS.flatMap((spec) =>
        valuesAt(config, spec.key.split('.'), '').map(([key, value]): [string, unknown] => [key, shownValue(spec, value, config.secrets)]),
      );
      if (section === undefined) return Object.fromEntries(rows);
      const isIn = (key: string): boolean => key === section || key.startsWith(`${section}.`);
      const isKnown = CONFIG_KEYS.some(({ key }) => isIn(key));
      const found = rows.filter(([key]) => isIn(key));
      return found.length > 0 || isKnown ? Object.fromEntries(found) : undefined;
    },
  };
}

/** What stands under the key; one value for each name where the key has `<name>` in it. */
function valuesAt(value: unknown, segments: readonly string[], path: string): readonly (readonly [string, ConfigValue])[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return value === undefined ? [] : [[path, value as ConfigValue]];
  if (!isObject(value)) return [];
  const names = segment.startsWith('<') ? Object.keys(value) : Object.hasOwn(value, segment) ? [segment] : [];
  return names.flatMap((name) => valuesAt(value[name], rest, path === '' ? name : `${path}.${name}`));
}

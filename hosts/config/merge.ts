import type { KeySpec } from './key-spec.ts';
import { CONFIG_KEYS } from './keys.ts';
import type { Entry } from './layer.ts';
import type { ConfigSource, ConfigValue } from './types.ts';

/** The layers folded so far: dotted key → value and the layer that it came from. */
export interface Merged {
  readonly values: Map<string, ConfigValue>;
  readonly sources: Map<string, ConfigSource>;
}

/** Where a server stands among the values: behind this comes its name. */
export const SERVERS = 'mcp_servers.';

/** True for an entry that is an MCP server, which is taken whole from one layer. */
export function isServer({ key }: Pick<Entry, 'key'>): boolean {
  return key.startsWith(SERVERS);
}

export function startWithDefaults(): Merged {
  const merged: Merged = { values: new Map(), sources: new Map() };
  for (const spec of CONFIG_KEYS) {
    if (spec.default !== undefined && !spec.key.includes('<')) put(merged, spec.key, spec.default, 'default');
  }
  return merged;
}

/** Lays a layer over the ones before it. `where` names the layer in warnings. */
export function lay(merged: Merged, entries: readonly Entry[], source: ConfigSource, where: string, warn: (text: string) => void): void {
  for (const { key, spec, value } of entries) {
    if (spec.project === 'append') put(merged, key, union(merged.values.get(key), value), source);
    else if (source === 'project' && spec.project === 'ask') continue;
    else if (source === 'project' && spec.project === 'raise') raise(merged, key, value, where, warn);
    else if (source !== 'project' || spec.project !== 'lower') put(merged, key, value, source);
    else lower(merged, key, spec, value as number | boolean, where, warn);
  }
}

/** A project's number or switch: counts only where it is smaller than what the operator allows. */
function lower(merged: Merged, key: string, spec: KeySpec, value: number | boolean, where: string, warn: (text: string) => void): void {
  const isLimit = spec.min === 0;
  if (isLimit && value === 0) return;
  const held = merged.values.get(key);
  const open = held === undefined || (isLimit && held === 0);
  if (open || Number(value) <= Number(held)) put(merged, key, value, 'project');
  else warn(`${where}: ${key} ${value} is above the operator's ${held}; ${held} counts`);
}

/** A project's switch: counts only where it turns on what keeps the project in. */
function raise(merged: Merged, key: string, value: ConfigValue, where: string, warn: (text: string) => void): void {
  if (value === true) put(merged, key, true, 'project');
  else warn(`${where}: ${key} false is ignored: a project can only turn it on`);
}

function put(merged: Merged, key: string, value: ConfigValue, source: ConfigSource): void {
  merged.values.set(key, value);
  merged.sources.set(key, source);
}

function union(held: ConfigValue | undefined, added: ConfigValue): readonly string[] {
  return [...new Set([...((held as readonly string[] | undefined) ?? []), ...(added as readonly string[])])];
}

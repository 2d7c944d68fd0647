import { ConfigError } from '../../ports/errors.ts';
import { isObject, short } from './check-value.ts';
import { type KeySpec, NOT_EMPTY } from './key-spec.ts';
import type { ConfigValue, ResolvedConfig } from './types.ts';

/** Keys about other people's plugins. All are the operator's alone. */
export const PLUGIN_KEYS: readonly KeySpec[] = [
  {
    key: 'extension_host.enabled',
    type: 'boolean',
    default: false,
    env: 'ODEK_EXTENSION_HOST',
    project: 'ignored',
    summary:
      'Run the code of plugins that were reviewed and trusted, in a process of its own. Their skills and MCP servers need no such process.',
  },
  {
    key: 'extension_host.node',
    type: 'string',
    pattern: NOT_EMPTY,
    project: 'ignored',
    summary: 'Program that runs the code of plugins: a Node of version 22.19 or later. Default: the one that runs odek.',
  },
  {
    key: 'extension_host.allow_unsandboxed',
    type: 'boolean',
    default: false,
    project: 'ignored',
    summary:
      'Run the code of plugins also where there is no bubblewrap: it then sees the network, and files as far as the permission model of Node keeps it from them.',
  },
  {
    key: 'plugins.<plugin>.config',
    type: 'object',
    literal: true,
    project: 'ignored',
    summary:
      'Settings of one plugin, checked against what it says of them. At most 16 KiB and 16 levels. No place for secrets: its code reads them.',
  },
];

export const PLUGIN_NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/;

/** Settings of programs that read the same bundles, and why there are none here. */
const REFUSED: Readonly<Record<string, string>> = {
  'extension_host.runtime': 'Node alone runs plugins; extension_host.node names another Node, and there is no Bun',
  'extension_host.bun': 'Node alone runs plugins; there is no Bun',
  'extension_host.mcp_backend': 'MCP servers are connected by odek itself; there is no other way',
  'features.extension_host': 'the key is extension_host.enabled',
  'features.mcp': 'MCP servers are on where they are configured',
  'features.finance_host': 'odek has no such adapter',
  'features.data_host': 'odek has no such adapter',
  'features.speech_host': 'odek has no such adapter',
};

/** Refuses settings that mean something elsewhere and nothing here. In a project's file they are not looked at: nothing of it counts. */
export function refuseForeignSettings(document: Readonly<Record<string, unknown>>, path: string): void {
  for (const [key, why] of Object.entries(REFUSED)) {
    const [section = '', name = ''] = key.split('.');
    const value = isObject(document[section]) ? document[section][name] : undefined;
    if (value === undefined || value === null) continue;
    throw new ConfigError('invalid_value', `${key} is not a setting of odek (${short(value)}, ${path}): ${why}`, { value, limit: why });
  }
}

/** `extension_host` and `plugins` in the configuration's own shape. */
export function pluginsOf(values: ReadonlyMap<string, ConfigValue>): Pick<ResolvedConfig, 'extension_host' | 'plugins'> {
  const node = values.get('extension_host.node') as string | undefined;
  const plugins = new Map<string, { readonly config: Readonly<Record<string, unknown>> }>();
  for (const [key, value] of values) {
    const name = /^plugins\.(.*)\.config$/.exec(key)?.[1];
    if (name !== undefined) plugins.set(name, { config: value as Readonly<Record<string, unknown>> });
  }
  return {
    extension_host: {
      enabled: values.get('extension_host.enabled') === true,
      ...(node !== undefined && { node }),
      allow_unsandboxed: values.get('extension_host.allow_unsandboxed') === true,
    },
    plugins: Object.fromEntries(plugins),
  };
}

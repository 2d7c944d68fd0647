import { applyServers } from '../config/apply-servers.ts';
import { assemble } from '../config/assemble.ts';
import { environmentSecrets } from '../config/environment-secrets.ts';
import { readLayer } from '../config/layer.ts';
import { lay, startWithDefaults } from '../config/merge.ts';
import { statePaths } from '../config/state-paths.ts';
import type { ResolvedConfig } from '../config/types.ts';

/**
 * The configuration of an embedded agent: the keys of `config.json` as an object, and nothing else.
 * No file is read, and variables only to know which values to hide. Throws `ConfigError` for a value that is wrong.
 */
export function embeddedConfig(
  document: Readonly<Record<string, unknown>>,
  place: { readonly stateDir: string; readonly workspace: string },
  warn: (text: string) => void,
): ResolvedConfig {
  const secrets: string[] = [...environmentSecrets(process.env)];
  const entries = readLayer(document, {
    path: 'createAgent',
    project: false,
    lookup: () => undefined,
    isSecret: () => false,
    warn,
    secret: (value) => secrets.push(value),
  });
  for (const { key, value } of entries) if (/(^|\.)api_key$/.test(key) && typeof value === 'string') secrets.push(value);
  const merged = startWithDefaults();
  lay(merged, entries, 'global', 'createAgent', warn);
  const state = statePaths({ ODEK_HOME: place.stateDir }, place.workspace);
  const told = { configFile: 'createAgent', projectFile: 'createAgent' };
  applyServers(merged, {
    operator: entries,
    project: [],
    state: told,
    lookup: () => undefined,
    secret: (value) => secrets.push(value),
    warn,
  });
  return assemble({ values: merged.values, state, secrets, warnings: [] });
}

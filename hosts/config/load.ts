import { dirname, isAbsolute, resolve } from 'node:path';
import { ConfigError } from '../../ports/errors.ts';
import { assemble, providersOf } from './assemble.ts';
import { checkValue } from './check-value.ts';
import { environmentSecrets } from './environment-secrets.ts';
import { SECRET_NAME } from './expand.ts';
import { inferProvider } from './infer.ts';
import type { KeySpec } from './key-spec.ts';
import { CONFIG_KEYS, keySpec } from './keys.ts';
import { type Entry, readLayer } from './layer.ts';
import { isServer, lay, type Merged, startWithDefaults } from './merge.ts';
import { KEY_VARIABLES, takeProviderKeys } from './provider-keys.ts';
import { isLoose, readJsonFile } from './read-file.ts';
import { SCHEDULE_CLASSES, scheduleClasses } from './schedules.ts';
import { readSecretsFile } from './secrets-file.ts';
import { statePaths } from './state-paths.ts';
import type { ConfigSource, ConfigValue, LoadedConfig, LoadOptions, StatePaths } from './types.ts';

/** What the layers share while they are read. */
interface Loading {
  readonly options: LoadOptions;
  readonly state: StatePaths;
  readonly file: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  readonly secrets: Set<string>;
  readonly warn: (text: string) => void;
}

/**
 * Folds the layers in their order: `secrets.env`, the operator's `config.json`, the project's
 * `odek.json`, `ODEK_*` variables, flags. Key variables are moved out of `options.env`.
 * A value that is wrong is a `ConfigError`; a value that does not count is a warning.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const warn = (text: string): void => {
    if (!warnings.includes(text)) warnings.push(text);
  };
  const state = statePaths(options.env, options.cwd, options.home);
  const file = await readSecretsFile(state.secretsFile);
  for (const warning of file.warnings) warn(warning);
  const loading: Loading = { options, state, file: file.values, keys: takeProviderKeys(options.env), secrets: new Set(), warn };

  const merged = startWithDefaults();
  lay(merged, environmentEntries(loading, 'secrets.env'), 'secrets.env', state.secretsFile, warn);
  const [operator, project] = [await globalEntries(loading), await projectEntries(loading)];
  lay(merged, operator, 'global', state.configFile, warn);
  lay(merged, project, 'project', state.projectFile, warn);
  lay(merged, environmentEntries(loading, 'env'), 'env', 'environment', warn);
  lay(merged, flagEntries(loading), 'flag', 'command line', warn);

  if ([...operator, ...project].some(isServer)) {
    // Most configurations name no server, and start without what reads them.
    const { applyServers } = await import('./apply-servers.ts');
    applyServers(merged, {
      operator,
      project,
      state,
      lookup: (name) => find(name, loading),
      secret: (value) => loading.secrets.add(value),
      warn,
    });
  }
  collectSecrets(merged, loading);
  applyInference(merged, loading);
  const asked = askedBy(project, merged);
  const config = assemble({ values: merged.values, state, secrets: [...loading.secrets], warnings, asked });
  return { config, sources: Object.fromEntries(merged.sources), values: Object.fromEntries(merged.values), warnings };
}

async function globalEntries({ options, state, secrets, warn, ...loading }: Loading): Promise<Entry[]> {
  const reading = await readJsonFile(state.configFile);
  if (reading.state === 'absent') return [];
  if (reading.state === 'bad') {
    if (options.tolerant !== true) throw new ConfigError(reading.code, reading.problem, { value: state.configFile });
    warn(`${reading.problem}; the file is left out`);
    return [];
  }
  if (isLoose(reading.mode)) warn(`${state.configFile} is open to others; run: chmod 600 ${state.configFile}`);
  const entries = readLayer(reading.value, {
    path: state.configFile,
    project: false,
    lookup: (name) => find(name, { options, ...loading }),
    isSecret: () => false,
    warn,
    secret: (value) => secrets.add(value),
  });
  return entries.map((entry) => absoluteAdapters(entry, dirname(state.configFile)));
}

async function projectEntries({ options, state, secrets, warn, ...loading }: Loading): Promise<Entry[]> {
  const reading = await readJsonFile(state.projectFile);
  if (reading.state === 'absent') return [];
  if (reading.state === 'bad') {
    warn(`${reading.problem}; the file is ignored`);
    return [];
  }
  return readLayer(reading.value, {
    path: state.projectFile,
    project: true,
    lookup: (name) => find(name, { options, ...loading }),
    isSecret: (name) => loading.file.has(name) || loading.keys.has(name) || KEY_VARIABLES.includes(name) || SECRET_NAME.test(name),
    warn,
    secret: (value) => secrets.add(value),
  });
}

/** `ODEK_*` mirrors, from the environment or from `secrets.env`. The key has an order of its own (`inferProvider`). */
function environmentEntries({ options, state, file, warn }: Loading, source: 'env' | 'secrets.env'): Entry[] {
  const read = (name: string): string | undefined => (source === 'env' ? options.env[name] : file.get(name));
  const entries: Entry[] = [];
  for (const spec of CONFIG_KEYS) {
    const isKey = spec.env !== undefined && KEY_VARIABLES.includes(spec.env);
    const text = spec.env === undefined || isKey ? undefined : read(spec.env);
    if (spec.env === undefined || text === undefined || text.trim() === '') continue;
    const where = source === 'env' ? 'environment' : state.secretsFile;
    entries.push(entry(spec, checkValue(spec, text, { key: spec.env, where, fromText: true }, warn)));
  }
  entries.push(...scheduleClasses(read(SCHEDULE_CLASSES), source === 'env' ? 'environment' : state.secretsFile, warn));
  const off = read('ODEK_NO_SANDBOX');
  if (off !== undefined && !['', '0', 'false', 'no', 'off'].includes(off.trim()) && !entries.some(({ key }) => key === 'sandbox')) {
    entries.push(entry(keySpec('sandbox'), false));
  }
  const plain = read('NO_COLOR');
  if (plain !== undefined && plain !== '' && !entries.some(({ key }) => key === 'no_color')) entries.push(entry(keySpec('no_color'), true));
  return entries;
}

/** What a project asks a person for, as far as neither a variable nor a flag has set it. */
function askedBy(project: readonly Entry[], { sources }: Merged): Readonly<Record<string, ConfigValue>> {
  const isOpen = (key: string): boolean => !['env', 'flag'].includes(sources.get(key) ?? 'default');
  return Object.fromEntries(
    project.filter(({ key, spec }) => spec.project === 'ask' && isOpen(key)).map(({ key, value }) => [key, value] as const),
  );
}

function flagEntries({ options, warn }: Loading): Entry[] {
  const entries: Entry[] = [];
  for (const spec of CONFIG_KEYS) {
    const value = spec.flag === undefined ? undefined : options.flags[spec.flag];
    if (spec.flag === undefined || value === undefined) continue;
    entries.push(entry(spec, checkValue(spec, value, { key: `--${spec.flag}`, where: 'command line', fromText: true }, warn)));
  }
  // Whoever writes the flag does not want to do without.
  if (options.flags.sandbox === true) entries.push(entry(keySpec('sandbox_required'), true));
  return entries;
}

function applyInference({ values, sources }: Merged, loading: Loading): void {
  const text = (key: string): string | undefined => values.get(key) as string | undefined;
  const inferred = inferProvider({
    provider: text('provider'),
    base_url: text('base_url'),
    api_key: text('api_key'),
    providers: providersOf(values),
    sourceOf: (key) => sources.get(key),
    keyVariable: (name) => keyVariable(name, loading),
    warn: loading.options.usesModel === false ? () => {} : loading.warn,
  });
  const set = (key: string, value: string, source: ConfigSource): void => {
    values.set(key, value);
    sources.set(key, source);
  };
  if (inferred.base_url === undefined) {
    values.delete('base_url');
    sources.delete('base_url');
  } else set('base_url', inferred.base_url.value, inferred.base_url.source);
  if (inferred.provider !== undefined) set('provider', inferred.provider.id, inferred.provider.source);
  if (inferred.api_key !== undefined) set('api_key', inferred.api_key.value, inferred.api_key.source);
  if (inferred.defaultModel !== undefined && !values.has('model')) set('model', inferred.defaultModel, 'default');
}

function keyVariable(name: string, { keys, file }: Loading): { value: string; source: ConfigSource } | undefined {
  const taken = keys.get(name);
  if (taken !== undefined) return { value: taken, source: 'env' };
  const filed = file.get(name);
  return filed === undefined || filed === '' ? undefined : { value: filed, source: 'secrets.env' };
}

/** A variable for `${NAME}`: the environment first, then `secrets.env`, which overrides nothing. */
function find(name: string, { options, keys, file }: Pick<Loading, 'options' | 'keys' | 'file'>): string | undefined {
  return options.env[name] ?? keys.get(name) ?? file.get(name);
}

/** Every secret of every layer, also of the keys that lose: any of them may come up in a text. */
function collectSecrets({ values }: Merged, { secrets, keys, file, options }: Loading): void {
  const mirrors = new Set(CONFIG_KEYS.filter((spec) => spec.secret !== true).map((spec) => spec.env));
  for (const value of keys.values()) secrets.add(value);
  for (const value of environmentSecrets(options.env)) secrets.add(value);
  for (const [name, value] of file) if (!mirrors.has(name)) secrets.add(value);
  for (const [key, value] of values) {
    if (/^sinks(\.|$)/.test(key)) for (const secret of headerSecrets(value)) secrets.add(secret);
    if (typeof value !== 'string') continue;
    if (/(^|\.)(?:api_key|webhook_secret)$/.test(key)) secrets.add(value);
    if (/(^|\.)(?:base_url|proxy)$/.test(key) && URL.canParse(value))
      for (const spelling of spellingsOf(new URL(value).password)) secrets.add(spelling);
  }
  secrets.delete('');
}

const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** What headers that admit somewhere hold, at any depth; behind a scheme such as `Bearer` also by itself. */
function headerSecrets(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'string') return SECRET_HEADER.test(name) ? [value, value.replace(/^\S+\s+/, '')] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => headerSecrets(inner, member));
}

/** A password as it stands in an address, and as it is. */
function spellingsOf(password: string): readonly string[] {
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function absoluteAdapters(given: Entry, folder: string): Entry {
  if (given.key !== 'adapters') return given;
  const paths = (given.value as readonly string[]).map((name) =>
    name.startsWith('.') && !isAbsolute(name) ? resolve(folder, name) : name,
  );
  return { ...given, value: paths };
}

function entry(spec: KeySpec, value: ConfigValue): Entry {
  return { key: spec.key, spec, value };
}

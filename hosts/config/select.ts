import { ConfigError } from '../../ports/errors.ts';
import { suggestion } from '../cli/nearest.ts';
import { BUILT_IN_PROVIDERS, builtIn, LEGACY, LOCAL, providerOfHost } from './providers.ts';
import type { ProviderFormat, ProviderSelection, ResolvedConfig } from './types.ts';

export interface SelectOptions {
  /** False for a question that concerns no model, such as which ones there are. The selection's `model` is then empty. */
  readonly needsModel?: boolean;
}

/**
 * The endpoint to call. Throws `ConfigError`: `no_provider`, `unknown_provider`, `incomplete_provider`,
 * `no_model`, `no_api_key`, each naming the ways out.
 */
export function selectProvider(config: ResolvedConfig, { needsModel = true }: SelectOptions = {}): ProviderSelection {
  const id = config.provider;
  if (id === undefined) throw noProvider(config);
  const own = config.providers[id];
  // An operator's endpoint of this name is what it says; the name alone means a model file.
  if (id === LOCAL && own?.base_url === undefined) return fromFile(config);
  const known = builtIn(id);
  const hasFormat = own !== undefined && (own.format !== undefined || config.adapters.length === 0);
  if (known === undefined && !hasFormat && id !== LEGACY.id) return fromAdapter(id, config);

  const format = own?.format ?? known?.format ?? (id === LEGACY.id ? 'openai' : undefined);
  const base_url = config.base_url ?? known?.baseUrl;
  if (format === undefined || base_url === undefined) throw incomplete(id, format, base_url);
  if (config.model === undefined && needsModel) throw noModel(id);
  const needsKey = (providerOfHost(base_url)?.keyVariables.length ?? 0) > 0;
  if (config.api_key === undefined && needsKey) throw noKey(id, config);
  return {
    id,
    format,
    base_url,
    ...(config.api_key === undefined ? {} : { api_key: config.api_key }),
    include_reasoning: own?.include_reasoning ?? true,
    model: config.model ?? '',
  };
}

/** A model file has no address; its path is also a name for the model. */
function fromFile(config: ResolvedConfig): ProviderSelection {
  const path = config.providers[LOCAL]?.options?.model_path;
  if (typeof path !== 'string' || path.trim() === '') {
    throw new ConfigError('incomplete_provider', 'provider "local" needs providers.local.options.model_path: the path of a GGUF file', {
      value: LOCAL,
    });
  }
  return { id: LOCAL, format: 'local', include_reasoning: true, model: config.model ?? path.replace(/^.*[\\/]/, '') };
}

/** A name that only an adapter from outside can carry. */
function fromAdapter(id: string, config: ResolvedConfig): ProviderSelection {
  if (config.adapters.length === 0) {
    const names = [...new Set([...BUILT_IN_PROVIDERS.map((provider) => provider.id), LOCAL, ...Object.keys(config.providers)])];
    throw new ConfigError(
      'unknown_provider',
      `provider "${id}" is not known${suggestion(id, names)}; built in are ${names.join(', ')}; another one needs providers.${id}.format and providers.${id}.base_url`,
      { value: id, limit: names },
    );
  }
  return {
    id,
    ...(config.base_url === undefined ? {} : { base_url: config.base_url }),
    ...(config.api_key === undefined ? {} : { api_key: config.api_key }),
    include_reasoning: true,
    model: config.model ?? id,
  };
}

function noProvider(config: ResolvedConfig): ConfigError {
  const names = BUILT_IN_PROVIDERS.flatMap((provider) => provider.keyVariables.slice(0, 1));
  return new ConfigError(
    'no_provider',
    `no provider is configured. Ways to go on:
  a key:     export ${names[0]}=… (or ${names.slice(1).join(', ')}), or put it into ${config.state.secretsFile}
  a server:  --base-url http://localhost:8080/v1 --model <id>
  offline:   npm start in odek's repository, or --replay <file>`,
  );
}

function incomplete(id: string, format: ProviderFormat | undefined, base_url: string | undefined): ConfigError {
  if (id === LEGACY.id) return new ConfigError('incomplete_provider', 'provider "legacy" needs an address: --base-url <url>');
  const missing = [
    format === undefined ? `providers.${id}.format` : undefined,
    base_url === undefined ? `providers.${id}.base_url (or --base-url)` : undefined,
  ];
  return new ConfigError('incomplete_provider', `provider "${id}" is not built in and needs ${missing.filter(Boolean).join(' and ')}`, {
    value: id,
  });
}

function noModel(id: string): ConfigError {
  return new ConfigError(
    'no_model',
    `provider "${id}" has no default model: give --model <id>, ODEK_MODEL, or "model" in the configuration`,
    {
      value: id,
    },
  );
}

function noKey(id: string, config: ResolvedConfig): ConfigError {
  const [variable = 'ODEK_API_KEY'] = builtIn(id)?.keyVariables ?? [];
  return new ConfigError(
    'no_api_key',
    `provider "${id}" needs a key: export ${variable}=…, or put ${variable}=… into ${config.state.secretsFile} (mode 0600)`,
    { value: id },
  );
}

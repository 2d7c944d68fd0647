import { GENERAL_KEY } from './provider-keys.ts';
import { BUILT_IN_PROVIDERS, builtIn, LEGACY, providerOfHost } from './providers.ts';
import type { ConfigSource, ProviderConfig } from './types.ts';

/** What the layers say about the provider. */
export interface ProviderFacts {
  readonly provider: string | undefined;
  readonly base_url: string | undefined;
  readonly api_key: string | undefined;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly sourceOf: (key: string) => ConfigSource | undefined;
  /** A key variable's value and where it was set. */
  readonly keyVariable: (name: string) => { readonly value: string; readonly source: ConfigSource } | undefined;
  readonly warn: (text: string) => void;
}

export interface Inferred {
  readonly provider?: { readonly id: string; readonly source: ConfigSource };
  readonly base_url?: { readonly value: string; readonly source: ConfigSource };
  readonly api_key?: { readonly value: string; readonly source: ConfigSource };
  readonly defaultModel?: string;
}

const STRENGTH: readonly ConfigSource[] = ['default', 'secrets.env', 'global', 'project', 'env', 'flag'];

/**
 * Who the provider is (named, else the address's owner, else the first of `providers`, else the first
 * key variable that has one), its address as far as one is given, and its key. Nothing is guessed
 * beyond that (DECISIONS 41).
 */
export function inferProvider(facts: ProviderFacts): Inferred {
  const provider = whichProvider(facts);
  if (provider === undefined) return {};
  const base_url = whichAddress(facts, provider);
  const key = whichKey(facts, provider.id);
  const model = builtIn(provider.id)?.defaultModel;
  return {
    provider,
    ...(base_url === undefined ? {} : { base_url }),
    ...(key === undefined ? {} : { api_key: key }),
    ...(model === undefined ? {} : { defaultModel: model }),
  };
}

/**
 * The address that was given for the provider. `base_url` of a file yields to `providers.<id>.base_url`,
 * and an address of another known provider yields to a provider that a stronger layer names.
 */
function whichAddress(facts: ProviderFacts, provider: NonNullable<Inferred['provider']>): Inferred['base_url'] {
  const { base_url, providers, sourceOf, warn } = facts;
  const source = sourceOf('base_url') ?? 'default';
  const own = providers[provider.id]?.base_url;
  if (own !== undefined && strength(source) <= strength('global')) return { value: own, source: 'global' };
  if (base_url === undefined) return undefined;
  const owner = providerOfHost(base_url);
  const weaker = facts.provider !== undefined && strength(source) < strength(provider.source);
  if (owner === undefined || owner.id === provider.id || !weaker) return { value: base_url, source };
  warn(`base_url is not used: it is the address of ${owner.id}, and the provider is ${provider.id}`);
  return undefined;
}

function whichProvider(facts: ProviderFacts): Inferred['provider'] {
  const { provider, base_url, providers, sourceOf, keyVariable, warn } = facts;
  if (provider !== undefined) return { id: provider, source: sourceOf('provider') ?? 'default' };
  if (base_url !== undefined) {
    const id = providerOfHost(base_url)?.id ?? LEGACY.id;
    if (id === LEGACY.id) warn(`${hostOf(base_url)} is no host that odek knows: it is spoken to in the OpenAI format`);
    return { id, source: sourceOf('base_url') ?? 'default' };
  }
  const [configured] = Object.keys(providers);
  if (configured !== undefined) return { id: configured, source: 'global' };
  for (const candidate of BUILT_IN_PROVIDERS) {
    const key = first(candidate.keyVariables, keyVariable);
    if (key !== undefined) return { id: candidate.id, source: key.source };
  }
  return undefined;
}

function whichKey(facts: ProviderFacts, id: string): Inferred['api_key'] {
  const { providers, api_key, sourceOf, keyVariable } = facts;
  const own = providers[id]?.api_key;
  if (own !== undefined) return { value: own, source: 'global' };
  if (api_key !== undefined) return { value: api_key, source: sourceOf('api_key') ?? 'default' };
  const known = builtIn(id);
  const names = id === LEGACY.id ? LEGACY.keyVariables : [...(known?.keyVariables ?? []), ...(known?.borrowedKeyVariables ?? [])];
  return first([GENERAL_KEY, ...names], keyVariable);
}

function first(names: readonly string[], find: ProviderFacts['keyVariable']): ReturnType<ProviderFacts['keyVariable']> {
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function strength(source: ConfigSource | undefined): number {
  return source === undefined ? -1 : STRENGTH.indexOf(source);
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

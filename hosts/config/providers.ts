import type { Service } from '../../adapters/llm/services.ts';
import { isServiceName, SERVICES, serviceOfAddress } from '../../adapters/llm/services.ts';

/** A provider that odek knows by name. */
export interface BuiltInProvider extends Service {
  readonly id: string;
}

/** In the order in which a key in the environment names the provider. */
export const BUILT_IN_PROVIDERS: readonly BuiltInProvider[] = Object.entries<Service>(SERVICES).map(([id, service]) => ({
  id,
  ...service,
}));

/** An unknown address without a name: OpenAI format, any of these keys, or none. */
export const LEGACY = { id: 'legacy', keyVariables: ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY'] } as const;

/** A model file that runs inside odek: no address and no key. */
export const LOCAL = 'local';

export function builtIn(id: string): BuiltInProvider | undefined {
  return isServiceName(id) ? { id, ...SERVICES[id] } : undefined;
}

/** The provider that an address belongs to. */
export function providerOfHost(address: string): BuiltInProvider | undefined {
  const name = serviceOfAddress(address);
  return name === undefined ? undefined : builtIn(name);
}

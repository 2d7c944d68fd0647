import type { Clock } from './clock.ts';
import type { EventSink } from './event-sink.ts';
import type { HttpClient } from './http.ts';
import type { LlmProvider } from './llm.ts';
import type { Logger } from './plugin.ts';

/** What odek lends to an adapter. */
export interface AdapterServices {
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly log: Logger['log'];
}

/** The ports that can be filled from outside the repository (DECISIONS 32). */
export interface AdapterPorts {
  readonly 'llm-provider': LlmProvider;
  readonly 'event-sink': EventSink;
}

/**
 * An adapter from a file or package that the operator named in `adapters`. `options` is the
 * operator's configuration object of that name, as parsed JSON; check it before use.
 */
export type AdapterDefinition = {
  [P in keyof AdapterPorts]: {
    readonly port: P;
    /** 1 to 64 of `[a-z0-9-]`; must not be the name of an adapter that odek brings. */
    readonly name: string;
    create(options: Readonly<Record<string, unknown>>, services: AdapterServices): Promise<AdapterPorts[P]> | AdapterPorts[P];
  };
}[keyof AdapterPorts];

/** Marks the default export of an adapter file and checks its types. Returns its argument. */
export function defineAdapter<D extends AdapterDefinition>(definition: D): D {
  return definition;
}

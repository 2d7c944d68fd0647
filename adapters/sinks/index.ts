import type { AdapterDefinition } from '../../ports/adapter.ts';

/** Where events can go, by name. */
export const SINKS = {
  jsonl: () => import('./jsonl.ts'),
  otel: () => import('./otel.ts'),
} satisfies Record<string, () => Promise<{ default: AdapterDefinition & { port: 'event-sink' } }>>;

export type SinkName = keyof typeof SINKS;

import type { ServedResult, ServedTools } from '../../../hosts/mcp/server.ts';

export interface FakeServed extends ServedTools {
  /** Calls under way, with their signals. */
  readonly signals: AbortSignal[];
  /** Adds a tool and tells. */
  add(name: string): void;
}

/** Tools by name: what they answer, or `hold` until they are cancelled. */
export function fakeServed(tools: Record<string, (input: unknown) => string>): FakeServed {
  const listeners = new Set<() => void>();
  const signals: AbortSignal[] = [];
  const names = new Set(Object.keys(tools));
  const held = (signal: AbortSignal): Promise<ServedResult> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ text: 'cancelled', isError: true })));
  return {
    signals,
    list: () => [...names].map((name) => ({ name, description: `Tool ${name}`, parameters: { type: 'object', properties: {} } })),
    has: (name) => names.has(name),
    async call(name, input, signal) {
      signals.push(signal);
      if (name === 'hold') return held(signal);
      return { text: tools[name]?.(input) ?? 'ok', isError: false };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    add(name) {
      names.add(name);
      for (const listener of listeners) listener();
    },
  };
}

import type { ToolRegistry } from '../core/plugins/registry.ts';

export interface ToolFilter {
  /** Absent: every tool. Empty: none. */
  readonly enabled?: readonly string[];
  readonly disabled: readonly string[];
}

/** A registry that takes only the tools the operator wants. Unknown names in the filter are ignored. */
export function filterTools(registry: ToolRegistry, filter: ToolFilter): ToolRegistry {
  if (filter.enabled === undefined && filter.disabled.length === 0) return registry;
  const enabled = filter.enabled && new Set(filter.enabled);
  const disabled = new Set(filter.disabled);
  const wanted = (name: string): boolean => (!enabled || enabled.has(name)) && !disabled.has(name);
  return {
    ...registry,
    registrar: (owner) => {
      const registrar = registry.registrar(owner);
      return { register: (tool) => (wanted(tool.name) ? registrar.register(tool) : () => {}) };
    },
  };
}

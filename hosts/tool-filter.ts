import type { ToolRegistry } from '../core/plugins/registry.ts';

export interface ToolFilter {
  /** Absent: every tool. Empty: none. */
  readonly enabled?: readonly string[];
  readonly disabled: readonly string[];
}

/** Whether the operator wants a tool. A tool with a long name has two: the whole one and the one that models are told. */
export function isWanted({ enabled, disabled }: ToolFilter, names: readonly string[]): boolean {
  return (enabled === undefined || names.some((name) => enabled.includes(name))) && !names.some((name) => disabled.includes(name));
}

/** A registry that takes only the tools the operator wants. Unknown names in the filter are ignored. */
export function filterTools(registry: ToolRegistry, filter: ToolFilter): ToolRegistry {
  if (filter.enabled === undefined && filter.disabled.length === 0) return registry;
  const wanted = (...names: readonly string[]): boolean => isWanted(filter, names);
  return {
    ...registry,
    registerMcp: (tool) => {
      const { spec, mark } = tool;
      return wanted(spec.name, `${mark.server}__${mark.tool}`) ? registry.registerMcp(tool) : () => {};
    },
    registrar: (owner) => {
      const registrar = registry.registrar(owner);
      return { register: (tool) => (wanted(tool.name) ? registrar.register(tool) : () => {}) };
    },
  };
}

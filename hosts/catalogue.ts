import type { ToolRegistry } from '../core/plugins/registry.ts';
import type { CataloguedServer, ToolCatalogue } from '../ports/tool-catalogue.ts';
import type { ToolFilter } from './tool-filter.ts';

/** What `list_tools` tells. `servers` is asked each time: they come and go. */
export function createCatalogue(
  registry: Pick<ToolRegistry, 'list'>,
  filter: ToolFilter,
  servers: () => readonly CataloguedServer[] = () => [],
): ToolCatalogue {
  return {
    describe: () => ({
      tools: registry.list().map(({ owner, spec }) => ({ name: spec.name, owner, description: spec.description })),
      filter: { disabled: filter.disabled, ...(filter.enabled !== undefined && { enabled: filter.enabled }) },
      servers: servers(),
    }),
  };
}

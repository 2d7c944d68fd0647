import { createToolRegistry } from '../../core/plugins/registry.ts';
import { createCatalogue } from '../../hosts/catalogue.ts';
import { filterTools } from '../../hosts/tool-filter.ts';
import type { ToolCatalogue } from '../../ports/tool-catalogue.ts';
import type { BrokenAdapter } from './suite.ts';
import type { ToolCatalogueHarness } from './tool-catalogue.suite.ts';

const FILTER = { enabled: ['zoo', 'ant', 'shell'], disabled: ['shell'] };

/** The catalogue of a registry, with or without a fault. */
export function catalogueHarness(fault: (plain: ToolCatalogue) => Partial<ToolCatalogue> = () => ({})): ToolCatalogueHarness {
  return {
    make() {
      const registry = filterTools(createToolRegistry(), FILTER);
      const plain = createCatalogue(registry, FILTER);
      return {
        catalogue: { ...plain, ...fault(plain) },
        register: (owner, name) =>
          registry
            .registrar(owner)
            .register({ name, description: `The tool ${name}.`, parameters: { type: 'object' }, execute: async () => '' }),
      };
    },
  };
}

/** Catalogues that each break one sentence. */
export const brokenToolCatalogues: readonly BrokenAdapter<ToolCatalogueHarness>[] = [
  {
    name: 'remembers what it saw first',
    caughtBy: 'tool-catalogue/live',
    harness: catalogueHarness((plain) => {
      const first = plain.describe();
      return { describe: () => first };
    }),
  },
  {
    name: 'tells what the filter left over instead of the filter',
    caughtBy: 'tool-catalogue/filter',
    harness: catalogueHarness((plain) => ({ describe: () => ({ ...plain.describe(), filter: { disabled: [] } }) })),
  },
];

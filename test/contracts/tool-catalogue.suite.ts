import assert from 'node:assert/strict';
import type { ToolCatalogue } from '../../ports/tool-catalogue.ts';
import type { ContractSuite } from './suite.ts';

export interface ToolCatalogueHarness {
  /** A catalogue without tools, under a filter that disables `shell` and enables `zoo`, `ant` and `shell`. */
  make(): { readonly catalogue: ToolCatalogue; register(owner: string, tool: string): () => void };
}

/** The contract of {@link ToolCatalogue}. */
export const toolCatalogueSuite: ContractSuite<ToolCatalogueHarness> = {
  port: 'ToolCatalogue',
  cases: [
    {
      id: 'tool-catalogue/live',
      sentence: '`describe` gives the tools that can be called at that moment, in name order, each with its owner.',
      async run(harness) {
        const { catalogue, register } = harness.make();
        const listed = (): readonly string[] => catalogue.describe().tools.map(({ name, owner }) => `${owner}/${name}`);
        assert.deepEqual(listed(), []);
        const forget = register('first', 'zoo');
        register('second', 'ant');
        assert.deepEqual(listed(), ['second/ant', 'first/zoo']);
        assert.ok(catalogue.describe().tools.every(({ description }) => description.length > 0));
        forget();
        assert.deepEqual(listed(), ['second/ant']);
      },
    },
    {
      id: 'tool-catalogue/filter',
      sentence: "It gives the operator's filter as it is configured.",
      async run(harness) {
        assert.deepEqual(harness.make().catalogue.describe().filter, { enabled: ['zoo', 'ant', 'shell'], disabled: ['shell'] });
      },
    },
  ],
};

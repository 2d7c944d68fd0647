import assert from 'node:assert/strict';
import type { ConfigView } from '../../ports/config-view.ts';
import type { ContractSuite } from './suite.ts';

export interface ConfigViewHarness {
  /**
   * A view of a configuration with these values: `max_iterations` 7, `tools.disabled` `["shell"]`, `api_key` and a
   * `base_url` that both hold `secret`.
   */
  make(secret: string): ConfigView;
}

const SECRET = 'canary-0123456789abcdef';

/** The contract of {@link ConfigView}. */
export const configViewSuite: ContractSuite<ConfigViewHarness> = {
  port: 'ConfigView',
  cases: [
    {
      id: 'config-view/sections',
      sentence: '`view` gives values by dotted key, all of them or those of one section.',
      async run(harness) {
        const config = harness.make(SECRET);
        const all = config.view() ?? {};
        assert.equal(all.max_iterations, 7);
        assert.deepEqual(all['tools.disabled'], ['shell']);
        assert.ok(Object.keys(all).length > 10, 'the defaults are there too');
        assert.deepEqual(config.view('tools'), { 'tools.disabled': ['shell'] });
        assert.deepEqual(config.view('max_iterations'), { max_iterations: 7 });
        assert.deepEqual(
          Object.keys(config.view('dangerous') ?? {}).filter((key) => !key.startsWith('dangerous.')),
          [],
        );
      },
    },
    {
      id: 'config-view/no-secrets',
      sentence: 'No secret is in it, whether under a key of its own or within another value.',
      async run(harness) {
        const text = JSON.stringify(harness.make(SECRET).view());
        assert.ok(text.includes('base_url') && text.includes('api_key'), 'both keys are shown');
        assert.ok(!text.includes(SECRET), 'the secret is shown');
      },
    },
    {
      id: 'config-view/unknown',
      sentence: 'A section that does not exist gives `undefined`.',
      async run(harness) {
        for (const section of ['nothing', 'tool', '__proto__', 'tools.', 'constructor'])
          assert.equal(harness.make(SECRET).view(section), undefined, section);
      },
    },
  ],
};

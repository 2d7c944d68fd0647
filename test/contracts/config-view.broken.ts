import { createConfigView } from '../../hosts/config-view.ts';
import { embeddedConfig } from '../../hosts/embed/config.ts';
import type { ConfigView } from '../../ports/config-view.ts';
import type { ConfigViewHarness } from './config-view.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The view of a configuration made for the suite, with or without a fault. */
export function configViewHarness(fault: (plain: ConfigView, secret: string) => Partial<ConfigView> = () => ({})): ConfigViewHarness {
  return {
    make(secret) {
      const document = {
        max_iterations: 7,
        tools: { disabled: ['shell'] },
        api_key: secret,
        base_url: `https://user:${secret}@llm.example.com/v1`,
      };
      const config = embeddedConfig(document, { stateDir: '/state', workspace: '/work' }, () => {});
      const plain = createConfigView(config);
      return { ...plain, ...fault(plain, secret) };
    },
  };
}

/** Views that each break one sentence. */
export const brokenConfigViews: readonly BrokenAdapter<ConfigViewHarness>[] = [
  {
    name: 'gives everything for any section',
    caughtBy: 'config-view/sections',
    harness: configViewHarness((plain) => ({ view: (section) => plain.view(section) && plain.view() })),
  },
  {
    name: 'shows the key',
    caughtBy: 'config-view/no-secrets',
    harness: configViewHarness((plain, secret) => ({ view: (section) => ({ ...plain.view(section), api_key: secret }) })),
  },
  {
    name: 'gives nothing for what does not exist',
    caughtBy: 'config-view/unknown',
    harness: configViewHarness((plain) => ({ view: (section) => plain.view(section) ?? {} })),
  },
];

import { describe, expect, it } from 'vitest';
import { createExtensionHostLauncher } from '../../adapters/extension-host/index.ts';
import { openPlace, RUNTIMES } from '../adapters/extension-host/stage.ts';
import { createFakeExtensionSeat } from '../fakes/extension-host.ts';
import { brokenExtensionHosts } from './extension-host.broken.ts';
import { type ExtensionHostHarness, extensionHostSuite } from './extension-host.suite.ts';

function processes(node: string): ExtensionHostHarness {
  return {
    async seat() {
      const place = openPlace({ node });
      return {
        launcher: createExtensionHostLauncher(place.options),
        spec: { name: 'contract', readable: [place.snapshots], writable: [place.data] },
        place: (name, files) => place.place(name, files),
        crash: (host) => process.kill(host.report().pid, 'SIGKILL'),
        close: async () => place.remove(),
      };
    },
  };
}

const subjects: readonly (readonly [string, ExtensionHostHarness])[] = [
  ...RUNTIMES.map((node, index) => [`processes of runtime ${index + 1}`, processes(node)] as const),
  ['the fake', { seat: async () => createFakeExtensionSeat() }],
];

describe.each(subjects)('hosts of plugins: %s', (_, harness) => {
  it.each(extensionHostSuite.cases)('$sentence', ({ run }) => run(harness), 60_000);
});

describe('broken hosts of plugins', () => {
  it.each(brokenExtensionHosts)('are found out: one that $name', async ({ caughtBy, harness }) => {
    const caught = extensionHostSuite.cases.find((each) => each.id === caughtBy);
    expect(caught, caughtBy).toBeDefined();
    await expect(caught?.run(harness)).rejects.toThrow();
  });
});

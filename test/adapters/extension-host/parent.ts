/** Starts a host with a plugin that never lets go, says so, and waits to be killed. */
import { createExtensionHostLauncher } from '../../../adapters/extension-host/index.ts';
import type { ActivateParams } from '../../../ports/extension-host.ts';

interface Given {
  readonly options: Parameters<typeof createExtensionHostLauncher>[0];
  readonly spec: { readonly name: string; readonly readable: readonly string[]; readonly writable: readonly string[] };
  readonly params: ActivateParams;
}

const { options, spec, params } = JSON.parse(String(process.argv[2])) as Given;
const never = new AbortController().signal;
const host = await createExtensionHostLauncher({ ...options, environment: process.env }).start(
  spec,
  { request: async () => ({ handle: 'spin' }), notice: () => {} },
  never,
);
await host.activate(params, never);
host.call({ method: 'tool/call', params: { handle: 'spin', call_id: 'c', input: {} }, deadlineMs: 60_000 }, never).result.catch(() => {});
setTimeout(() => process.stdout.write('spins\n'), 300);

import type { ExtensionHost, ExtensionHostListener, HostCall } from '../../ports/extension-host.ts';
import { createFakeExtensionSeat } from '../fakes/extension-host.ts';
import type { ExtensionHostHarness } from './extension-host.suite.ts';
import type { BrokenAdapter } from './suite.ts';

interface Changes {
  readonly host?: (host: ExtensionHost) => Partial<ExtensionHost>;
  readonly listener?: (listener: ExtensionHostListener) => Partial<ExtensionHostListener>;
}

/** The fake, whose hosts or whose ways to their listener are changed. */
function broken(
  name: string,
  caughtBy: string,
  { host: changeHost, listener: changeListener }: Changes,
): BrokenAdapter<ExtensionHostHarness> {
  return {
    name,
    caughtBy: `extension-host/${caughtBy}`,
    harness: {
      async seat() {
        const seat = createFakeExtensionSeat();
        const inner = new WeakMap<ExtensionHost, ExtensionHost>();
        return {
          ...seat,
          launcher: {
            async start(spec, listener, signal) {
              const host = await seat.launcher.start(spec, { ...listener, ...changeListener?.(listener) }, signal);
              const changed = { ...host, ...changeHost?.(host) };
              inner.set(changed, host);
              return changed;
            },
          },
          crash: (host) => seat.crash(inner.get(host) ?? host),
        };
      },
    },
  };
}

type AnyCall = (call: HostCall, signal: AbortSignal) => { readonly result: Promise<unknown>; hold(): () => void };

/** `change` gets the call as the host makes it. */
function changedCall(change: (call: AnyCall) => AnyCall): Changes {
  return { host: (host) => ({ call: change(host.call as AnyCall) as ExtensionHost['call'] }) };
}

const never = new AbortController().signal;

/** Hosts that the suite must reject. */
export const brokenExtensionHosts: readonly BrokenAdapter<ExtensionHostHarness>[] = [
  broken('calls an entry active that threw', 'activation', {
    host: (host) => ({
      async activate(params, signal) {
        const result = await host.activate(params, signal);
        return { status: 'ok', entries: result.entries.map((each) => ({ ...each, status: 'ok' })) };
      },
    }),
  }),
  broken('says nothing about what failed', 'activation', {
    host: (host) => ({
      async activate(params, signal) {
        const result = await host.activate(params, signal);
        return { ...result, entries: result.entries.map((each) => ({ ...each, diagnostic: '' })) };
      },
    }),
  }),
  broken(
    'calls whatever was registered first',
    'calls',
    changedCall((call) => (request, signal) => call({ ...request, params: { ...request.params, handle: 'handle-1' } } as HostCall, signal)),
  ),
  broken(
    'makes a result of what was thrown',
    'failures',
    changedCall((call) => (request, signal) => {
      const pending = call(request, signal);
      return { ...pending, result: pending.result.catch((error: Error) => ({ content: error.message, failed: true })) };
    }),
  ),
  broken(
    'waits for a handle that is not there',
    'handles',
    changedCall((call) => (request, signal) => {
      const pending = call(request, signal);
      const gone = (error: { readonly code?: string }): unknown => {
        if (error.code === 'extension_not_available') return { content: '', failed: false };
        throw error;
      };
      return { ...pending, result: pending.result.catch(gone) };
    }),
  ),
  broken(
    'does not hear that a call is withdrawn',
    'cancellation',
    changedCall((call) => (request) => call(request, never)),
  ),
  broken(
    'gives calls all the time there is',
    'deadlines',
    changedCall((call) => (request, signal) => call({ ...request, deadlineMs: 60_000 }, signal)),
  ),
  broken(
    'lets the clock of a held call run',
    'deadlines',
    changedCall((call) => (request, signal) => ({ ...call(request, signal), hold: () => () => {} })),
  ),
  broken('forgets who asks', 'requests', {
    listener: (listener) => ({
      request: (request, signal) =>
        listener.request(
          {
            ...request,
            params: { ...request.params, owner: { plugin_id: 'x', generation: 1, owner_token: 'x'.repeat(16) } },
          } as typeof request,
          signal,
        ),
    }),
  }),
  broken('says that everything ended', 'deactivation', {
    host: (host) => ({
      async deactivate(owner) {
        await host.deactivate(owner);
        return { disposed: true, leaked: [] };
      },
    }),
  }),
  broken('leaves the registrations of an owner', 'deactivation', {
    listener: (listener) => ({
      request: async (request, signal) => (request.method === 'registry/unregister' ? {} : listener.request(request, signal)),
    }),
  }),
  broken('tells twice that it ended', 'exit', {
    listener: (listener) => ({
      notice(notice) {
        listener.notice(notice);
        if (notice.kind === 'state' && notice.state === 'exited') listener.notice(notice);
      },
    }),
  }),
  broken(
    'leaves what waits when the process ends',
    'exit',
    changedCall((call) => (request, signal) => {
      const pending = call(request, signal);
      return {
        ...pending,
        result: pending.result.catch((error: { readonly code?: string }) =>
          error.code === 'extension_exited' ? new Promise(() => {}) : Promise.reject(error),
        ),
      };
    }),
  ),
  broken('does not end', 'close', { host: () => ({ close: async () => {} }) }),
];

import { CancelledError, DeadlineError } from '../../../ports/errors.ts';
import {
  type ActivateParams,
  type CommandAnswer,
  type ExtensionHost,
  ExtensionHostError,
  type ExtensionHostLauncher,
  type ExtensionHostListener,
  type ExtensionHostSpec,
  type HookAnswer,
  type HostCall,
  type HostRequest,
  type OwnerRef,
  type Registration,
  type ToolCallAnswer,
  type ToolCallParams,
} from '../../../ports/extension-host.ts';

type Handler = (params: never, signal: AbortSignal) => Promise<unknown>;

/** What the code of a plugin may do in a fake process. */
export interface FakeContext {
  readonly owner: OwnerRef;
  readonly params: ActivateParams;
  readonly process: FakeProcess;
  register(spec: Registration, handler?: Handler, entry?: string): Promise<string>;
  unregister(handle: string): Promise<unknown>;
  ask(request: HostRequest, signal?: AbortSignal): Promise<unknown>;
}

export type FakePlugin = (ctx: FakeContext) => Promise<void> | void;

export interface FakeProcess {
  readonly spec: ExtensionHostSpec;
  readonly listener: ExtensionHostListener;
  readonly handlers: Map<string, { readonly owner: OwnerRef; readonly run: Handler }>;
  readonly deactivated: OwnerRef[];
  /** Milliseconds that calls were held, and how often. */
  holds: number;
  holding: number;
  crash(detail?: string): void;
  isClosed: boolean;
}

export interface FakeLauncher extends ExtensionHostLauncher {
  readonly processes: FakeProcess[];
  /** What `start` rejects with, while set. */
  fault: Error | undefined;
  /** What a teardown leaves behind. */
  leaks: readonly string[];
}

const PATH = '/usr/bin/node';

/** Processes that are objects: `plugins` by name of the manifest. */
export function createFakeLauncher(plugins: Readonly<Record<string, FakePlugin>>): FakeLauncher {
  const launcher: FakeLauncher = {
    processes: [],
    fault: undefined,
    leaks: [],
    async start(spec, listener, signal) {
      if (launcher.fault !== undefined) throw launcher.fault;
      if (signal.aborted) throw new CancelledError();
      const dying = new AbortController();
      const gone = (): ExtensionHostError =>
        new ExtensionHostError('extension_exited', `the plugin host ended: ${String(dying.signal.reason)}`);
      const process: FakeProcess = {
        spec,
        listener,
        handlers: new Map(),
        deactivated: [],
        holds: 0,
        holding: 0,
        isClosed: false,
        crash(detail = 'killed by SIGKILL') {
          if (process.isClosed) return;
          process.isClosed = true;
          dying.abort(detail);
          listener.notice({ kind: 'state', state: 'exited', detail });
        },
      };
      const ask = (request: HostRequest, asked: AbortSignal = new AbortController().signal): Promise<unknown> =>
        process.isClosed ? Promise.reject(gone()) : listener.request(request, AbortSignal.any([asked, dying.signal]));
      const run = async (call: HostCall, outer: AbortSignal): Promise<unknown> => {
        if (process.isClosed) throw gone();
        const handler = process.handlers.get(call.params.handle);
        if (handler === undefined) throw new ExtensionHostError('extension_not_available', 'there is no such handle');
        const ended = Promise.withResolvers<never>();
        ended.promise.catch(() => {});
        outer.addEventListener('abort', () => ended.reject(new CancelledError()), { once: true });
        dying.signal.addEventListener('abort', () => ended.reject(gone()), { once: true });
        const timer = setTimeout(() => {
          if (process.holding === 0) ended.reject(new DeadlineError('the call ran past its limit'));
        }, call.deadlineMs);
        if (outer.aborted) throw new CancelledError();
        try {
          return await Promise.race([
            Promise.resolve(handler.run(call.params as never, outer)).catch((error: unknown) => {
              throw new ExtensionHostError('extension_call_failed', error instanceof Error ? error.message : String(error));
            }),
            ended.promise,
          ]);
        } finally {
          clearTimeout(timer);
        }
      };
      const host: ExtensionHost = {
        async activate(params) {
          const plugin = plugins[params.plugin_name];
          const outcome = (status: 'ok' | 'failed', diagnostic: string) => ({
            status,
            entries: params.entries.map(({ path }) => ({ entry: path, status, diagnostic, tools: [], commands: [], effects: [] })),
          });
          const context: FakeContext = {
            owner: params.owner,
            params,
            process,
            ask,
            async register(spec, handler = async () => ({}), entry = params.entries[0]?.path ?? '') {
              const { handle } = (await ask({ method: 'registry/register', params: { owner: params.owner, entry, spec } })) as {
                handle: string;
              };
              process.handlers.set(handle, { owner: params.owner, run: handler });
              return handle;
            },
            unregister: (handle) => ask({ method: 'registry/unregister', params: { owner: params.owner, handle } }),
          };
          if (process.isClosed) throw gone();
          try {
            await plugin?.(context);
          } catch (error) {
            if (process.isClosed) throw gone();
            return outcome('failed', error instanceof Error ? error.message : String(error));
          }
          if (process.isClosed) throw gone();
          return outcome('ok', '');
        },
        async deactivate(owner) {
          process.deactivated.push(owner);
          for (const [handle, each] of process.handlers) if (each.owner.owner_token === owner.owner_token) process.handlers.delete(handle);
          return { disposed: launcher.leaks.length === 0, leaked: launcher.leaks };
        },
        call: (call, outer) => ({
          result: run(call, outer) as never,
          hold() {
            process.holds += 1;
            process.holding += 1;
            return () => {
              process.holding -= 1;
            };
          },
        }),
        report: () => ({
          state: process.isClosed ? 'exited' : 'ready',
          pid: 1,
          runtime: { name: 'node', version: '24.0.0', path: PATH },
          sandbox: 'bwrap',
          memory: 'none',
          startMs: 1,
          pending: 0,
          stderrTail: '',
        }),
        async close() {
          process.isClosed = true;
          dying.abort('closed');
        },
      };
      launcher.processes.push(process);
      return host;
    },
  };
  return launcher;
}

/** A tool of a fake plugin. */
export function fakeTool(
  name: string,
  execute: (input: never, params: ToolCallParams, signal: AbortSignal) => Promise<string> | string,
  more: Partial<Extract<Registration, { kind: 'tool' }>> = {},
): [Registration, Handler] {
  const spec: Registration = { kind: 'tool', name, description: `Does ${name} for a test.`, input_schema: { type: 'object' }, ...more };
  const run = async (params: ToolCallParams, signal: AbortSignal): Promise<ToolCallAnswer> => ({
    content: await execute(params.input as never, params, signal),
    failed: false,
  });
  return [spec, run as Handler];
}

export function fakeHook(answer: (params: never, signal: AbortSignal) => Promise<HookAnswer> | HookAnswer): [Registration, Handler] {
  return [{ kind: 'hook', name: 'tools/pre-execute' }, async (params, signal) => answer(params, signal)];
}

export function fakeCommand(
  name: string,
  answer: (params: never, signal: AbortSignal) => Promise<CommandAnswer> | CommandAnswer,
): [Registration, Handler] {
  return [{ kind: 'command', name, description: `The command ${name}.` }, async (params, signal) => answer(params, signal)];
}

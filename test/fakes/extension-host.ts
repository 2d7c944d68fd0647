import { randomBytes } from 'node:crypto';
import { CancelledError } from '../../ports/errors.ts';
import {
  type ActivateParams,
  type DeactivateResult,
  type EntryOutcome,
  type ExtensionHost,
  ExtensionHostError,
  type ExtensionHostListener,
  type ExtensionHostState,
  type HostCall,
  HostRefusal,
  type Registration,
} from '../../ports/extension-host.ts';
import type { ExtensionSeat } from '../contracts/extension-host.suite.ts';

interface FakeTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  execute(input: unknown, exec: object): Promise<unknown>;
}

interface Undo {
  readonly label: string;
  run(): unknown;
}

interface FakeOwner {
  readonly params: ActivateParams;
  readonly undo: Undo[];
  closed: boolean;
}

interface FakeLive {
  readonly owner: FakeOwner;
  readonly tool: FakeTool;
}

const DISPOSE_MS = 200;

/** Hosts without a process: plugins run beside the test. For what can be told without a sandbox. */
export function createFakeExtensionSeat(): ExtensionSeat {
  const sources = new Map<string, Readonly<Record<string, string>>>();
  const crashes = new Map<ExtensionHost, () => void>();
  return {
    spec: { name: 'fake', readable: [], writable: [] },
    launcher: {
      async start(_, listener) {
        const { host, end } = createFakeHost(listener, (root) => sources.get(root) ?? {});
        crashes.set(host, () => end('it was ended by SIGKILL'));
        return host;
      },
    },
    place(name, files) {
      const root = `/${name}/${randomBytes(4).toString('hex')}`;
      sources.set(root, files);
      const hashes = Object.fromEntries(Object.keys(files).map((path) => [path, '0'.repeat(64)]));
      return {
        owner: { plugin_id: name, generation: 1, owner_token: randomBytes(16).toString('hex') },
        ...{ plugin_name: name, root, files: hashes, config: {}, data_dir: '/data', services: [] },
        entries: Object.entries(hashes).map(([path, sha256]) => ({ path, sha256 })),
      };
    },
    crash: (host) => crashes.get(host)?.(),
    close: async () => {},
  };
}

function createFakeHost(listener: ExtensionHostListener, filesOf: (root: string) => Readonly<Record<string, string>>) {
  const live = new Map<string, FakeLive>();
  const owners = new Map<string, FakeOwner>();
  const ending = new AbortController();
  let state: ExtensionHostState = 'ready';
  let how = '';
  const ask = (request: Parameters<ExtensionHostListener['request']>[0]): Promise<unknown> => listener.request(request, ending.signal);

  const end = (why: string): void => {
    if (state === 'exited') return;
    state = 'exited';
    how = why;
    ending.abort();
    listener.notice({ kind: 'state', state, detail: why });
  };
  const exited = (): ExtensionHostError => new ExtensionHostError('extension_exited', `the fake host is not running: ${how}`);
  /** As a process does: what comes after its end is never seen. */
  const whileRunning = <Value>(work: Promise<Value>): Promise<Value> =>
    new Promise((resolve, reject) => {
      if (state === 'exited') reject(exited());
      ending.signal.addEventListener('abort', () => reject(exited()));
      work.then(resolve, reject);
    });

  const contextOf = (owner: FakeOwner, path: string, undo: Undo[], pending: Promise<unknown>[]) => ({
    tools: {
      register(tool: FakeTool) {
        const spec: Registration = { kind: 'tool', name: tool.name, description: tool.description, input_schema: tool.parameters };
        let handle: string | undefined;
        pending.push(
          ask({ method: 'registry/register', params: { owner: owner.params.owner, entry: path, spec } }).then((answer) => {
            handle = (answer as { readonly handle: string }).handle;
            live.set(handle, { owner, tool });
          }),
        );
        undo.push({
          label: `tool ${tool.name}`,
          run() {
            if (handle === undefined) return undefined;
            live.delete(handle);
            return ask({ method: 'registry/unregister', params: { owner: owner.params.owner, handle } });
          },
        });
      },
    },
    effect(run: () => () => unknown, label: string) {
      undo.push({ label, run: run() });
    },
  });

  const applyEntry = async (owner: FakeOwner, path: string, source: string): Promise<EntryOutcome> => {
    const undo: Undo[] = [];
    const pending: Promise<unknown>[] = [];
    try {
      const module = (await import(
        /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(`${source}\n// ${randomBytes(4).toString('hex')}`)}`
      )) as {
        apply(ctx: unknown): Promise<void>;
      };
      await module.apply(contextOf(owner, path, undo, pending));
      await Promise.all(pending);
    } catch (error) {
      await Promise.allSettled(pending);
      for (const each of undo) await each.run();
      return { entry: path, status: 'failed', diagnostic: (error as Error).message, tools: [], commands: [], effects: [] };
    }
    owner.undo.push(...undo);
    const effects = undo.map(({ label }) => label);
    const tools = effects.flatMap((label) => (label.startsWith('tool ') ? [label.slice('tool '.length)] : []));
    return { entry: path, status: 'ok', diagnostic: '', tools, commands: [], effects };
  };

  const deactivate = async (owner: FakeOwner | undefined): Promise<DeactivateResult> => {
    if (owner === undefined) return { disposed: true, leaked: [] };
    owner.closed = true;
    const left = new Set(owner.undo);
    const done = Promise.all(
      owner.undo.map(async (each) => {
        await each.run();
        left.delete(each);
      }),
    );
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, DISPOSE_MS))]);
    return { disposed: left.size === 0, leaked: [...left].map(({ label }) => label) };
  };

  const runTool = async (call: HostCall, signal: AbortSignal): Promise<unknown> => {
    const target = live.get(call.params.handle);
    if (call.method !== 'tool/call' || target === undefined || target.owner.closed)
      throw new ExtensionHostError('extension_not_available', 'it is not registered any more');
    const { call_id: callId, workspace, input, ticket } = call.params;
    const { owner } = target.owner.params;
    const core = {
      call: (name: string, own: unknown) =>
        ask({ method: 'core/call', params: { owner, ticket: ticket ?? '', name, input: own } }).catch(coreCallError),
    };
    try {
      const result = await target.tool.execute(input, { signal, callId, workspace, core });
      return typeof result === 'string' ? { content: result, failed: false } : result;
    } catch (error) {
      throw new ExtensionHostError('extension_call_failed', (error as Error).message);
    }
  };

  const host = {
    async activate(params) {
      const owner: FakeOwner = { params, undo: [], closed: false };
      owners.set(params.owner.owner_token, owner);
      const files = filesOf(params.root);
      const entries: EntryOutcome[] = [];
      for (const { path } of params.entries) entries.push(await applyEntry(owner, path, files[path] ?? ''));
      return { status: entries.some((each) => each.status === 'ok') ? 'ok' : 'failed', entries };
    },
    deactivate: (owner) => deactivate(owners.get(owner.owner_token)),
    call(call: HostCall, signal: AbortSignal) {
      const controller = new AbortController();
      let holds = 0;
      let timer: NodeJS.Timeout | undefined;
      const limited = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          controller.abort();
          reject(new CancelledError());
        });
        timer = setTimeout(() => {
          if (holds === 0) reject(new ExtensionHostError('extension_timeout', `it took longer than ${call.deadlineMs} ms`));
        }, call.deadlineMs);
      });
      const result = whileRunning(Promise.race([runTool(call, controller.signal), limited])).finally(() => clearTimeout(timer));
      const hold = () => {
        holds += 1;
        return () => {
          holds -= 1;
        };
      };
      return { result: result as Promise<never>, hold };
    },
    report: () => ({
      ...{ state, pid: process.pid, runtime: { name: 'node', version: process.versions.node, path: process.execPath } as const },
      ...{ sandbox: 'none' as const, memory: 'none', startMs: 0, pending: 0, stderrTail: '' },
    }),
    close: async () => end('it was closed'),
  } satisfies ExtensionHost as ExtensionHost;
  return { host, end };
}

function coreCallError(error: unknown): never {
  const { reason, message, refusal } = error as HostRefusal;
  throw Object.assign(new Error(message), {
    name: 'CoreCallError',
    code: error instanceof HostRefusal ? reason : 'failed',
    data: { dsh_refusal: refusal },
  });
}

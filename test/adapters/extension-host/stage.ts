import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createExtensionHostLauncher, type ExtensionHostOptions } from '../../../adapters/extension-host/index.ts';
import type {
  ActivateParams,
  ActivateResult,
  ExtensionHost,
  HostCallAnswers,
  HostNotice,
  HostRequest,
  OwnerRef,
  Registration,
} from '../../../ports/extension-host.ts';

/** The program of hosts, as it was built for this run of the tests. */
export const PROGRAM = join(dirname(process.env.ODEK_TEST_PROGRAM as string), 'extension-host.mjs');

/** What runs a host: the Node of these tests, and those of `ODEK_TEST_NODES`, a list like a search path. */
export const RUNTIMES: readonly string[] = [process.execPath, ...(process.env.ODEK_TEST_NODES ?? '').split(':').filter(Boolean)];

/** A folder for everything, and a launcher over it. */
export interface Place {
  readonly folder: string;
  readonly snapshots: string;
  readonly data: string;
  readonly options: ExtensionHostOptions;
  /** Writes a plugin's files. Entries are those named, else all. */
  place(
    name: string,
    files: Readonly<Record<string, string>>,
    more?: { readonly entries?: readonly string[]; readonly config?: unknown },
  ): ActivateParams;
  remove(): void;
}

export function openPlace(more: Partial<ExtensionHostOptions> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'odek-extension-'));
  const snapshots = join(folder, 'snapshots');
  const data = join(folder, 'data');
  for (const each of [snapshots, data, join(folder, 'project')]) mkdirSync(each);
  let generation = 0;
  return {
    folder,
    snapshots,
    data,
    options: { program: PROGRAM, stateDir: join(folder, 'state'), workspace: join(folder, 'project'), environment: process.env, ...more },
    place(name, files, { entries = Object.keys(files), config = {} } = {}) {
      generation += 1;
      const root = join(snapshots, `${name}-${generation}`);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      const data_dir = join(data, name);
      mkdirSync(data_dir, { recursive: true });
      const hashes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, sha256(text)]));
      return {
        owner: { plugin_id: name, generation, owner_token: randomBytes(16).toString('hex') },
        ...{ plugin_name: name, root, files: hashes, config, data_dir, services: [] },
        entries: entries.map((path) => ({ path, sha256: hashes[path] ?? '' })),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A host that runs, and what its listener got. */
export interface Stage extends Place {
  readonly host: ExtensionHost;
  readonly requests: HostRequest[];
  readonly notices: HostNotice[];
  readonly live: Map<string, Registration>;
  activate(name: string, files: Readonly<Record<string, string>>, more?: Parameters<Place['place']>[2]): Promise<ActivateResult>;
  handleOf(name: string): string;
  /** The answer of a tool, by its name. */
  tool(
    name: string,
    input?: unknown,
    more?: { readonly ticket?: string; readonly deadlineMs?: number; readonly signal?: AbortSignal },
  ): Promise<HostCallAnswers['tool/call']>;
  /** Ends every plugin and forgets what was told, for the next test in the same process. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Answers what the stage does not answer itself; undefined leaves it to the stage. */
export type Answer = (request: HostRequest, signal: AbortSignal) => Promise<unknown> | undefined;

export async function openStage(more: Partial<ExtensionHostOptions> = {}, answer: Answer = () => undefined): Promise<Stage> {
  const place = openPlace(more);
  const requests: HostRequest[] = [];
  const notices: HostNotice[] = [];
  const live = new Map<string, Registration>();
  const started = await createExtensionHostLauncher(place.options)
    .start(
      { name: 'test', readable: [place.snapshots], writable: [place.data] },
      {
        async request(request, signal) {
          requests.push(request);
          const own = answer(request, signal);
          if (own !== undefined) return own;
          if (request.method === 'registry/unregister') live.delete(request.params.handle);
          if (request.method === 'schema/check') return { issues: [] };
          if (request.method !== 'registry/register') return {};
          const handle = `h-${randomBytes(8).toString('hex')}`;
          live.set(handle, request.params.spec);
          return { handle };
        },
        notice: (notice) => void notices.push(notice),
      },
      new AbortController().signal,
    )
    .catch((error: unknown) => {
      place.remove();
      throw error;
    });
  const owners: OwnerRef[] = [];
  const host: ExtensionHost = {
    ...started,
    activate(params, signal) {
      owners.push(params.owner);
      return started.activate(params, signal);
    },
  };
  const never = new AbortController().signal;
  const handleOf = (name: string): string => [...live].find(([, spec]) => spec.name === name)?.[0] ?? 'none';
  return {
    ...place,
    host,
    requests,
    notices,
    live,
    handleOf,
    activate: (name, files, options) => host.activate(place.place(name, files, options), never),
    tool: (name, input = {}, { ticket, deadlineMs = 15_000, signal = never } = {}) =>
      host.call(
        {
          method: 'tool/call',
          params: { handle: handleOf(name), call_id: 'c1', input, workspace: '/project', ...(ticket !== undefined && { ticket }) },
          deadlineMs,
        },
        signal,
      ).result,
    async reset() {
      for (const owner of owners.splice(0)) await host.deactivate(owner);
      requests.length = 0;
      notices.length = 0;
      live.clear();
    },
    async close() {
      await host.close();
      place.remove();
    },
  };
}

/** A plugin that registers tools, from their names and bodies. */
export function withTools(
  tools: Readonly<Record<string, string>>,
  {
    head = '',
    body = '',
    inject = ['tools'],
  }: { readonly head?: string; readonly body?: string; readonly inject?: readonly string[] } = {},
): string {
  const registered = Object.entries(tools).map(
    ([name, code]) =>
      `ctx.tools.register({ name: '${name}', description: 'A tool of a test', parameters: { type: 'object' }, async execute(input, exec) { ${code} } });`,
  );
  return `${head}\nexport const inject = ${JSON.stringify(inject)};\nexport async function apply(ctx, config) {\n${registered.join('\n')}\n${body}\n}\n`;
}

/** Numbers of living processes whose command line holds `text`. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
        );
      } catch {
        return false;
      }
    });
}

/** Waits until it is true; fails loudly when it does not get so. */
export async function until(isSo: () => boolean, ms = 15_000): Promise<void> {
  const end = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it did not get so within ${ms} ms: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

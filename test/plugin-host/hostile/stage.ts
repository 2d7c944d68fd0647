import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createExtensionHostLauncher } from '../../../adapters/extension-host/index.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { attachCallServices, type CallServices } from '../../../core/agent/attached-services.ts';
import { serverOf, skillRootFault } from '../../../hosts/plugin-host/offers.ts';
import type { ActiveBundle } from '../../../ports/bundle.ts';
import type { ToolExecution, ToolResult } from '../../../ports/plugin.ts';
import { PROGRAM, RUNTIMES } from '../../adapters/extension-host/stage.ts';
import { bundle, createDeskHarness, type DeskHarness } from '../../hosts/plugin-host/harness.ts';

/** What stands in odek's own environment and may be seen nowhere inside. */
export const MARKER = 'canary-1f6a-of-odek';

export interface HostilePlugin {
  /** Path → text; `main.mjs` is the entry. */
  readonly files: Readonly<Record<string, string>>;
  readonly services?: readonly string[];
  readonly hosts?: readonly string[];
}

export interface HostileStage extends DeskHarness {
  /** Absolute folder that no plugin may see. */
  readonly outside: string;
  /** Calls a tool under a gate that says yes to everything core is asked for. */
  call(tool: string, input?: unknown, services?: CallServices): Promise<string>;
  plugin(name: string): ReturnType<DeskHarness['desk']['report']>['plugins'][number] | undefined;
}

const OBLIGING: CallServices = {
  call: async ({ name }) => ({ outcome: 'completed', text: `${name} ran` }),
  complete: async () => 'an answer',
};

type OnHostileStage = (plugins: Readonly<Record<string, HostilePlugin>>, work: (stage: HostileStage) => Promise<void>) => Promise<void>;

/** Every Node that the collection runs on. */
export const HOSTILE_RUNTIMES: readonly { readonly name: string; readonly onHostileStage: OnHostileStage }[] = RUNTIMES.map(
  (node, index) => ({
    name: `runtime ${index + 1}`,
    onHostileStage: (plugins, work) => stageOn(node, plugins, work),
  }),
);

/** Real processes in their jail, with a plugin that means well beside those that do not. */
async function stageOn(
  node: string,
  plugins: Readonly<Record<string, HostilePlugin>>,
  work: (stage: HostileStage) => Promise<void>,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'odek-hostile-')));
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'the secret');
  const good: HostilePlugin = {
    files: {
      'main.mjs':
        "export const inject = ['tools']; export const apply = (ctx) => { ctx.tools.register({ name: 'good_tool', description: 'Means well.', parameters: { type: 'object' }, execute: () => 'still here' }); };",
    },
  };
  const bundles = Object.entries({ good, ...plugins }).map(([name, { files, services = [], hosts = [] }]): ActiveBundle => {
    const root = join(folder, 'snapshots', name);
    const table: Record<string, string> = {};
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      table[path] = createHash('sha256').update(text).digest('hex');
    }
    const entries = [{ path: 'main.mjs', sha256: table['main.mjs'] ?? '' }];
    return bundle(name, { root, source: root, table, entries, services, hosts, dataDir: join(folder, 'data', name) });
  });
  const launcher = createExtensionHostLauncher({
    program: PROGRAM,
    node,
    stateDir: join(folder, 'state'),
    workspace: folder,
    environment: { ...process.env, ODEK_MARKER: MARKER },
  });
  const stage = await createDeskHarness(
    {},
    {
      ...{ bundles, launcher, skillRootFault },
      serverOf: (each, name, definition) => serverOf(each, name, definition, createSha256()),
      connectServer: () => () => {},
    },
  );
  try {
    await work({
      ...stage,
      outside,
      plugin: (name) => stage.desk.report().plugins.find((each) => each.name === name),
      async call(tool, input = {}, services = OBLIGING) {
        const exec: ToolExecution = {
          signal: AbortSignal.timeout(30_000),
          callId: 'c1',
          args: input,
          workspace: stage.workspace,
          dataDir: '/d',
        };
        attachCallServices(exec, services);
        const result = (await stage.registry.get(tool)?.spec.execute(input as never, exec)) as ToolResult | undefined;
        return result?.content ?? `there is no tool ${tool}`;
      },
    });
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A plugin whose one tool does `body` and gives what that returns, or how it failed. `input` and `exec` are there. */
export function trying(body: string, head = '', inject: readonly string[] = ['tools']): HostilePlugin {
  return {
    files: {
      'main.mjs': `${head}
export const inject = ${JSON.stringify(inject)};
export const apply = (ctx) => {
  ctx.tools.register({ name: 'bad_tool', description: 'Tries something.', parameters: { type: 'object' },
    async execute(input, exec) { try { ${body} } catch (error) { return 'FAILED ' + (error.code ?? '') + ' ' + error.message; } } });
};`,
    },
  };
}

/** A plugin that does `body` while it is activated. `ctx` is there. */
export function activating(
  body: string,
  inject: readonly string[] = ['tools', 'commands', 'prompt', 'skills', 'mcp'],
  head = '',
): HostilePlugin {
  return {
    files: { 'main.mjs': `${head}\nexport const inject = ${JSON.stringify(inject)};\nexport const apply = async (ctx) => { ${body} };` },
  };
}

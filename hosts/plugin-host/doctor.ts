import { createExtensionHostLauncher } from '../../adapters/extension-host/index.ts';
import { createSha256 } from '../../adapters/hash/sha256.ts';
import { displayText } from '../../core/approvals/display.ts';
import { isOdekError } from '../../ports/errors.ts';
import { activeBundles } from '../bundles/active.ts';
import { bundlePlaces, mayHaveBundles } from '../bundles/places.ts';
import { openShelf } from '../bundles/shelf.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { extensionProgram } from '../extension-child/program.ts';

/** A line of `odek doctor`. */
interface Finding {
  readonly ok: boolean;
  readonly text: string;
  readonly advice?: string;
}

type Config = Pick<ResolvedConfig, 'extension_host' | 'plugins' | 'state'>;
type Env = Readonly<Record<string, string | undefined>>;

/** What `odek doctor` says of plugins: those that are on and cannot run, and whether their process starts here, which is tried. */
export async function pluginFindings(config: Config, env: Env, workspace: string): Promise<readonly Finding[]> {
  const places = bundlePlaces(config.state, workspace);
  if (!mayHaveBundles(places)) return [];
  const hash = createSha256();
  const findings: Finding[] = [];
  const warn = (text: string): void =>
    void findings.push({ ok: false, text: displayText(text, 500), advice: 'odek plugin list shows more' });
  const shelf = openShelf({ places, hash, env, warn });
  const { bundles, troubles } = await activeBundles({ shelf, places, hash, configs: {} });
  for (const { name, why } of troubles)
    findings.push({ ok: false, text: `plugin "${name}": ${displayText(why, 500)}`, advice: `odek plugin show ${name} shows more` });
  const coded = bundles.filter(({ entries }) => entries.length > 0).map(({ name }) => name);
  if (coded.length === 0) return findings;
  if (!config.extension_host.enabled) {
    const advice = 'set extension_host.enabled: true in your configuration, or odek plugin disable them';
    return [...findings, { ok: false, text: `the code of ${coded.join(', ')} is not run: extension_host.enabled is false`, advice }];
  }
  return [...findings, await processFinding(config, env, workspace)];
}

async function processFinding({ extension_host, state }: Config, env: Env, workspace: string): Promise<Finding> {
  const { node, allow_unsandboxed: allowUnsandboxed } = extension_host;
  const launcher = createExtensionHostLauncher({
    ...{ program: extensionProgram(), stateDir: state.home, workspace, environment: env, allowUnsandboxed },
    ...(node !== undefined && { node }),
  });
  const listener = { request: async () => ({}), notice: () => {} };
  try {
    const host = await launcher.start({ name: 'doctor', readable: [], writable: [] }, listener, new AbortController().signal);
    const { runtime, sandbox, memory } = host.report();
    await host.close();
    const text = `plugin host: node ${runtime.version} (${runtime.path}), ${sandbox === 'bwrap' ? 'in bwrap' : 'without a sandbox'}, memory ${memory}`;
    return sandbox === 'bwrap'
      ? { ok: true, text }
      : { ok: false, text, advice: 'install bubblewrap and set extension_host.allow_unsandboxed: false' };
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    const fix = isOdekError(error) && typeof error.limit === 'string' ? error.limit : 'plugins without code go on working';
    return { ok: false, text: `plugin host: ${displayText(told, 800)}`, advice: fix };
  }
}

import { userInfo } from 'node:os';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import type { BundleActor } from '../../../ports/bundle.ts';
import type { Hash } from '../../../ports/hash.ts';
import { type BundlePlaces, bundlePlaces } from '../../bundles/places.ts';
import { openShelf, type Shelf } from '../../bundles/shelf.ts';
import type { ResolvedConfig } from '../../config/types.ts';

/** What a running odek knows of plugins beside what is on disk. */
export interface LivePlugins {
  /** Lines about one plugin that runs: its tools, its commands, what it told. */
  lines(name: string): readonly string[];
  /** Lines about the process that runs them. */
  health(): readonly string[];
  /** Looks at everything on disk again, and ends and starts what changed. */
  reload(): Promise<readonly string[]>;
}

/** What the actions on plugins share. */
export interface PluginWork {
  readonly shelf: Shelf;
  readonly places: BundlePlaces;
  readonly hash: Hash;
  readonly config: Pick<ResolvedConfig, 'extension_host' | 'plugins' | 'state'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that relative paths are of. */
  readonly cwd: string;
  readonly json: boolean;
  readonly replace: boolean;
  /** Absent where nothing runs: a command of its own. */
  readonly live?: LivePlugins;
  /** Whoever gave this action. */
  actor(action: string): BundleActor;
  out(line: string): void;
}

export interface WorkOptions {
  readonly config: PluginWork['config'];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `odek plugin` or `/plugin`. */
  readonly how: string;
  /** Whether a person typed it at a terminal. */
  readonly isPerson: boolean;
  readonly json?: boolean;
  readonly replace?: boolean;
  readonly live?: LivePlugins;
  out(line: string): void;
  warn(text: string): void;
}

export function openPluginWork({
  config,
  cwd,
  env,
  how,
  isPerson,
  json = false,
  replace = false,
  live,
  out,
  warn,
}: WorkOptions): PluginWork {
  const hash = createSha256();
  const places = bundlePlaces(config.state, cwd);
  return {
    ...{ places, hash, config, cwd, env, json, replace, out },
    ...(live && { live }),
    shelf: openShelf({ places, hash, env, warn, unsandboxed: config.extension_host.allow_unsandboxed }),
    actor: (action) => ({
      who: isPerson ? 'person' : 'command-line',
      how: `${how} ${action}`,
      account: accountName(env),
      at: Date.now(),
    }),
  };
}

/** A system may have no name for a user. */
function accountName(env: WorkOptions['env']): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? 'unknown';
  }
}

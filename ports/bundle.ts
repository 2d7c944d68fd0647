import { OdekError } from './errors.ts';
import type { McpServer } from './mcp.ts';

/** Services of the core that a bundle may ask for in its manifest; nothing else is a name of one. */
export const HOST_SERVICES = ['files', 'commands', 'model', 'network', 'settings', 'plugins'] as const;

/** Modules of node that the code of a bundle may import. Files and folders stay within what the process of the host sees. */
export const PLUGIN_BUILTINS = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'crypto',
  'events',
  'fs',
  'fs/promises',
  'path',
  'perf_hooks',
  'querystring',
  'stream',
  'stream/promises',
  'string_decoder',
  'timers',
  'timers/promises',
  'url',
  'util',
  'zlib',
] as const;

/** Packages that the host brings; a copy of one in a bundle would not be the same. */
export const HOST_PACKAGES = [
  '@deepseek-ai/cordis',
  '@deepseek-ai/cosmokit',
  '@deepseek-ai/dsh-commands/brand',
  '@deepseek-ai/schemastery',
] as const;

/** The module of the types for authors. It has no values: only `import type` may name it. */
export const TYPES_PACKAGE = 'odek/plugin';

export type HostServiceName = (typeof HOST_SERVICES)[number];

/** What a bundle asks for beside running code. All of it is part of the capability hash. */
export interface BundleCapabilities {
  /** Sorted, each once. */
  readonly hostServices: readonly HostServiceName[];
  /** Host names, or `host:port`, that `network` may reach. Sorted, each once. */
  readonly networkHosts: readonly string[];
  /** Absolute folders, or folders relative to the workspace, that `files` may read. Sorted, each once. */
  readonly filesystemRoots: readonly string[];
  readonly lifecycleMutation: boolean;
}

/** `user`: below the state folder, for every project. `workspace`: below a project, for that project alone. */
export type BundleScope = 'user' | 'workspace';

/** Who did something. `person` was at a terminal; `command-line` is everything else. */
export interface BundleActor {
  readonly who: 'person' | 'command-line';
  /** Such as `odek plugin trust` or `/plugin trust`. */
  readonly how: string;
  /** The name of the account, as the system has it. */
  readonly account: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** One module that the host starts with. */
export interface BundleEntry {
  /** Relative to {@link ActiveBundle.root}, with `/`. A key of {@link ActiveBundle.table}. */
  readonly path: string;
  /** 64 hex digits: of the bytes that are run. */
  readonly sha256: string;
}

/** A bundle that is trusted, switched on, staged and unchanged: what may be run, and with what. */
export interface ActiveBundle {
  /** 16 hex digits, the same for as long as the bundle stays at its place. */
  readonly id: string;
  /** The manifest's name: 1 to 64 of `a-z0-9.-`. */
  readonly name: string;
  readonly version?: string;
  readonly scope: BundleScope;
  /** Absolute folder of the project. Of a workspace bundle only. */
  readonly workspace?: string;
  /** 64 hex digits each; together, with a dot, the trust token. */
  readonly contentHash: string;
  readonly capabilityHash: string;
  /** Absolute folder of the copy that is run: types are gone, names are as reviewed. */
  readonly root: string;
  /** Absolute folder of the copy of exactly what was reviewed. */
  readonly source: string;
  /** Every file below {@link root} that a module may be loaded from → 64 hex digits of its bytes. */
  readonly table: Readonly<Record<string, string>>;
  /** In the order in which they are activated. Empty: the bundle has no code. */
  readonly entries: readonly BundleEntry[];
  readonly capabilities: BundleCapabilities;
  /** Of the operator's configuration; `{}` where there is none. At most 16 KiB of JSON, 16 levels deep. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Why the configuration cannot be delivered; the code must then not be activated. */
  readonly configRefused?: string;
  /** Absolute folder that the bundle may write; may not exist yet. */
  readonly dataDir: string;
  /** Absolute folders; each holds skills at `<folder>/<skill>/SKILL.md`. */
  readonly skillRoots: readonly string[];
  /** Named `<plugin>_<server>`; their folders and variables are already filled in. */
  readonly mcpServers: readonly McpServer[];
  readonly trustedBy: BundleActor;
  readonly enabledBy: BundleActor;
}

export type BundleErrorCode =
  | 'plugin_not_found'
  | 'plugin_exists'
  | 'plugin_invalid'
  | 'plugin_refused'
  | 'plugin_too_large'
  | 'plugin_changed'
  | 'plugin_not_trusted'
  | 'plugin_token_mismatch'
  | 'plugin_unsupported'
  | 'plugin_state_busy'
  | 'plugin_state_unwritable';

/** A bundle cannot be read, installed, trusted or run. `value` is what was seen, `limit` the bound. */
export class BundleError extends OdekError {
  constructor(code: BundleErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

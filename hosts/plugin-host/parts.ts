import type { DiagnosticRing } from '../../core/extensions/diagnostics.ts';
import type { Handles } from '../../core/extensions/handles.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EntryOutcome, ExtensionHostLauncher, HostService, OwnerRef } from '../../ports/extension-host.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { Ids } from '../../ports/ids.ts';
import type { McpServer } from '../../ports/mcp.ts';
import type { SchemaValidator } from '../../ports/schema.ts';

/** What is switched on and trusted, as the state on disk has it now. */
export interface BundleSource {
  active(): Promise<readonly ActiveBundle[]>;
  /** Changes whenever `active` may give something else. Cheap and synchronous: it is asked every few milliseconds while calls run. */
  stamp(): string;
}

/** Live objects that the plugin host works with. */
export interface PluginHostParts {
  readonly source: BundleSource;
  readonly launcher: ExtensionHostLauncher;
  readonly registry: ToolRegistry;
  readonly validator: SchemaValidator;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Rooted in the workspace; the file guard stands before it. */
  readonly fs: FileSystem;
  /** Reaches only public addresses and what the operator admitted. */
  readonly http: HttpClient;
  /** Hides secrets in what goes to a plugin. */
  readonly redact: (text: string) => string;
  /** Absolute path of the working directory. */
  readonly workspace: string;
  /** Names that odek's own slash commands have. */
  readonly builtInCommands: ReadonlySet<string>;
  /** Turns the definition of a server that code registered into one that can be connected; text says why not. */
  serverOf(bundle: ActiveBundle, name: string, definition: Readonly<Record<string, unknown>>): McpServer | string;
  /** Whether a path of a reviewed bundle holds skills; text says why not. */
  skillRootFault(bundle: ActiveBundle, path: string): Promise<string | undefined>;
  /** Tells of servers that code registered, and takes back what it gave for them. Absent: they are refused. */
  connectServer?(server: McpServer, plugin: string): () => void;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
}

/** One activation of one plugin. */
export interface Owned {
  readonly bundle: ActiveBundle;
  readonly ref: OwnerRef;
  readonly services: readonly HostService[];
  state: 'starting' | 'active' | 'failed' | 'gone';
  /** Why it is not active. */
  why: string;
  entries: readonly EntryOutcome[];
  /** Fires when the activation is over, whatever ended it: what is under way is dropped. */
  readonly ended: AbortController;
  /** It has had a pre-execute listener. */
  guards: boolean;
  /** Handle → what core did for the registration. */
  readonly undo: Map<string, () => void>;
}

/** What all groups share. */
export interface Shared extends PluginHostParts {
  readonly handles: Handles;
  readonly diagnostics: DiagnosticRing;
  /** Id of each bundle that looks at calls before they run → its name. While one of them is not running, nothing passes. */
  readonly guards: Map<string, string>;
  /** Whether the state on disk is still the one that grants were read from. Asked before a service is given, and after. */
  isCurrent(): boolean;
  /** Fires when what was granted may have been taken back: what a service is doing is dropped. */
  grants(): AbortSignal;
  /** Told when something that a model or a person sees came or went. */
  changed(): void;
}

/** `extension:<plugin>`: how cards, results and logs name a plugin. */
export function originOf({ name }: Pick<ActiveBundle, 'name'>): string {
  return `extension:${name}`;
}

/** Plugin and reviewed bytes. */
export function buildOf({ id, name, contentHash }: Pick<ActiveBundle, 'id' | 'name' | 'contentHash'>): string {
  return `extension:${name} ${id} ${contentHash}`;
}

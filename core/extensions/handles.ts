import type { OwnerRef, Registration, RegistrationKind } from '../../ports/extension-host.ts';
import type { Ids } from '../../ports/ids.ts';
import { utf8Length } from '../results/utf8.ts';
import { LIMITS } from './limits.ts';

/** One registration, for as long as it stands. */
export interface HandleRow {
  readonly handle: string;
  readonly owner: OwnerRef;
  /** The entry of the bundle that registered it. */
  readonly entry: string;
  readonly spec: Registration;
}

export type Admission = { readonly row: HandleRow } | { readonly refused: string };

/** Who registered what. Core alone writes it; nothing in it comes back once it is gone. */
export interface Handles {
  /** From here on the owner may register. Its token has never been used before. */
  open(owner: OwnerRef): void;
  /** Whether this very activation is alive. */
  isLive(owner: OwnerRef): boolean;
  /** The live owner that a host names, or undefined: a token is never taken on trust. */
  find(claimed: OwnerRef): OwnerRef | undefined;
  /** Refuses with a reason for an owner that is gone, for a name that is taken and over a limit. */
  admit(owner: OwnerRef, entry: string, spec: Registration): Admission;
  /** Takes back exactly this registration; undefined when it is not this owner's or is gone. A newer one of the same name stays. */
  undo(owner: OwnerRef, handle: string): HandleRow | undefined;
  /** At once, before anything is asked of a host: the owner is gone with all it had. */
  revoke(owner: OwnerRef): readonly HandleRow[];
  get(handle: string): HandleRow | undefined;
  /** In the order in which they were admitted. */
  rows<Kind extends RegistrationKind>(kind: Kind): readonly (HandleRow & { readonly spec: Extract<Registration, { kind: Kind }> })[];
  owned(owner: OwnerRef): readonly HandleRow[];
}

const BOUNDS: Readonly<Record<RegistrationKind, { readonly owner: number; readonly host: number; readonly what: string }>> = {
  tool: { owner: LIMITS.toolsPerOwner, host: LIMITS.toolsPerHost, what: 'tools' },
  command: { owner: LIMITS.commandsPerOwner, host: LIMITS.commandsPerHost, what: 'commands' },
  hook: { owner: LIMITS.hooksPerOwner, host: LIMITS.hooksPerHost, what: 'pre-execute listeners' },
  prompt_section: { owner: LIMITS.sectionsPerOwner, host: LIMITS.sectionsPerHost, what: 'prompt sections' },
  skill_root: { owner: LIMITS.skillRootsPerOwner, host: LIMITS.skillRootsPerHost, what: 'skill roots' },
  mcp_server: { owner: LIMITS.mcpServersPerOwner, host: LIMITS.mcpServersPerHost, what: 'MCP servers' },
};

/** Names of these kinds belong to the whole host, the others to their owner. */
const SHARED_NAMES: ReadonlySet<RegistrationKind> = new Set(['tool', 'command', 'mcp_server']);
const HANDLE_BYTES = 8;

function keyOf({ plugin_id, generation }: OwnerRef): string {
  return `${plugin_id} ${generation}`;
}

function sectionBytes(rows: readonly HandleRow[]): number {
  return rows.reduce((sum, { spec }) => sum + (spec.kind === 'prompt_section' ? utf8Length(spec.text) : 0), 0);
}

function overSections(spec: Registration, own: readonly HandleRow[], all: readonly HandleRow[]): string | undefined {
  if (spec.kind !== 'prompt_section') return undefined;
  const bytes = utf8Length(spec.text);
  const ownBytes = sectionBytes(own) + bytes;
  if (ownBytes > LIMITS.sectionBytesPerOwner)
    return `its prompt sections would have ${ownBytes} bytes, the limit is ${LIMITS.sectionBytesPerOwner}`;
  const allBytes = sectionBytes(all) + bytes;
  return allBytes > LIMITS.sectionBytesPerHost
    ? `all prompt sections would have ${allBytes} bytes, the limit is ${LIMITS.sectionBytesPerHost}`
    : undefined;
}

export function createHandles(ids: Ids): Handles {
  const live = new Map<string, OwnerRef>();
  const rows = new Map<string, HandleRow>();
  let count = 0;

  const find = (claimed: OwnerRef): OwnerRef | undefined => {
    const owner = live.get(keyOf(claimed));
    return owner !== undefined && owner.owner_token === claimed.owner_token ? owner : undefined;
  };

  const fault = (owner: OwnerRef, spec: Registration): string | undefined => {
    const { owner: perOwner, host, what } = BOUNDS[spec.kind];
    const all = [...rows.values()].filter((row) => row.spec.kind === spec.kind);
    const own = all.filter((row) => keyOf(row.owner) === keyOf(owner));
    if (own.length >= perOwner) return `it has ${own.length} ${what}, which is the limit`;
    if (all.length >= host) return `there are ${all.length} ${what}, which is the limit`;
    const isSame = (row: HandleRow): boolean => row.spec.name.toLowerCase() === spec.name.toLowerCase();
    const taken = spec.kind === 'hook' ? undefined : (SHARED_NAMES.has(spec.kind) ? all : own).find(isSame);
    if (taken !== undefined) return `the ${spec.kind.replace('_', ' ')} "${spec.name}" is registered already, by ${taken.owner.plugin_id}`;
    return overSections(spec, own, all);
  };

  return {
    open: (owner) => void live.set(keyOf(owner), owner),
    isLive: (owner) => find(owner) !== undefined,
    find,
    admit(owner, entry, spec) {
      if (find(owner) === undefined) return { refused: 'the plugin is not active any more' };
      const refused = fault(owner, spec);
      if (refused !== undefined) return { refused };
      count += 1;
      const row: HandleRow = { handle: `${count}-${ids.hex(HANDLE_BYTES)}`, owner, entry, spec };
      rows.set(row.handle, row);
      return { row };
    },
    undo(owner, handle) {
      const row = rows.get(handle);
      if (row === undefined || row.owner.owner_token !== owner.owner_token) return undefined;
      rows.delete(handle);
      return row;
    },
    revoke(owner) {
      if (find(owner) === undefined) return [];
      live.delete(keyOf(owner));
      const gone = [...rows.values()].filter((row) => row.owner.owner_token === owner.owner_token);
      for (const { handle } of gone) rows.delete(handle);
      return gone;
    },
    get: (handle) => rows.get(handle),
    rows: (kind) => [...rows.values()].filter((row) => row.spec.kind === kind) as never,
    owned: (owner) => [...rows.values()].filter((row) => row.owner.owner_token === owner.owner_token),
  };
}

import type { PluginPrompt, PreExecute } from '../../core/agent/plugin-seams.ts';
import { createDiagnostics, type Diagnostic } from '../../core/extensions/diagnostics.ts';
import { groupBundles } from '../../core/extensions/groups.ts';
import { createHandles, type HandleRow } from '../../core/extensions/handles.ts';
import { LIMITS } from '../../core/extensions/limits.ts';
import { renderSections } from '../../core/extensions/sections.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { EntryOutcome } from '../../ports/extension-host.ts';
import { createPluginCommands, type PluginCommands } from './commands.ts';
import { createGroup, type Group } from './group.ts';
import type { GroupReport } from './group-facts.ts';
import { evaluateHooks, type HookPlace } from './hooks.ts';
import { buildOf, type Owned, originOf, type PluginHostParts, type Shared } from './parts.ts';

/** What is known of one plugin while its code is at work. */
export interface LivePlugin {
  readonly id: string;
  readonly name: string;
  readonly state: Owned['state'];
  readonly why: string;
  readonly generation: number;
  readonly contentHash: string;
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  readonly entries: readonly EntryOutcome[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface PluginHostReport {
  readonly hosts: readonly GroupReport[];
  readonly plugins: readonly LivePlugin[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The plugins of one odek process. */
export interface PluginDesk {
  readonly prompt: PluginPrompt;
  readonly preExecute: PreExecute;
  readonly commands: PluginCommands;
  /** What a person's trust in an owner of tools is tied to. */
  buildOf(owner: string): string | undefined;
  /** Absolute folders with skills that code registered. */
  skillRoots(): readonly { readonly plugin: string; readonly path: string }[];
  /** Reads the state anew. `retry`: what failed or crashed is tried again. */
  reload(retry: boolean): Promise<void>;
  /** Resolves when everything that is being started has started, or failed. */
  settled(): Promise<void>;
  report(): PluginHostReport;
  close(): Promise<void>;
}

/** How long a turn waits for plugins that are being started. */
const READY_MS = 15_000;
const IDLE_POLL_MS = 1000;
/** While calls run, what another process turned off is seen within this. */
const BUSY_POLL_MS = 20;

export function createPluginDesk(parts: PluginHostParts, onChanged: () => void = () => {}): PluginDesk {
  const { clock, ids, source } = parts;
  const diagnostics = createDiagnostics(clock.now);
  let grants = new AbortController();
  const shared: Shared = {
    ...parts,
    handles: createHandles(ids),
    diagnostics,
    guards: new Map(),
    isCurrent: () => source.stamp() === stamp,
    grants: () => grants.signal,
    changed: () => onChanged(),
  };
  const groups = new Map<string, Group>();
  const generations = new Map<string, number>();
  let all: readonly ActiveBundle[] = [];
  let stamp = '';
  let closed = false;
  let reloading: Promise<void> = Promise.resolve();
  let stopPolling = (): void => {};

  const nextGeneration = (id: string): number => {
    const next = (generations.get(id) ?? 0) + 1;
    generations.set(id, next);
    return next;
  };

  const placeOf = ({ owner }: HandleRow): HookPlace | undefined => {
    for (const group of groups.values()) {
      const owned = group.owned().find((each) => each.ref.owner_token === owner.owner_token);
      if (owned !== undefined) return { owned, host: group.host, enter: group.enter };
    }
    return undefined;
  };

  const apply = async (retry: boolean): Promise<void> => {
    if (closed) return;
    stamp = source.stamp();
    all = await source.active();
    const wanted = groupBundles(all);
    const changes: Promise<void>[] = [];
    for (const [key, group] of groups) if (!wanted.has(key)) changes.push(group.update([], retry));
    for (const [key, bundles] of wanted) {
      const group = groups.get(key) ?? createGroup(shared, { name: `plugins-${groups.size + 1}`, nextGeneration, onActive });
      groups.set(key, group);
      changes.push(group.update(bundles, retry));
    }
    await Promise.all(changes);
  };

  const reload = (retry: boolean): Promise<void> => {
    reloading = reloading
      .then(() => apply(retry))
      .catch((error: unknown) => {
        const told = error instanceof Error ? error.message : String(error);
        diagnostics.add('error', `the state of plugins cannot be read: ${told}`);
        parts.log('warning', `the state of plugins cannot be read, and what runs goes on: ${told}`);
      });
    return reloading;
  };

  /** Nothing is given until it is read what is still granted; somebody changed something, so what failed is tried again. */
  const changedElsewhere = (): void => {
    grants.abort(new Error('plugins were changed'));
    void reload(true).then(() => {
      grants = new AbortController();
    });
  };

  const onActive = (): void => {
    stopPolling();
    poll();
  };

  const poll = (): void => {
    if (closed) return;
    const busy = [...groups.values()].some((group) => group.active() > 0);
    stopPolling = clock.after(busy ? BUSY_POLL_MS : IDLE_POLL_MS, () => {
      if (source.stamp() !== stamp) changedElsewhere();
      poll();
    });
  };

  const settled = async (): Promise<void> => {
    await reloading;
    await Promise.all([...groups.values()].map((group) => group.settled()));
  };

  const sectionsNow = () =>
    shared.handles.rows('prompt_section').flatMap((row) => {
      const place = placeOf(row);
      const { name: id, text, interpolate } = row.spec;
      return place === undefined ? [] : [{ plugin: place.owned.bundle.name, id, text, interpolate }];
    });

  const liveOf = (owned: Owned): LivePlugin => {
    const rows = shared.handles.owned(owned.ref);
    const named = (kind: string): string[] => rows.filter(({ spec }) => spec.kind === kind).map(({ spec }) => spec.name);
    const { id, name, contentHash } = owned.bundle;
    const facts = { id, name, contentHash, state: owned.state, why: owned.why, generation: owned.ref.generation };
    return { ...facts, tools: named('tool'), commands: named('command'), entries: owned.entries, diagnostics: diagnostics.list(name) };
  };

  const within = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) throw new CancelledError();
    const late = Promise.withResolvers<void>();
    const stop = clock.after(ms, late.resolve);
    const onAbort = (): void => late.reject(new CancelledError());
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([settled(), late.promise]);
    } finally {
      stop();
      signal.removeEventListener('abort', onAbort);
    }
  };

  const prompt: PluginPrompt = {
    ready: (signal) => within(READY_MS, signal),
    render: (facts) => renderSections(sectionsNow(), facts),
  };

  stamp = source.stamp();
  void reload(false);
  poll();
  return {
    prompt,
    async preExecute(call, signal) {
      // A guard that is being started again is waited for.
      if (shared.guards.size > 0) await within(LIMITS.hooksMs, signal);
      return evaluateHooks(call, shared, placeOf, signal);
    },
    commands: createPluginCommands(shared, placeOf),
    buildOf: (owner) => {
      const bundle = all.find((each) => originOf(each) === owner);
      return bundle && buildOf(bundle);
    },
    skillRoots: () =>
      shared.handles.rows('skill_root').flatMap((row) => {
        const place = placeOf(row);
        return place === undefined ? [] : [{ plugin: place.owned.bundle.name, path: `${place.owned.bundle.source}/${row.spec.name}` }];
      }),
    reload,
    settled,
    report: () => ({
      hosts: [...groups.values()].map((group) => group.report()),
      plugins: [...groups.values()].flatMap((group) => group.owned().map(liveOf)),
      diagnostics: diagnostics.list(),
    }),
    async close() {
      if (closed) return;
      closed = true;
      stopPolling();
      await reloading;
      await Promise.all([...groups.values()].map((group) => group.close()));
    },
  };
}

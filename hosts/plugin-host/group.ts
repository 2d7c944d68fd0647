import { mkdir } from 'node:fs/promises';
import { BACK_OFF_MS, createCrashBudget, createDirtyCount } from '../../core/extensions/crashes.ts';
import { createTickets, type Tickets } from '../../core/extensions/tickets.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { ExtensionHost, HostNotice } from '../../ports/extension-host.ts';
import type { CallInHost } from './call.ts';
import { describePhase, type GroupReport, ownedOf, type Phase, receiptOf } from './group-facts.ts';
import { type Owned, originOf, type Shared } from './parts.ts';
import { type Asking, answer } from './requests.ts';

/** The bundles that were granted the same, and their one process. */
export interface Group {
  /** Brings the process to exactly these bundles, one change after the other. `retry`: a person wants it, so what failed is tried again. */
  update(bundles: readonly ActiveBundle[], retry: boolean): Promise<void>;
  /** Resolves when nothing is being started or changed. */
  settled(): Promise<void>;
  owned(): readonly Owned[];
  /** Calls under way. */
  active(): number;
  host(): ExtensionHost | string;
  /** Counts a call for as long as it runs. */
  enter(): () => void;
  report(): GroupReport;
  close(): Promise<void>;
}

export interface GroupOptions {
  readonly name: string;
  /** The number of the next activation of a plugin: it grows over all groups and restarts. */
  nextGeneration(id: string): number;
  /** Told when the first call of a quiet group begins. */
  onActive(): void;
}

const TICKET_MS = 3_600_000;
const START_MS = 20_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function createGroup(shared: Shared, { name, nextGeneration, onActive }: GroupOptions): Group {
  const { clock, ids, diagnostics, handles, launcher } = shared;
  const budget = createCrashBudget(clock);
  const isDirty = createDirtyCount(clock);
  const closing = new AbortController();
  const current = new Map<string, Owned>();
  /** Receipt → why this exact thing is not tried again by itself. */
  const suppressed = new Map<string, string>();
  /** Tools of a process that crashed: their names stay known until they are back. */
  const parked = new Map<string, () => void>();
  let bundles: readonly ActiveBundle[] = [];
  let host: ExtensionHost | undefined;
  let mounted: ReadonlySet<string> = new Set();
  let tickets: Tickets<CallInHost> | undefined;
  let phase: Phase = 'idle';
  let why = '';
  let active = 0;
  let activating: Owned | undefined;
  let isTainted = false;
  let wantsRestart = false;
  let stopBackOff = (): void => {};
  let work: Promise<void> = Promise.resolve();

  const note = (level: 'info' | 'warning' | 'error', text: string, bundle?: ActiveBundle): void => {
    diagnostics.add(level, text, bundle?.name);
    const about = bundle === undefined ? '' : `${originOf(bundle)}: `;
    if (level !== 'info') shared.log(level, `${about}${text}`);
  };

  const unpark = (): void => {
    for (const undo of parked.values()) undo();
    parked.clear();
  };

  /** Takes everything of an activation back at once, before anything is asked of the process. */
  const revoke = (owned: Owned, state: 'failed' | 'gone', reason: string, keepNames = false): void => {
    if (owned.state === 'failed' || owned.state === 'gone') return;
    owned.state = state;
    owned.why = reason;
    const rows = handles.revoke(owned.ref);
    owned.ended.abort(new Error(reason));
    for (const { handle, spec } of rows) {
      const undo = owned.undo.get(handle);
      if (undo !== undefined && keepNames && spec.kind === 'tool') parked.set(spec.name, undo);
      else undo?.();
    }
    owned.undo.clear();
    if (owned.guards) shared.guards.set(owned.bundle.id, owned.bundle.name);
    shared.changed();
  };

  const later = (next: () => Promise<void>): Promise<void> => {
    work = work.then(next).catch((error: unknown) => note('error', `the plugin host could not be changed: ${messageOf(error)}`));
    return work;
  };

  const restartWhenIdle = (): void => {
    if (!wantsRestart || active > 0 || closing.signal.aborted) return;
    wantsRestart = false;
    void later(async () => {
      note('info', 'the host is started again now that it is idle');
      await takeDown('the host is started again');
      await bringUp();
    });
  };

  const enter = (): (() => void) => {
    active += 1;
    if (active === 1) onActive();
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      active -= 1;
      restartWhenIdle();
    };
  };

  const asking: Asking = {
    get tickets() {
      if (tickets === undefined) throw new Error('the host has not started');
      return tickets;
    },
    ownerOf(claimed) {
      const ref = handles.find(claimed);
      return ref === undefined ? undefined : [...current.values()].find((owned) => owned.ref === ref);
    },
    register(_owned, tool, place) {
      parked.get(tool)?.();
      parked.delete(tool);
      return place();
    },
    isClean: () => !isTainted,
    endForForgery() {
      note('error', 'the host presented tickets that it was never given, and is ended');
      void host?.close();
      crashed('it presented forged tickets');
    },
    hosting: {
      host: () => (phase === 'ready' && host !== undefined ? host : phaseText()),
      enter,
      ticketFor: (call) => {
        if (tickets === undefined) throw new Error('the host has not started');
        return tickets.issue(call.owned.ref, call, TICKET_MS);
      },
    },
  };

  function phaseText(): string {
    return describePhase(phase, why);
  }

  /** The process is gone by itself: nothing is sent again, and it is started anew as long as its budget lasts. */
  function crashed(detail: string): void {
    if (host === undefined) return;
    host = undefined;
    const reason = `its process ended: ${detail === '' ? 'no reason is known' : detail}`;
    note('warning', `the plugin host ended: ${detail}`);
    if (activating !== undefined) {
      suppressed.set(receiptOf(activating.bundle), `the host crashed while it was activated: ${detail}`);
      note('error', `the host crashed while it was activated: ${detail}`, activating.bundle);
    }
    const goesOn = budget.crashed();
    for (const owned of current.values()) revoke(owned, 'gone', reason, goesOn);
    why = detail;
    isTainted = false;
    if (!goesOn || closing.signal.aborted) {
      phase = 'stopped';
      unpark();
      return;
    }
    phase = 'restarting';
    const waited = Promise.withResolvers<void>();
    const stop = clock.after(BACK_OFF_MS, waited.resolve);
    stopBackOff = () => {
      stop();
      waited.resolve();
    };
    void later(async () => {
      await waited.promise;
      if (!closing.signal.aborted && host === undefined) await bringUp();
    });
  }

  const onNotice = (process: () => ExtensionHost | undefined, notice: HostNotice): void => {
    if (closing.signal.aborted) return;
    if (notice.kind === 'state') {
      if (process() !== host || host === undefined) return;
      if (notice.state === 'exited') crashed(notice.detail);
      else if (notice.state === 'unresponsive' || notice.state === 'ready') {
        if (phase === 'ready' || phase === 'unresponsive') phase = notice.state;
        if (notice.state === 'unresponsive') note('warning', `the plugin host does not answer ${notice.detail}`);
      }
      return;
    }
    const owned = notice.owner && asking.ownerOf(notice.owner);
    if (notice.kind === 'log') {
      diagnostics.add(notice.level, notice.message, owned?.bundle.name);
      if (owned !== undefined) shared.log(notice.level === 'error' ? 'warning' : 'debug', `${originOf(owned.bundle)}: ${notice.message}`);
      return;
    }
    if (owned === undefined) {
      note('warning', `code of a plugin threw outside any call: ${notice.message}`);
      return;
    }
    suppressed.set(receiptOf(owned.bundle), `it threw outside any call: ${notice.message}`);
    note('error', `it threw outside any call and is turned off: ${notice.message}`, owned.bundle);
    revoke(owned, 'failed', `it threw outside any call: ${notice.message}`);
    isTainted = true;
  };

  const failAll = (reason: string): void => {
    for (const bundle of bundles) current.set(bundle.id, { ...newOwned(bundle), state: 'failed', why: reason });
    unpark();
    shared.changed();
  };

  const newOwned = (bundle: ActiveBundle): Owned => ownedOf(bundle, nextGeneration(bundle.id), ids);

  const activate = async (process: ExtensionHost, bundle: ActiveBundle): Promise<void> => {
    const owned = newOwned(bundle);
    current.set(bundle.id, owned);
    const refusal = bundle.configRefused ?? suppressed.get(receiptOf(bundle));
    if (refusal !== undefined) {
      owned.state = 'failed';
      owned.why = refusal;
      note('warning', `it is not activated: ${refusal}`, bundle);
      return;
    }
    const wasGuard = shared.guards.has(bundle.id);
    /** A listener of an activation that failed never was one, unless it was at work before. */
    const forgetGuard = (): void => {
      if (wasGuard) return;
      owned.guards = false;
      shared.guards.delete(bundle.id);
    };
    handles.open(owned.ref);
    activating = owned;
    try {
      await mkdir(bundle.dataDir, { recursive: true, mode: 0o700 });
      const { status, entries } = await process.activate(
        {
          owner: owned.ref,
          plugin_name: bundle.name,
          root: bundle.root,
          entries: bundle.entries,
          files: bundle.table,
          config: bundle.config,
          data_dir: bundle.dataDir,
          services: owned.services,
        },
        closing.signal,
      );
      owned.entries = entries;
      for (const { entry, status: each, diagnostic } of entries) {
        if (each === 'ok') continue;
        note('warning', `${entry} was not activated: ${diagnostic}`, bundle);
        withdrawEntry(owned, entry);
      }
      const failed = entries.find((each) => each.status === 'failed');
      const hasHooks = handles.owned(owned.ref).some(({ spec }) => spec.kind === 'hook');
      if (!hasHooks && (status === 'ok' || !wasGuard)) {
        owned.guards = false;
        shared.guards.delete(bundle.id);
      }
      if (status === 'failed') forgetGuard();
      if (status === 'failed') revoke(owned, 'failed', failed?.diagnostic ?? 'no entry was activated');
      else if (owned.state === 'starting') owned.state = 'active';
    } catch (error) {
      note('error', `it was not activated: ${messageOf(error)}`, bundle);
      if (host !== undefined) forgetGuard();
      revoke(owned, 'failed', messageOf(error));
    } finally {
      if (activating === owned) activating = undefined;
    }
  };

  /** What a failed entry had registered goes, also where the process forgot to take it back. */
  const withdrawEntry = (owned: Owned, entry: string): void => {
    for (const row of handles.owned(owned.ref)) {
      if (row.entry !== entry || handles.undo(owned.ref, row.handle) === undefined) continue;
      owned.undo.get(row.handle)?.();
      owned.undo.delete(row.handle);
    }
    shared.changed();
  };

  async function bringUp(): Promise<void> {
    const wanted = bundles;
    if (wanted.length === 0 || closing.signal.aborted) return;
    phase = 'starting';
    why = '';
    isTainted = false;
    tickets = createTickets<CallInHost>({ ids, clock });
    const late = new AbortController();
    const stop = clock.after(START_MS, () => late.abort());
    let started: ExtensionHost | undefined;
    try {
      started = await launcher.start(
        { name, readable: wanted.map(({ root }) => root), writable: wanted.map(({ dataDir }) => dataDir) },
        {
          request: (request, signal) => answer(request, asking, shared, signal),
          notice: (notice) => onNotice(() => started ?? host, notice),
        },
        AbortSignal.any([closing.signal, late.signal]),
      );
    } catch (error) {
      phase = 'failed';
      why = late.signal.aborted ? `it was not ready within ${START_MS} ms` : messageOf(error);
      if (closing.signal.aborted) return;
      note('error', `plugins with code are off: ${why}`);
      failAll(phaseText());
      return;
    } finally {
      stop();
    }
    if (closing.signal.aborted) return started.close();
    host = started;
    mounted = new Set(wanted.flatMap(({ root, dataDir }) => [root, dataDir]));
    phase = 'ready';
    // It may have ended in the moment between.
    if (started.report().state === 'exited') crashed('it ended as soon as it was ready');
    for (const bundle of wanted) if (host === started) await activate(started, bundle);
    if (host === started) unpark();
  }

  async function takeDown(reason: string): Promise<void> {
    const ending = host;
    host = undefined;
    for (const owned of current.values()) revoke(owned, 'gone', reason, true);
    current.clear();
    phase = 'idle';
    await ending?.close();
  }

  /** Turns one plugin off while the others go on. */
  const deactivate = async (owned: Owned): Promise<void> => {
    const wasLoaded = owned.state === 'active' || owned.state === 'starting';
    revoke(owned, 'gone', 'it was turned off');
    current.delete(owned.bundle.id);
    shared.guards.delete(owned.bundle.id);
    if (host === undefined || !wasLoaded) return;
    isTainted = true;
    const { disposed, leaked } = await host.deactivate(owned.ref).catch(() => ({ disposed: false, leaked: [] }));
    if (!disposed || leaked.length > 0) {
      note('warning', `it did not end cleanly${leaked.length > 0 ? `: ${leaked.slice(0, 5).join(', ')}` : ''}`, owned.bundle);
      if (isDirty()) wantsRestart = true;
    }
    // Code that was loaded stays loaded; where something is granted, the others get a clean process.
    if (owned.services.length > 0) wantsRestart = true;
  };

  return {
    update(next, retry) {
      // At once: what is off may do nothing more while the rest is being changed.
      const kept = new Set(next.map(receiptOf));
      bundles = next;
      for (const owned of current.values()) if (!kept.has(receiptOf(owned.bundle))) revoke(owned, 'gone', 'it was turned off or changed');
      if (retry) {
        budget.reset();
        suppressed.clear();
        stopBackOff();
      }
      return later(async () => {
        if (closing.signal.aborted) return;
        for (const owned of [...current.values()]) if (!kept.has(receiptOf(owned.bundle))) await deactivate(owned);
        if (bundles.length === 0) return takeDown('no plugin is left').then(unpark);
        const isMounted = bundles.every(({ root, dataDir }) => mounted.has(root) && mounted.has(dataDir));
        if (host !== undefined && !isMounted && active > 0) {
          wantsRestart = true;
          return;
        }
        if (host !== undefined && !isMounted) await takeDown('another plugin joins');
        if (host === undefined) {
          const mayStart = retry || phase === 'idle';
          if (mayStart) await bringUp();
          return;
        }
        const process = host;
        for (const bundle of bundles) {
          const owned = current.get(bundle.id);
          const isTried = owned !== undefined && (owned.state === 'active' || !retry);
          if (!isTried && host === process) await activate(process, bundle);
        }
        restartWhenIdle();
      });
    },
    async settled() {
      for (let seen: Promise<void> | undefined; seen !== work; ) {
        seen = work;
        await seen;
      }
    },
    owned: () => [...current.values()],
    active: () => active,
    host: asking.hosting.host,
    enter,
    report: () => ({
      name,
      phase,
      why: phase === 'ready' ? '' : phaseText(),
      plugins: bundles.map((bundle) => bundle.name),
      ...(host && { process: host.report() }),
    }),
    async close() {
      if (closing.signal.aborted) return work;
      for (const owned of current.values()) revoke(owned, 'gone', 'odek ends');
      closing.abort();
      stopBackOff();
      unpark();
      const ending = host;
      host = undefined;
      await ending?.close();
      await work;
    },
  };
}

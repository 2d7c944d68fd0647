import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openAudit } from '../../../adapters/store/audit.ts';
import { openDatabase } from '../../../adapters/store/database.ts';
import { openStore, type Store, type StoreOptions } from '../../../adapters/store/index.ts';
import { ownIdentity } from '../../../adapters/store/process-identity.ts';
import { openSessions } from '../../../adapters/store/sessions.ts';
import type { Clock } from '../../../ports/clock.ts';
import { CancelledError } from '../../../ports/errors.ts';
import type { Ids } from '../../../ports/ids.ts';
import type { SessionPlace } from '../../contracts/session-store.suite.ts';

const ids: Ids = { hex: (bytes) => randomBytes(bytes).toString('hex') };

/** Real time whose calendar can be moved. Timers of `after` run only when they are fired by hand. */
export interface MovableClock extends Clock {
  move(ms: number): void;
  /** Runs what waits now. */
  fire(): void;
}

export function movableClock(): MovableClock {
  let offset = 0;
  const waiting = new Set<() => void>();
  return {
    now: () => Date.now() + offset,
    monotonic: () => performance.now(),
    async sleep(ms, signal) {
      try {
        await sleep(ms, undefined, signal === undefined ? {} : { signal });
      } catch {
        throw new CancelledError();
      }
    },
    after(_ms, run) {
      waiting.add(run);
      return () => void waiting.delete(run);
    },
    move(ms) {
      offset += ms;
    },
    fire() {
      const due = [...waiting];
      waiting.clear();
      for (const run of due) run();
    },
  };
}

/** A folder that exists until `remove`. The database lies in a subfolder that does not exist yet. */
export function tempPlace(): { readonly folder: string; readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'odek-store-'));
  return { folder, path: join(folder, 'state', 'odek.db'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function open(path: string, changes: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore({ path, surface: 'run', durability: 'process', clock: movableClock(), ids, ...changes });
}

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const INBOX_CHILD = fileURLToPath(new URL('./inbox-child.ts', import.meta.url));
const APPROVALS_CHILD = fileURLToPath(new URL('./approvals-child.ts', import.meta.url));

/** A real process that works on the database; see child.ts, approvals-child.ts and inbox-child.ts for its commands. */
export interface StoreChild {
  readonly process: ChildProcess;
  /** The next line it prints. Rejects when it ends first. */
  line(): Promise<string>;
  exited: Promise<void>;
}

export function startChild(path: string, command: string, ...args: string[]): StoreChild {
  return startProcess([CHILD, path, command, ...args]);
}

export function startApprovalsChild(path: string, command: string, ...args: string[]): StoreChild {
  return startProcess([APPROVALS_CHILD, path, command, ...args]);
}

export function startInboxChild(path: string, command: string): StoreChild {
  return startProcess([INBOX_CHILD, path, command]);
}

function startProcess(args: readonly string[]): StoreChild {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    async line() {
      const next = await lines.next();
      if (next.done === true) throw new Error(`the child ended: ${stderr}`);
      return next.value;
    },
    exited: new Promise((resolve) => child.once('close', () => resolve())),
  };
}

/** The SQLite adapter as a place of the contract suite: real files, real processes. */
export async function sqlitePlace(): Promise<SessionPlace> {
  const place = tempPlace();
  const clock = movableClock();
  const closers: (() => void)[] = [];
  const counters: (() => number)[] = [];
  return {
    async open() {
      const db = await openDatabase({ path: place.path, durability: 'process', clock });
      const surface = `surface-${closers.length}`;
      const { store, releaseAll } = openSessions(db, { ...ownIdentity(), surface, nonce: () => ids.hex(8) }, clock, openAudit(db));
      closers.push(() => {
        releaseAll();
        db.close();
      });
      counters.push(() => db.get<{ rows: number }>('SELECT total_changes() AS rows')?.rows ?? 0);
      return { store, pid: process.pid, surface };
    },
    async crashedWriter(session, records) {
      const child = startChild(place.path, 'crash', JSON.stringify(session), JSON.stringify(records));
      await child.exited;
      if (child.process.signalCode !== 'SIGKILL') throw new Error('the child was to be killed');
    },
    abandonLeases: async () => clock.move(120_000),
    rowsTouched: () => counters.reduce((sum, count) => sum + count(), 0),
    advance: (ms) => clock.move(ms),
    async close() {
      for (const close of closers) close();
      place.remove();
    },
  };
}

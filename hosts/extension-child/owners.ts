import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from '@deepseek-ai/cordis';
import type { HostService, OwnerRef } from '../../ports/extension-host.ts';

/** One activation of a plugin. */
export interface Owner {
  readonly ref: OwnerRef;
  readonly name: string;
  readonly dataDir: string;
  readonly services: ReadonlySet<HostService>;
  /** Set for good when its disposal begins. */
  closed: boolean;
  /** Calls under way; they are withdrawn when the owner goes. */
  readonly running: Set<AbortController>;
  /** What it left to run later. */
  readonly timers: Set<NodeJS.Timeout | NodeJS.Immediate>;
  /** What it was warned of, so that it is told once. */
  readonly warned: Set<string>;
}

/** One file of an owner that is applied by itself. */
export interface Entry {
  readonly owner: Owner;
  readonly path: string;
  /** Registrations that core has not answered. */
  readonly pending: Set<Promise<void>>;
  /** Why core refused some. */
  readonly refusals: string[];
  isActive: boolean;
}

/** Whose code runs, and for which call. */
export interface Scope {
  readonly owner: Owner;
  readonly invocation?: Invocation;
}

/** A call while it lasts. Its ticket never leaves the host's own code. */
export interface Invocation {
  readonly ticket: string | undefined;
  readonly signal: AbortSignal;
  isOpen: boolean;
}

type Fiber = Context['fiber'];

const scopes = new AsyncLocalStorage<Scope>();
const entries = new WeakMap<Fiber, Entry>();

export const runAs = <Result>(scope: Scope, work: () => Result): Result => scopes.run(scope, work);
export const currentScope = (): Scope | undefined => scopes.getStore();

/** Everything that is started below `fiber` belongs to `entry` from now on. */
export function assign(fiber: Fiber, entry: Entry): void {
  entries.set(fiber, entry);
}

export function entryOf(fiber: Fiber): Entry | undefined {
  for (let each = fiber; ; each = each.parent.fiber) {
    const entry = entries.get(each);
    if (entry !== undefined || each === each.parent.fiber) return entry;
  }
}

/** The entry that a context belongs to. Throws for a context that is nobody's, such as the root. */
export function entryAt(ctx: Context): Entry {
  const entry = entryOf(ctx.fiber);
  if (entry === undefined) throw new Error('this context belongs to no plugin; use the one that apply was given');
  if (entry.owner.closed) throw new Error(`plugin "${entry.owner.name}" was disposed`);
  return entry;
}

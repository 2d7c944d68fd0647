import type { Context } from '@deepseek-ai/cordis';
import { messageOf } from '../../adapters/extension-host/channel.ts';
import type { Registration } from '../../ports/extension-host.ts';
import type { Link } from './link.ts';
import { type Entry, entryAt } from './owners.ts';

/** What core may call by a handle. */
export interface Live {
  readonly entry: Entry;
  readonly spec: Registration;
  /** Runs it; what it is given and gives depends on the kind. */
  readonly target: unknown;
}

/** Everything that core has admitted and nobody has withdrawn. */
export interface Registrations {
  /**
   * Offers something to core, as an effect of the caller's fiber. The disposer withdraws exactly this
   * registration, also when core's answer comes after it.
   */
  offer(ctx: Context, spec: Registration, target: unknown): () => void;
  get(handle: string): Live | undefined;
  of(entry: Entry): readonly Live[];
  /** Forgets what belongs to an entry; core has withdrawn it already. */
  drop(entry: Entry): void;
}

export function createRegistrations(link: Link): Registrations {
  const live = new Map<string, Live>();

  const offer = (ctx: Context, spec: Registration, target: unknown): (() => void) => {
    const entry = entryAt(ctx);
    const { owner, path } = entry;
    const dispose = ctx.effect(
      () => {
        let handle: string | undefined;
        let isGone = false;
        const withdraw = (which: string) =>
          link.ask('registry/unregister', { owner: owner.ref, handle: which }).then(
            () => {},
            () => {},
          );
        const admitted = link.ask<{ readonly handle: string }>('registry/register', { owner: owner.ref, entry: path, spec }).then(
          async (answer) => {
            if (isGone || owner.closed) {
              await withdraw(answer.handle);
              return;
            }
            handle = answer.handle;
            live.set(handle, { entry, spec, target });
          },
          (error: unknown) => {
            const message = `${spec.kind} "${spec.name}" was refused: ${messageOf(error)}`;
            if (entry.isActive) link.log('warning', message, owner);
            else entry.refusals.push(message);
          },
        );
        entry.pending.add(admitted);
        void admitted.finally(() => entry.pending.delete(admitted));
        return async () => {
          isGone = true;
          if (handle === undefined) return admitted;
          live.delete(handle);
          await withdraw(handle);
        };
      },
      `${spec.kind.replace('_', ' ')} ${spec.name}`,
    );
    return () => void dispose();
  };

  return {
    offer,
    get: (handle) => live.get(handle),
    of: (entry) => [...live.values()].filter((each) => each.entry === entry),
    drop(entry) {
      for (const [handle, each] of live) if (each.entry === entry) live.delete(handle);
    },
  };
}

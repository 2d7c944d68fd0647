import { createHash } from 'node:crypto';
import type { PlanChange } from '../../../core/plan/events.ts';
import { createPlanStore, type PlanStore } from '../../../core/plan/store.ts';
import type { Hash } from '../../../ports/hash.ts';

export const hash: Hash = { sha256: (data) => createHash('sha256').update(data).digest('hex') };

export interface RecordedStore {
  readonly store: PlanStore;
  readonly changes: PlanChange[];
}

/** A store that remembers what it told. */
export function recordedStore(limits: { maxSteps?: number; maxRenderChars?: number } = {}): RecordedStore {
  const changes: PlanChange[] = [];
  const store = createPlanStore({
    maxSteps: limits.maxSteps ?? 12,
    maxRenderChars: limits.maxRenderChars ?? 2000,
    hash,
    onChange: (change) => changes.push(change),
  });
  return { store, changes };
}

/** Executes a call and returns what the model reads; throws when the call was refused. */
export async function accepted(store: PlanStore, call: object): Promise<string> {
  const reply = await store.execute(JSON.stringify(call));
  if (reply.failed) throw new Error(reply.content);
  return reply.content;
}

/** Executes a call that must be refused and returns the text. */
export async function refused(store: PlanStore, call: object | string): Promise<string> {
  const reply = await store.execute(typeof call === 'string' ? call : JSON.stringify(call));
  if (!reply.failed) throw new Error(`accepted: ${reply.content}`);
  return reply.content;
}

/** The plan as `get` shows it. */
export async function shown(store: PlanStore): Promise<string> {
  return (await store.execute('{"verb":"get"}')).content;
}

/** The untrusted wrapper with a counter for a nonce. */
export function countingWrap(): (source: string, body: string) => string {
  let nonce = 0;
  return (source, body) => {
    nonce++;
    return `<untrusted_content_${nonce} source="${source}">\n${body}\n</untrusted_content_${nonce}>`;
  };
}

import type { BundleActor, BundleScope } from '../../ports/bundle.ts';
import type { BundleAsks } from './hashes.ts';
import { isObject } from './problem.ts';

/** Reviews that are kept of one bundle. */
export const MAX_REVIEWS = 32;

/** A review that was shown to somebody. */
export interface ReviewRecord {
  readonly content: string;
  readonly capability: string;
  readonly version?: string;
  readonly by: BundleActor;
}

/** Somebody agreed to exactly these bytes with exactly these capabilities. */
export interface TrustRecord {
  readonly content: string;
  readonly capability: string;
  readonly asks: BundleAsks;
  readonly by: BundleActor;
}

/** What is known of a bundle at its place beside its files. */
export interface BundleRecord {
  readonly name: string;
  readonly scope: BundleScope;
  readonly workspace?: string;
  readonly trust?: TrustRecord;
  /** Who switched it on after it was trusted last. */
  readonly enabled?: BundleActor;
  /** The oldest first, at most 32. */
  readonly reviews: readonly ReviewRecord[];
}

const HEX = /^[0-9a-f]{64}$/;

export function newRecord({ name, scope, workspace }: Pick<BundleRecord, 'name' | 'scope' | 'workspace'>): BundleRecord {
  return { name, scope, ...(workspace !== undefined && { workspace }), reviews: [] };
}

/** A record as it was kept; undefined for what cannot be understood, which then trusts nothing. */
export function parseRecord(value: unknown): BundleRecord | undefined {
  if (!isObject(value) || typeof value.name !== 'string' || (value.scope !== 'user' && value.scope !== 'workspace')) return undefined;
  if (value.scope === 'workspace' ? typeof value.workspace !== 'string' : value.workspace !== undefined) return undefined;
  if (!Array.isArray(value.reviews) || !value.reviews.every(isReview)) return undefined;
  if (value.enabled !== undefined && !isActor(value.enabled)) return undefined;
  if (value.trust !== undefined && !(isReview(value.trust) && isObject((value.trust as unknown as TrustRecord).asks))) return undefined;
  return value as unknown as BundleRecord;
}

function isReview(value: unknown): value is ReviewRecord {
  return isObject(value) && HEX.test(String(value.content)) && HEX.test(String(value.capability)) && isActor(value.by);
}

function isActor(value: unknown): value is BundleActor {
  if (!isObject(value) || (value.who !== 'person' && value.who !== 'command-line')) return false;
  return typeof value.how === 'string' && typeof value.account === 'string' && typeof value.at === 'number';
}

/** The record with one more review. */
export function withReview(record: BundleRecord, review: ReviewRecord): BundleRecord {
  return { ...record, reviews: [...record.reviews, review].slice(-MAX_REVIEWS) };
}

/** The record with a new trust. Whoever switched the bundle on had switched on something else, unless it is the same. */
export function withTrust(record: BundleRecord, trust: TrustRecord): BundleRecord {
  const { enabled, ...rest } = record;
  const isSame = record.trust?.content === trust.content && record.trust.capability === trust.capability;
  return { ...rest, trust, ...(isSame && enabled !== undefined && { enabled }) };
}

/** The record with nothing trusted. */
export function withoutTrust({ trust: _trust, enabled: _enabled, ...rest }: BundleRecord): BundleRecord {
  return rest;
}

export function withEnabled({ enabled: _was, ...rest }: BundleRecord, by: BundleActor | undefined): BundleRecord {
  return by === undefined ? rest : { ...rest, enabled: by };
}

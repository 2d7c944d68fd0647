import { ArtifactError } from '../../ports/artifact.ts';
import { readFileUri } from './uri.ts';

const SCHEMA = 'odek.artifact-ref/v1';
/** References in one result. */
const MAX_REFS = 64;
/** Bytes of one artifact. */
export const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;
const MAX_ID_CHARS = 128;
const MAX_MEDIA_TYPE_CHARS = 255;
const SHOWN_ID_CHARS = 64;
/** In an id nothing may hide, and nothing may end the line. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** A reference that keeps to the contract. Nothing of it was checked against the file yet. */
export interface ArtifactRef {
  readonly id: string;
  /** Absolute and clean, links not resolved. */
  readonly path: string;
  readonly mediaType: string;
  readonly sha256?: string;
  readonly sizeBytes?: number;
  readonly summary?: string;
}

/**
 * Reads the references of one envelope. Unknown fields are ignored; anything else that is not as the
 * contract says refuses all of them.
 *
 * @throws {ArtifactError} `artifact_refused`, which names the reference and what is wrong, never its path
 */
export function readRefs(value: unknown): readonly ArtifactRef[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw refused('the artifacts of a result are a list');
  checkCount(value.length);
  return refList(value.map(readRef));
}

/**
 * The references of one result, however many envelopes it has: at most 64, each with an id of its own.
 *
 * @throws {ArtifactError} `artifact_refused`
 */
export function refList(refs: readonly ArtifactRef[]): readonly ArtifactRef[] {
  checkCount(refs.length);
  const ids = new Set<string>();
  for (const { id } of refs) {
    if (ids.has(id)) throw refused(`two artifacts have the id ${JSON.stringify(id)}`, id);
    ids.add(id);
  }
  return refs;
}

function checkCount(count: number): void {
  if (count > MAX_REFS) throw refused(`a result has ${count} artifacts, the limit is ${MAX_REFS}`, count, MAX_REFS);
}

function refused(message: string, value?: unknown, limit?: unknown): ArtifactError {
  return new ArtifactError('artifact_refused', message, { value, limit });
}

function readRef(value: unknown, index: number): ArtifactRef {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(`artifact ${index + 1} is no object`);
  const { schema, id, uri, media_type, sha256, size_bytes, summary } = value as Readonly<Record<string, unknown>>;
  const label = typeof id === 'string' && isId(id) ? `artifact ${JSON.stringify(id.slice(0, SHOWN_ID_CHARS))}` : `artifact ${index + 1}`;
  const check = (isRight: boolean, rule: string): void => {
    if (!isRight) throw refused(`${label}: ${rule}`);
  };
  check(schema === SCHEMA, `its schema is not ${SCHEMA}`);
  if (typeof id !== 'string' || !isId(id)) throw refused(`${label}: its id must be 1 to ${MAX_ID_CHARS} visible characters without spaces`);
  if (typeof uri !== 'string') throw refused(`${label}: it has no uri`);
  const reading = readFileUri(uri);
  if ('fault' in reading) throw refused(`${label}: ${reading.fault}`);
  if (typeof media_type !== 'string') throw refused(`${label}: it has no media_type`);
  check(
    media_type.trim() !== '' && media_type.length <= MAX_MEDIA_TYPE_CHARS,
    `its media_type must be 1 to ${MAX_MEDIA_TYPE_CHARS} characters`,
  );
  check(sha256 === undefined || isDigest(sha256), 'its sha256 must be 64 lower-case hex digits');
  check(size_bytes === undefined || isSize(size_bytes), 'its size_bytes must be a whole number of bytes');
  check(summary === undefined || typeof summary === 'string', 'its summary must be text');
  return {
    id,
    path: reading.path,
    mediaType: media_type,
    ...(sha256 !== undefined && { sha256: sha256 as string }),
    ...(size_bytes !== undefined && { sizeBytes: size_bytes as number }),
    ...(summary !== undefined && { summary: summary as string }),
  };
}

function isId(id: string): boolean {
  return id.length >= 1 && id.length <= MAX_ID_CHARS && !UNSAFE.test(id);
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isSize(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

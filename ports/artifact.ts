import { OdekError } from './errors.ts';

/** A file as it was found: where it really lies, how large it is, and the digest of its bytes. */
export interface ArtifactFile {
  /** Absolute, every link resolved. */
  readonly path: string;
  readonly sizeBytes: number;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface ArtifactLookup {
  /** Absolute path of the file. */
  readonly path: string;
  /** Absolute folders, one of which has to hold the file. What is blank, relative or not there holds nothing. */
  readonly roots: readonly string[];
  /** Bytes that the file may have. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface ArtifactPageLookup extends ArtifactLookup {
  /** Of the whole file; with other bytes in it nothing is given. */
  readonly sha256: string;
  /** First byte, 0 or more. */
  readonly offset: number;
  /** Bytes at most. */
  readonly length: number;
}

/**
 * Files that tools hand over by reference.
 *
 * Contract (the `artifact-files` suite):
 * - `measure` gives size and SHA-256 of a regular file that lies inside a root.
 * - A file lies where its path ends once every link is resolved; outside of all roots it is `artifact_outside_roots`.
 * - A root that is itself a link holds what is in its target.
 * - Without a root that holds anything, every file is `artifact_outside_roots`.
 * - A path with nothing there is `artifact_missing`.
 * - Anything but a regular file is `artifact_not_regular`; a pipe does not make it wait.
 * - A file of more than `maxBytes` is `artifact_too_large`, with the size and the limit, before it is read.
 * - `page` gives the bytes from `offset` on, at most `length`, and none behind the end.
 * - `page` gives nothing of a file whose bytes have another SHA-256: `artifact_changed`.
 * - When `signal` fires, it rejects with `CancelledError`.
 * - No error names the path.
 */
export interface ArtifactFiles {
  measure(lookup: ArtifactLookup): Promise<ArtifactFile>;
  page(lookup: ArtifactPageLookup): Promise<Uint8Array>;
}

/** An artifact of a session. */
export interface ArtifactEntry extends ArtifactFile {
  /** Unique in its session. */
  readonly id: string;
  /** Who handed it over, as a label: `mcp:<server>:<tool>`. */
  readonly source: string;
  /** See {@link ArtifactLookup.roots}; the ones that held when it came. */
  readonly roots: readonly string[];
  readonly mediaType: string;
}

/**
 * The artifacts of sessions.
 *
 * Contract (the `artifact-ledger` suite):
 * - What was added is found under its session and id, also by another process later.
 * - `add` gives the ids in the order of the entries. An id that another file has becomes `<id>.2`, `<id>.3`, …
 * - The same file (path, digest and source) under the same id keeps it.
 * - An id of one session is unknown in another.
 * - A session that no store knows has artifacts too, for as long as this process lives.
 * - A session's artifacts are gone with the session.
 * - A session keeps its newest 4,096.
 */
export interface ArtifactLedger {
  add(session: string, entries: readonly ArtifactEntry[]): Promise<readonly string[]>;
  find(session: string, id: string): Promise<ArtifactEntry | undefined>;
}

/** Artifacts that a session keeps. */
export const MAX_SESSION_ARTIFACTS = 4096;

/** A part of an artifact that is text. Offsets are bytes of the file. */
export interface ArtifactText {
  readonly id: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly offset: number;
  /** Absent at the end. */
  readonly nextOffset?: number;
  readonly text: string;
}

/**
 * What the tool `artifact_read` reads through (DECISIONS 19).
 *
 * Contract (the `artifact-reader` suite):
 * - A page has at most 64 KiB of the file, ends between characters and says where the next one begins.
 * - All pages together are the file.
 * - An id that the session does not have is `artifact_unknown`.
 * - A file that is gone, has moved out of its roots or has other bytes is refused with the code of {@link ArtifactFiles}.
 * - A file that is not UTF-8 text is `artifact_not_text`.
 * - No answer and no error names the path.
 */
export interface ArtifactReader {
  read(request: {
    readonly session: string;
    readonly id: string;
    /** 0 or more; inside a character, the page begins behind it. */
    readonly offset: number;
    readonly signal: AbortSignal;
  }): Promise<ArtifactText>;
}

export type ArtifactErrorCode =
  | 'artifact_refused'
  | 'artifact_missing'
  | 'artifact_outside_roots'
  | 'artifact_not_regular'
  | 'artifact_too_large'
  | 'artifact_changed'
  | 'artifact_unreadable'
  | 'artifact_unknown'
  | 'artifact_not_text';

/** Something is wrong with an artifact or a reference to one. The message never holds its path. */
export class ArtifactError extends OdekError {
  constructor(code: ArtifactErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

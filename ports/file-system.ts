import { OdekError } from './errors.ts';

export type FileKind = 'file' | 'directory' | 'link' | 'device' | 'fifo' | 'socket' | 'other';

/** What a path means once links are resolved. Core decides from this; the adapter only reports. */
export interface ResolvedPath {
  /** The path as asked for. */
  readonly requested: string;
  /** Absolute and normalised, links untouched. */
  readonly absolute: string;
  /** Absolute, every existing link resolved; a part that does not exist yet is appended as written. */
  readonly real: string;
  readonly exists: boolean;
  /** Kind of the final target; absent when nothing is there. */
  readonly kind?: FileKind;
  /** Bytes and time of change of the final target; absent where nothing is there, or where the adapter did not look. */
  readonly size?: number;
  readonly modifiedAt?: number;
  /** The last component is itself a link. */
  readonly finalLink: boolean;
  /** `real` is the root or lies below it. */
  readonly inRoot: boolean;
  /** `real` is one of odek's trust anchors: under the state folder, but not in `media/` or `artifacts/`. */
  readonly inState: boolean;
  /** Owner-readable name of a credential file (`.env`, `*.pem`, `id_*`, …). */
  readonly credential: boolean;
}

export interface FileStat {
  readonly path: string;
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, for example 0o644. */
  readonly mode: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Size of the file; larger than `bytes.length` when `maxBytes` cut it. */
  readonly size: number;
}

export interface DirectoryEntry {
  /** Path relative to the listed directory, with `/` as separator. */
  readonly path: string;
  readonly kind: FileKind;
  readonly size: number;
  readonly modifiedAt: number;
  /** As {@link ResolvedPath.credential}: never to be read along with other files. */
  readonly credential: boolean;
}

export interface ListOptions {
  /** Levels below the directory; 1 lists only its entries. */
  readonly depth: number;
  /** Names that are not entered and not listed. */
  readonly skip?: (name: string, kind: FileKind) => boolean;
}

/**
 * Files as tools see them. Relative paths are relative to the root the adapter was made with.
 *
 * Contract:
 * - `resolve` never throws for a path that does not exist, and follows every link before it says where a path lies.
 * - `read` opens without following a final link, refuses anything but a regular file, and returns at most `maxBytes`.
 * - `write` is atomic (readers see the old or the new content, nothing between), makes missing parent directories,
 *   keeps the mode of a file it replaces, and refuses a target outside the root, a final link and a device.
 * - `list` yields entries of a directory in name order, does not enter links, and honours `signal`.
 * - Failures reject with {@link FileError}; they name the path as it was asked for.
 */
export interface FileSystem {
  resolve(path: string): Promise<ResolvedPath>;
  /** Of the path itself: a final link is reported as `link`. */
  stat(path: string): Promise<FileStat>;
  read(path: string, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<FileContent>;
  write(path: string, data: string | Uint8Array, signal?: AbortSignal): Promise<void>;
  list(path: string, options: ListOptions, signal?: AbortSignal): AsyncIterable<DirectoryEntry>;
}

export type FileErrorCode =
  | 'not_found'
  | 'is_directory'
  | 'not_directory'
  | 'not_regular_file'
  | 'final_link'
  | 'outside_root'
  | 'trust_anchor'
  | 'permission_denied'
  | 'read_only_filesystem'
  | 'disk_full'
  | 'invalid_path'
  | 'file_error';

export class FileError extends OdekError {
  constructor(code: FileErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

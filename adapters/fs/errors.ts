import { FileError, type FileErrorCode } from '../../ports/file-system.ts';

const CODES: Readonly<Record<string, FileErrorCode>> = {
  ENOENT: 'not_found',
  EISDIR: 'is_directory',
  ENOTDIR: 'not_directory',
  ELOOP: 'final_link',
  EMLINK: 'final_link',
  ENXIO: 'not_regular_file',
  ENODEV: 'not_regular_file',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EROFS: 'read_only_filesystem',
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  ENAMETOOLONG: 'invalid_path',
  EINVAL: 'invalid_path',
};

const TEXTS: Readonly<Record<FileErrorCode, string>> = {
  not_found: 'does not exist',
  is_directory: 'is a directory',
  not_directory: 'leads through something that is not a directory',
  not_regular_file: 'is not a regular file',
  final_link: 'is a symbolic link; use the path it leads to',
  outside_root: 'is outside the working directory',
  trust_anchor: "is part of odek's own state",
  permission_denied: 'may not be accessed (permission denied)',
  read_only_filesystem: 'is on a read-only file system',
  disk_full: 'could not be written: the disk is full',
  invalid_path: 'is not a valid path',
  file_error: 'could not be accessed',
};

/** The error that says what is wrong with `path`, which is named as it was asked for. */
export function fileError(code: FileErrorCode, path: string, cause?: unknown, text: string = TEXTS[code]): FileError {
  const name = path.length > 300 ? `${path.slice(0, 300)}…` : path;
  return new FileError(code, `${name.replaceAll('\0', '\\0')} ${text}`, { value: path, ...(cause === undefined ? {} : { cause }) });
}

/** Turns a failure of the operating system into a {@link FileError}; anything else is passed on. */
export function asFileError(error: unknown, path: string): unknown {
  const code = errnoOf(error);
  return code === undefined ? error : fileError(CODES[code] ?? 'file_error', path, error);
}

/** `ENOENT` and the like, or undefined for anything that the operating system did not say. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

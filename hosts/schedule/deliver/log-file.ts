import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE = 0o600;
/** Bytes of the file; what was before is kept once, under the same name with `.1`. */
export const MAX_LOG_BYTES = 10 * 1024 * 1024;

function openOwn(path: string): number {
  const fd = openSync(path, FLAGS, MODE);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is no regular file`);
}

/** Appends text to a log of bounded size, opened anew each time: several processes write it, and any of them may have turned it over. */
export function appendToLog(path: string, text: string, maxBytes: number = MAX_LOG_BYTES): void {
  let fd = openOwn(path);
  try {
    if (fstatSync(fd).size + Buffer.byteLength(text) > maxBytes && fstatSync(fd).size > 0) {
      closeSync(fd);
      fd = -1;
      renameSync(path, `${path}.1`);
      fd = openOwn(path);
    }
    writeSync(fd, text);
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Names a process beyond its pid, which the system reuses: on Linux the pid namespace and the start
 * time in clock ticks since boot, elsewhere the empty string.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

/** Fields of `/proc/<pid>/stat` counted from the state, which follows the last `)` of the command name. */
const STATE = 0;
const START_TIME = 19;

function namespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Start time of a live process; undefined when it is gone or only waits to be reaped. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[STATE] === 'Z' || fields[STATE] === 'X' ? undefined : fields[START_TIME];
  } catch {
    return undefined;
  }
}

export function ownIdentity(): ProcessIdentity {
  const space = namespace();
  const started = startTime(process.pid);
  return { pid: process.pid, start: space === undefined || started === undefined ? '' : `${space}/${started}` };
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether the process is certainly gone. False also where that cannot be known, such as for a
 * process of another container: then its heartbeat decides.
 */
export function isGone(holder: ProcessIdentity): boolean {
  const space = namespace();
  if (space === undefined || holder.start === '') return !answersSignals(holder.pid);
  const [itsSpace, started] = holder.start.split('/');
  if (itsSpace !== space) return false;
  return startTime(holder.pid) !== started;
}

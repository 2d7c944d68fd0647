import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Fields of `/proc/<pid>/stat`, counted from the state, which follows the last `)` of the command name. */
const STATE = 0;
const GROUP = 2;
const START_TIME = 19;
const PS_TIMEOUT_MS = 2000;

/**
 * What tells a living process from another that gets its number later: on Linux boot, pid namespace
 * and start time, elsewhere the start time that `ps` tells. Undefined when there is no such process.
 */
export function identityOf(pid: number): string | undefined {
  const place = placeOfPids();
  if (place === undefined) return startFromPs(pid);
  try {
    const fields = statOf(pid);
    return isOver(fields) ? undefined : `${place}/${fields[START_TIME]}`;
  } catch {
    return undefined;
  }
}

function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function isOver(fields: readonly string[]): boolean {
  return fields[STATE] === 'Z' || fields[STATE] === 'X';
}

/** Whether a living process belongs to the group. */
export function hasGroup(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  const members = numbersIn('/proc');
  // Where the system does not tell more, what is signalled is there.
  return members.length === 0 || members.some((pid) => isMember(pid, group));
}

function isMember(pid: number, group: number): boolean {
  try {
    const fields = statOf(pid);
    return fields[GROUP] === String(group) && !isOver(fields);
  } catch {
    return false;
  }
}

/** Whether numbers of processes that were noted as `identity` can be compared with ours at all. */
export function isComparable(identity: string): boolean {
  const place = placeOfPids();
  return place === undefined ? !identity.includes('/') : identity.startsWith(`${place}/`);
}

/** Boot and pid namespace; undefined where the system does not tell. */
function placeOfPids(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: PS_TIMEOUT_MS });
  const start = (stdout ?? '').trim();
  return start === '' ? undefined : start;
}

/** Living processes whose environment holds this very `NAME=value`; none where the system does not tell. */
export function processesWith(variable: string): readonly number[] {
  return numbersIn('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable) && identityOf(pid) !== undefined;
    } catch {
      return false;
    }
  });
}

function numbersIn(folder: string): readonly number[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

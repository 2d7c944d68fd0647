import type { DangerClass } from '../../ports/approval.ts';
import type { FileSystem, ResolvedPath } from '../../ports/file-system.ts';

/** One effect of a call and its class. */
export interface Finding {
  readonly class: DangerClass;
  readonly reason: string;
  /** No policy and no person changes it. */
  readonly refused: boolean;
  /** It comes from a command line, which the allowlist can speak for. */
  readonly command?: boolean;
}

const SPECIAL: ReadonlySet<string | undefined> = new Set(['device', 'fifo', 'socket', 'other']);

/** Reads inside the working directory are harmless, except those of credential files; reads outside are for a person to allow. */
export async function judgeRead(path: string, fs: FileSystem): Promise<Finding> {
  const target = await resolved(path, fs);
  if (typeof target === 'string') return refuse(target);
  const special = specialFault(target);
  if (special) return refuse(special);
  if (target.credential) return { class: 'system_write', reason: `${path} is a credential file`, refused: false };
  if (!target.inRoot) return { class: 'system_write', reason: `${placeOf(target)} is outside the working directory`, refused: false };
  return { class: 'safe', reason: 'it reads inside the working directory', refused: false };
}

/** Writes stay inside the working directory and never go through a final link. */
export async function judgeWrite(path: string, fs: FileSystem): Promise<Finding> {
  const target = await resolved(path, fs);
  if (typeof target === 'string') return refuse(target);
  const special = specialFault(target);
  if (special) return refuse(special);
  if (!target.inRoot) return refuse(`${placeOf(target)} is outside the working directory; write to a path inside it`);
  if (target.finalLink) return refuse(`${path} is a link to ${target.real}; write to that path itself`);
  return { class: 'local_write', reason: 'it writes inside the working directory', refused: false };
}

function specialFault(target: ResolvedPath): string | undefined {
  if (target.inState) return `${placeOf(target)} is part of odek's own state, which tools never touch`;
  if (SPECIAL.has(target.kind))
    return `${placeOf(target)} is a ${target.kind === 'other' ? 'special file' : target.kind}, not a regular file`;
  return undefined;
}

function refuse(reason: string): Finding {
  return { class: 'system_write', reason, refused: true };
}

/** The path as asked for, and where it leads when that is elsewhere. */
function placeOf(target: ResolvedPath): string {
  return target.real === target.absolute || target.requested === target.real ? target.requested : `${target.requested} (${target.real})`;
}

async function resolved(path: string, fs: FileSystem): Promise<ResolvedPath | string> {
  try {
    return await fs.resolve(path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

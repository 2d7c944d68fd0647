import type { DangerClass } from '../../ports/approval.ts';
import type { FileSystem, ResolvedPath } from '../../ports/file-system.ts';
import type { FileChange } from '../../ports/plugin.ts';
import type { Place } from '../danger/place.ts';

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
  if (target.credential) return { class: 'system_write', reason: `${placeOf(target)} is a credential file`, refused: false };
  if (!target.inRoot) return { class: 'system_write', reason: `${placeOf(target)} is outside the working directory`, refused: false };
  return { class: 'safe', reason: 'it reads inside the working directory', refused: false };
}

/** What a write is judged with beside its path. */
export interface WriteContext {
  /** What is put into the file; absent: nobody knows. */
  readonly change?: FileChange | undefined;
  readonly home?: string | undefined;
}

/** Bytes of a file whose content counts that are looked at; a longer one counts as dangerous. */
const MAX_SNIFFED_BYTES = 1024 * 1024;

/** Writes stay inside the working directory and never go through a final link. One that makes something run later is for a person to allow. */
export async function judgeWrite(path: string, fs: FileSystem, context: WriteContext = {}): Promise<Finding> {
  const target = await resolved(path, fs);
  if (typeof target === 'string') return refuse(target);
  const special = specialFault(target);
  if (special) return refuse(special);
  if (!target.inRoot) return refuse(`${placeOf(target)} is outside the working directory; write to a path inside it`);
  if (target.finalLink) return refuse(`${path} is a link to ${target.real}; write to that path itself`);
  if (await runsLater(target, fs, context))
    return { class: 'persistence', reason: `${placeOf(target)} makes something run later`, refused: false };
  return { class: 'local_write', reason: 'it writes inside the working directory', refused: false };
}

async function runsLater(target: ResolvedPath, fs: FileSystem, { change, home }: WriteContext): Promise<boolean> {
  // Loaded with the first write: most starts need none of it.
  const { makesPersistent } = await import('../danger/persistence.ts');
  const place: Place = { workspace: '/', home, tempDirs: [] };
  const before = async (): Promise<string | undefined> => {
    if (!target.exists) return '';
    const { bytes, size } = await fs
      .read(target.requested, { maxBytes: MAX_SNIFFED_BYTES })
      .catch(() => ({ bytes: new Uint8Array(), size: Number.NaN }));
    return size === bytes.length ? new TextDecoder().decode(bytes) : undefined;
  };
  for (const path of new Set([target.real, target.absolute])) if (await makesPersistent(path, place, change, before)) return true;
  return false;
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

import type { FileSystem } from '../../ports/file-system.ts';

/** Which files the model has read whole in this session, as they are now. */
export interface ReadLedger {
  /** A file was read to its end, or written by the model itself. Never rejects. */
  note(path: string): Promise<void>;
  /** Whether the file was noted and is unchanged since. Never rejects; a file that cannot be looked at was not read. */
  holds(path: string): Promise<boolean>;
}

const MAX_ENTRIES = 4096;

interface Mark {
  readonly size: number;
  readonly modifiedAt: number;
}

/** An empty ledger. Holds the last 4,096 files; size and time of change tell whether a file is the same. */
export function createReadLedger(fs: FileSystem): ReadLedger {
  const marks = new Map<string, Mark>();

  const look = async (path: string): Promise<{ readonly real: string; readonly mark: Mark } | undefined> => {
    try {
      const { real, ...seen } = await fs.resolve(path);
      const { kind, size, modifiedAt } = isLookedAt(seen) ? seen : await fs.stat(real);
      return kind === 'file' ? { real, mark: { size, modifiedAt } } : undefined;
    } catch {
      return undefined;
    }
  };

  return {
    async note(path) {
      const seen = await look(path);
      if (seen === undefined) return;
      marks.delete(seen.real);
      marks.set(seen.real, seen.mark);
      const [oldest] = marks.keys();
      if (marks.size > MAX_ENTRIES && oldest !== undefined) marks.delete(oldest);
    },
    async holds(path) {
      const seen = await look(path);
      const known = seen === undefined ? undefined : marks.get(seen.real);
      return known !== undefined && known.size === seen?.mark.size && known.modifiedAt === seen.mark.modifiedAt;
    },
  };
}

function isLookedAt(seen: Partial<Mark>): seen is Mark {
  return seen.size !== undefined && seen.modifiedAt !== undefined;
}

/** The path that a call reads or changes, where the ledger cares. */
export function ledgerPath(tool: string, input: unknown): string | undefined {
  if (!LEDGER_TOOLS.has(tool) || typeof input !== 'object' || input === null) return undefined;
  const { path } = input as { readonly path?: unknown };
  return typeof path === 'string' ? path : undefined;
}

const LEDGER_TOOLS = new Set(['read_file', 'write_file', 'patch']);

/** Whether {@link sawAll} has to know if the ledger held the file when the call began. */
export function needsBefore(tool: string): boolean {
  return tool === 'patch';
}

/** Whether a finished call has shown its file whole, or written it. `before`: the ledger held the file when the call began. */
export function sawAll(tool: string, input: unknown, content: string, before: boolean): boolean {
  if (tool === 'write_file') return true;
  if (tool === 'patch') return before;
  const { offset } = input as { readonly offset?: unknown };
  return (offset === undefined || offset === 1) && showsAll(content);
}

/** `{content, total_lines}` with as many lines as the file has, and no note that something is missing. */
function showsAll(text: string): boolean {
  try {
    const { content, total_lines: total, note } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof content !== 'string' || typeof total !== 'number' || note !== undefined) return false;
    const last = /(?:^|\n)(\d+)\|[^\n]*$/.exec(content)?.[1];
    return total === 0 || (last !== undefined && Number(last) >= total);
  } catch {
    return false;
  }
}

const MAX_SESSIONS = 64;
const LEDGERS = new WeakMap<FileSystem, Map<string, ReadLedger>>();

/** The ledger of a session over one file system; the last 64 sessions are kept. */
export function ledgerOf(fs: FileSystem, session: string): ReadLedger {
  const sessions = LEDGERS.get(fs) ?? new Map<string, ReadLedger>();
  LEDGERS.set(fs, sessions);
  const ledger = sessions.get(session) ?? createReadLedger(fs);
  sessions.delete(session);
  sessions.set(session, ledger);
  const [oldest] = sessions.keys();
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  return ledger;
}

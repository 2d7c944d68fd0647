import type { FileSystem } from '../../ports/file-system.ts';
import { MAX_SHELL_BYTES, type ShellGrammar } from '../../ports/shell-grammar.ts';
import { answerChecks, type CheckFinding } from './checks.ts';
import { classifyCommand, isTooLong } from './classify.ts';
import { denylistedBy } from './denylist.ts';
import type { ReadLedger } from './ledger.ts';
import type { Place } from './place.ts';

/** What a command line is judged with. */
export interface ShellContext {
  readonly grammar: ShellGrammar;
  /** The user's home; absent: `~` is a place that nobody knows. */
  readonly home?: string | undefined;
  /** Folders for files of the moment, absolute. */
  readonly tempDirs?: readonly string[] | undefined;
  /** `host:port` entries on this machine or in its network that the operator admitted. */
  readonly reachable?: readonly string[] | undefined;
  /** What the model has read; absent: nothing. */
  readonly ledger?: ReadLedger | undefined;
}

export interface LineVerdict {
  /** At least one. */
  readonly findings: readonly CheckFinding[];
  /** The first program, without its folder. */
  readonly program: string | undefined;
  /** The allowlist has exactly this line. */
  readonly allowlisted: boolean;
  /** The entry of the denylist that one of its commands begins with. */
  readonly denylistedBy: string | undefined;
}

/** The operator's lists of commands. */
export interface CommandLists {
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
}

const DEFAULT_TEMP = ['/tmp', '/var/tmp'];

/** The classes of a command line, by its syntax and by what lies where it points. Never rejects. */
export async function judgeLine(
  line: string,
  fs: FileSystem,
  shell: ShellContext | undefined,
  lists: CommandLists = { allowlist: [], denylist: [] },
): Promise<LineVerdict> {
  const allowlisted = isAllowlisted(line, lists.allowlist);
  const nothingKnown = (reason: string): LineVerdict => ({
    findings: [{ class: 'unknown', reason }],
    program: undefined,
    allowlisted,
    denylistedBy: undefined,
  });
  if (shell === undefined) return nothingKnown('no shell grammar is there to read it');
  if (isTooLong(line)) return nothingKnown(`the command is longer than ${MAX_SHELL_BYTES} bytes`);
  try {
    const parse = await shell.grammar.load();
    const place: Place = {
      workspace: (await fs.resolve('.')).real,
      home: shell.home,
      tempDirs: shell.tempDirs ?? DEFAULT_TEMP,
      reachable: shell.reachable,
    };
    const verdict = classifyCommand(line, parse, place);
    const answered = await answerChecks(verdict.checks, { fs, place, ledger: shell.ledger });
    const own = [...verdict.findings]
      .filter(([cls]) => cls !== 'safe' || answered.length === 0)
      .map(([cls, reason]) => ({ class: cls, reason }));
    return {
      findings: [...own, ...answered],
      program: verdict.program,
      allowlisted,
      denylistedBy: denylistedBy(verdict.commands, lists.denylist),
    };
  } catch (error) {
    return nothingKnown(`the command cannot be judged: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Whether the operator allowed exactly this line. A line that is too long to judge is never allowed. */
function isAllowlisted(line: string, allowlist: readonly string[]): boolean {
  if (isTooLong(line)) return false;
  const trimmed = line.trim();
  return allowlist.some((entry) => entry.trim() === trimmed);
}

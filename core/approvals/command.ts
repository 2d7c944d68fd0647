import type { DangerClass } from '../../ports/approval.ts';

/** Bytes of a command beyond which nobody can judge it. */
export const MAX_COMMAND_BYTES = 64 * 1024;

export interface CommandVerdict {
  readonly classes: readonly DangerClass[];
  readonly reason: string;
}

const FORK_BOMB = /([\w:.]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1/;
const BLOCK_DEVICE = /^of=\/dev\/(?:[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d)/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/**
 * Classes of a shell command line. Every command can run any code, so it is at least
 * `code_execution`; what would wreck the machine is `blocked`; what is too long to read is `unknown`.
 */
export function classifyCommand(command: string): CommandVerdict {
  if (isTooLong(command)) return { classes: ['unknown'], reason: `the command is longer than ${MAX_COMMAND_BYTES} bytes` };
  if (FORK_BOMB.test(command)) return { classes: ['blocked'], reason: 'it is a fork bomb' };
  const wreck = simpleCommands(command).map(wrecks).find(Boolean);
  if (wreck) return { classes: ['blocked'], reason: wreck };
  return { classes: ['code_execution'], reason: 'a shell command can run any code' };
}

/** Whether the operator allowed exactly this line. A line that is too long to judge is never allowed. */
export function isAllowlisted(command: string, allowlist: readonly string[]): boolean {
  if (isTooLong(command)) return false;
  const line = command.trim();
  return allowlist.some((entry) => entry.trim() === line);
}

/** The denylist entry that is a token prefix of one of the line's commands. */
export function denylistedBy(command: string, denylist: readonly string[]): string | undefined {
  if (denylist.length === 0 || isTooLong(command)) return undefined;
  const commands = simpleCommands(command);
  return denylist.find((entry) => {
    const wanted = wordsOf(entry);
    return wanted.length > 0 && commands.some((words) => startsWith(words, wanted));
  });
}

/** Name of the program a line starts, leading assignments skipped. */
export function programOf(command: string): string | undefined {
  const first = simpleCommands(command.slice(0, MAX_COMMAND_BYTES))[0]?.[0];
  return first === undefined ? undefined : baseName(first);
}

function isTooLong(command: string): boolean {
  return command.length > MAX_COMMAND_BYTES || new TextEncoder().encode(command).length > MAX_COMMAND_BYTES;
}

/** The words of each simple command of a line. Quotes and backslashes are taken off, so that `r\m` and `r''m` read as `rm`. */
function simpleCommands(line: string): readonly (readonly string[])[] {
  return line
    .split(/[;&|\n(){}`]+|\$\(/)
    .map(wordsOf)
    .map(withoutAssignments)
    .filter((words) => words.length > 0);
}

function wordsOf(text: string): readonly string[] {
  return text
    .replace(/['"\\]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function withoutAssignments(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !ASSIGNMENT.test(word));
  return start < 0 ? [] : words.slice(start);
}

function startsWith(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) => (index === 0 ? baseName(words[0] ?? '') === baseName(word) : words[index] === word));
}

function wrecks(all: readonly string[]): string | undefined {
  const words = all[0] === 'sudo' ? all.slice(1) : all;
  const program = baseName(words[0] ?? '');
  if (program === 'dd' && words.some((word) => BLOCK_DEVICE.test(word))) return 'it overwrites a disk';
  if (program !== 'rm') return undefined;
  const flags = words.filter((word) => word.startsWith('-'));
  const recursive = flags.some((flag) => flag === '--recursive' || /^-[a-z]*r/i.test(flag));
  const everything = words.slice(1).some((word) => /^\/+(?:\.{0,2}\/*)*\*?$/.test(word));
  return recursive && everything ? 'it deletes the whole file system' : undefined;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

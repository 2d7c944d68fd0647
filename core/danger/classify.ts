import type { DangerClass } from '../../ports/approval.ts';
import { MAX_SHELL_BYTES, type ShellParser } from '../../ports/shell-grammar.ts';
import { ranked } from '../approvals/actions.ts';
import { judgeCommand } from './command.ts';
import { type Field, UNKNOWN_FIELD } from './fields.ts';
import { type Check, type Inspection, MAX_CHECKS, MAX_PAYLOADS, MAX_WORK, type Rearranged } from './findings.ts';
import { isWithin, type Place, RUN_TIME } from './place.ts';
import { programName } from './programs/index.ts';
import { createScope, type Scope } from './scope.ts';
import { walkScript } from './walk.ts';

/** What a command line means. */
export interface CommandVerdict {
  /** Every class it triggers, in rank order, and why; never empty. */
  readonly findings: ReadonlyMap<DangerClass, string>;
  /** What the file system must still be asked. */
  readonly checks: readonly Check[];
  /** The words of every command in it, for the denylist. Words known only at run time hold a NUL. */
  readonly commands: readonly (readonly string[])[];
  /** The first program, without its folder. */
  readonly program: string | undefined;
}

const MAX_COMMANDS = 4096;

const MAKES_LINKS = new Set(['ln', 'gln', 'link', 'tar', 'gtar', 'bsdtar', 'unzip', '7z', '7za', '7zz', 'cpio', 'pax', 'rsync']);
const MOVES_FILES = new Set(['mv', 'gmv', 'cp', 'gcp', 'git', 'rename', 'install', 'patch']);

/** What a command does to the links that there are. */
function rearranges(argv: readonly Field[]): Rearranged | undefined {
  const name = programName(argv[0]?.text ?? '');
  if (MAKES_LINKS.has(name)) return 'links';
  return MOVES_FILES.has(name) ? 'files' : undefined;
}

function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

/** Whether a line is too long for anybody to judge. */
export function isTooLong(line: string): boolean {
  return line.length > MAX_SHELL_BYTES || new TextEncoder().encode(line).length > MAX_SHELL_BYTES;
}

/**
 * The classes of a command line, from its syntax alone. Pure, total, and bounded in time: a line that
 * is too long, too deep, too much or not understood is `unknown`.
 */
export function classifyCommand(line: string, parse: ShellParser, place: Place): CommandVerdict {
  const findings = new Map<DangerClass, string>();
  const checks = new Map<string, Check>();
  const commands: (readonly string[])[] = [];
  // A command changes what those behind it find, not what it finds itself.
  let [after, running]: (Rearranged | undefined)[] = [];
  let work = 0;
  let payloads = 0;

  const add: Inspection['add'] = (cls, reason) => {
    if (!findings.has(cls)) findings.set(cls, reason);
  };
  const read = (text: string, scope: Scope, stdin: Field | undefined): Field => {
    const { script, faults } = parse(text);
    for (const { message } of faults) add('unknown', `the command cannot be read for sure: ${message}`);
    return walkScript(script, scope, stdin, inspection);
  };
  const inspection: Inspection = {
    place,
    parse,
    add,
    ask(check) {
      const key = JSON.stringify(check);
      if (checks.size >= MAX_CHECKS && !checks.has(key)) add('unknown', `it touches more than ${MAX_CHECKS} paths`);
      else if (check.kind === 'sweep' && [...checks.values()].some((each) => each.kind === 'carry' && overlap(each.to, check.path)))
        add('system_write', `it brings files to ${check.path} and reads all of them`);
      else if (check.kind === 'unpack' && checks.has(JSON.stringify({ kind: 'path', path: check.path, use: 'write' })))
        add('persistence', `it writes ${check.path} and unpacks it`);
      else if (check.kind !== 'script' && check.kind !== 'repository' && after !== undefined) checks.set(key, { ...check, after });
      else if (!checks.has(key)) checks.set(key, check);
    },
    ran(argv) {
      if (after !== 'links') after = running ?? after;
      running = rearranges(argv) ?? running;
      if (commands.length >= MAX_COMMANDS) add('unknown', `it has more than ${MAX_COMMANDS} commands`);
      else commands.push(argv.map(({ text }) => text));
    },
    spend() {
      work += 1;
      if (work > MAX_WORK) add('unknown', 'it does more than anybody can follow');
      return work <= MAX_WORK;
    },
    nested(look) {
      if (payloads >= MAX_PAYLOADS) {
        add('unknown', `its commands are nested deeper than ${MAX_PAYLOADS} levels`);
        return;
      }
      payloads += 1;
      look();
      payloads -= 1;
    },
    command: (argv, scope, stdin) => {
      let output: Field = UNKNOWN_FIELD;
      inspection.nested(() => {
        output = judgeCommand(argv, scope, stdin, inspection);
      });
      return output;
    },
    line(text, scope, stdin) {
      if (text.includes(RUN_TIME)) add('unknown', 'it runs text that is only known at run time');
      if (inspection.spend()) inspection.nested(() => void read(text.replaceAll(RUN_TIME, '"$_"'), scope, stdin));
    },
    script(script, scope, stdin) {
      if (!inspection.spend()) return UNKNOWN_FIELD;
      let output: Field = UNKNOWN_FIELD;
      inspection.nested(() => {
        output = walkScript(script, scope, stdin, inspection);
      });
      return output;
    },
  };

  if (isTooLong(line)) add('unknown', `the command is longer than ${MAX_SHELL_BYTES} bytes`);
  else if (line.includes(RUN_TIME)) add('unknown', 'the command holds a NUL character');
  else read(line, createScope(place), undefined);
  if (findings.size === 0) add('safe', 'it only looks at what is in the working directory');
  const first = commands[0]?.[0];
  return {
    findings: new Map(ranked(findings.keys()).map((cls) => [cls, findings.get(cls) ?? ''])),
    checks: [...checks.values()],
    commands,
    program: first === undefined || first.includes(RUN_TIME) ? undefined : programName(first),
  };
}

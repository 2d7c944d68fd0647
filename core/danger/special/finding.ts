import { type Field, isKnown, literal, UNKNOWN_FIELD } from '../fields.ts';
import { readArguments } from '../options.ts';
import { judgeRead, judgeWrite } from '../paths.ts';
import { RUN_TIME } from '../place.ts';
import { programName, ruleOf, wrapperOf } from '../programs/index.ts';
import type { ProgramRule } from '../rules.ts';
import type { Call, Special } from './call.ts';

const RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const WRITES = new Set(['-fprint', '-fprint0', '-fls', '-fprintf']);
const READS = new Set(['-files0-from', '-newer', '-anewer', '-cnewer', '-samefile']);

/** What find does with what it finds. */
export const find: Special = ({ args, scope, stdin, inspection }) => {
  const roots: Field[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (/^-[HLPDO]/.test(text) && roots.length === 0) {
      if (text === '-D') at += 1;
      continue;
    }
    if (/^[-(!]/.test(text)) break;
    roots.push(args[at] ?? literal('.'));
  }
  if (roots.some(({ text }) => text.startsWith(RUN_TIME))) inspection.add('unknown', 'an argument of find is only known at run time');
  if (args.some(({ text }) => text === '-L' || text === '-follow'))
    inspection.add('system_write', 'find follows links, wherever they lead');
  if (roots.length === 0) roots.push(literal('.'));
  for (const root of roots) judgeRead(root, scope, inspection, 'list');
  for (; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    if (!isKnown(field) && field.text.startsWith(RUN_TIME)) inspection.add('unknown', 'an argument of find is only known at run time');
    if (field.text === '-delete') inspection.add('destructive', 'find -delete deletes what it finds');
    else if (WRITES.has(field.text)) judgeWrite(args[at + 1] ?? UNKNOWN_FIELD, scope, inspection);
    else if (READS.has(field.text)) judgeRead(args[at + 1] ?? literal('.'), scope, inspection, 'list');
    else if (RUNS.has(field.text)) at = runs(args, at, roots, { scope, stdin, inspection });
  }
  return undefined;
};

/** Judges the command of an `-exec`, with what is found in place of `{}`. Gives where it ends. */
function runs(args: readonly Field[], at: number, roots: readonly Field[], call: Pick<Call, 'scope' | 'stdin' | 'inspection'>): number {
  const { scope, inspection } = call;
  const length = args.slice(at + 1).findIndex(({ text }, index, rest) => text === ';' || (text === '+' && rest[index - 1]?.text === '{}'));
  const end = length < 0 ? args.length : at + 1 + length;
  const command = args.slice(at + 1, end);
  if (programName(command[0]?.text ?? '') === 'rm') inspection.add('destructive', 'find deletes what it finds');
  const elsewhere = args[at]?.text.endsWith('dir') === true;
  for (const root of elsewhere ? [UNKNOWN_FIELD] : roots) {
    const found = command.map((field) =>
      field.text.includes('{}') ? { text: field.text.replaceAll('{}', `${root.text}/*`), glob: true, made: true } : field,
    );
    inspection.command(found, scope, undefined);
  }
  return end;
}

const XARGS: ProgramRule = {
  options: {
    '-a --arg-file': 'read',
    '-I -J': 'value',
    '-n -P -L -s -d -E -R -S --max-args --max-procs --delimiter --max-chars --process-slot-var': 'value',
    '-i': 'flag',
    '-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit': 'flag',
  },
};

/** Runs a command with words from its input. */
export const xargs: Special = ({ args, scope, stdin, inspection }) => {
  const { options, operands, open } = readArguments(args, XARGS, true);
  if (open || options.some((option) => option.strange)) inspection.add('unknown', 'xargs has an option that is not known');
  for (const option of options) if (option.role === 'read' && option.value !== undefined) judgeRead(option.value, scope, inspection);
  const place = options.some((option) => option.name === '-i') ? '{}' : options.find((option) => option.name === '-I')?.value?.text;
  const command = operands.length === 0 ? [literal('echo')] : operands;
  const handed = handedOver(stdin);
  if (place !== undefined && place !== '') {
    for (const each of handed)
      inspection.command(
        command.map((field) =>
          field.text.includes(place) ? { text: field.text.replaceAll(place, each.text), glob: each.glob, made: true } : field,
        ),
        scope,
        undefined,
      );
    return undefined;
  }
  const program = programName(command[0]?.text ?? '');
  if (!handed.every(isKnown) && ruleOf(program) === undefined && wrapperOf(program) === undefined)
    inspection.add('unknown', 'xargs hands run-time words to a program that is not known');
  inspection.command([...command, ...handed], scope, undefined);
  return undefined;
};

function handedOver(stdin: Field | undefined): readonly Field[] {
  // Quotes and backslashes mean something to xargs, too: such a text is not taken apart here.
  if (stdin === undefined || !isKnown(stdin) || /['"\\]/.test(stdin.text)) return [UNKNOWN_FIELD];
  const words = stdin.text.split(/\s+/).filter((word) => word !== '');
  return words.length === 0 ? [] : words.map((text) => ({ text, glob: stdin.glob, made: true }));
}

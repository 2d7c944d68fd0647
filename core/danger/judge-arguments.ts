import { type Field, isKnown, literal } from './fields.ts';
import type { Inspection } from './findings.ts';
import { type Arguments, type GivenOption, readArguments } from './options.ts';
import { askClimbs, judgeDelete, judgeRead, judgeScript, judgeSweep, judgeUnpack, judgeWrite, pathsOf, shown } from './paths.ts';
import { absolute, RUN_TIME, zoneOf } from './place.ts';
import type { ProgramRule, Role } from './rules.ts';
import type { Scope } from './scope.ts';

/** Judges the arguments of a program as its rule says, without its special part. */
export function judgeArguments(name: string, rule: ProgramRule, args: readonly Field[], scope: Scope, inspection: Inspection): Arguments {
  const given = readArguments(args, rule);
  for (const cls of rule.adds ?? []) inspection.add(cls, `${name} ${rule.because ?? 'does'}`);
  if (rule.adds?.includes('network_egress') === true && args.some((field) => !isKnown(field)))
    inspection.add('network_upload', `${name} sends text that is only known at run time`);
  judgeOptions(name, rule, given, scope, inspection);
  if (rule.verbs === undefined) judgeOperands(name, rule, given, scope, inspection);
  return given;
}

export function judgeOptions(name: string, rule: ProgramRule, given: Arguments, scope: Scope, inspection: Inspection): void {
  for (const option of given.options) judgeOption(name, rule, option, scope, inspection);
  const risky = Object.values(rule.options ?? {}).some(
    (effect) => effect !== 'value' && effect !== 'flag' && effect !== 'read' && effect !== 'list',
  );
  if (given.open && risky) inspection.add('unknown', `an argument of ${name} is only known at run time and could be any option`);
}

function judgeOption(name: string, rule: ProgramRule, option: GivenOption, scope: Scope, inspection: Inspection): void {
  if (option.adds !== undefined) inspection.add(option.adds, `${name} ${option.name} does`);
  if (option.value === undefined) return;
  if (option.role !== undefined) {
    judgeRole(option.role, option.value, name, scope, inspection);
    return;
  }
  // An option that nobody knows, with a value that looks like a path: taken as one.
  const role = rule.operands ?? 'value';
  const harmless = role === 'list' || role === 'value' || role === 'address' || role === 'line' || role === 'code';
  if (option.strange && /^[~./]|\//.test(option.value.text)) judgeRole(harmless ? 'read' : role, option.value, name, scope, inspection);
}

export function judgeOperands(name: string, rule: ProgramRule, given: Arguments, scope: Scope, inspection: Inspection): void {
  // Without an operand, such a program looks at the folder it is in.
  const operands = rule.operands === 'list' && given.operands.length === 0 ? [literal('.')] : given.operands;
  const withoutFirst = rule.unless?.some((option) => given.options.some((each) => each.name === option)) === true;
  operands.forEach((operand, index) => {
    const isFirst = index === 0 && rule.first !== undefined && !withoutFirst;
    const isLast = index > 0 && index === operands.length - 1 && rule.last !== undefined;
    const role = isFirst ? rule.first : isLast ? rule.last : rule.operands;
    judgeRole(role ?? 'value', operand, name, scope, inspection);
  });
}

export function judgeRole(role: Role, field: Field, name: string, scope: Scope, inspection: Inspection): void {
  switch (role) {
    case 'value':
      return;
    case 'read':
    case 'list': {
      judgeRead(field, scope, inspection, role);
      return;
    }
    case 'write': {
      judgeWrite(field, scope, inspection);
      return;
    }
    case 'change': {
      judgeRead(field, scope, inspection);
      judgeWrite(field, scope, inspection);
      return;
    }
    case 'sweep': {
      judgeRead(field, scope, inspection);
      judgeSweep(field, scope, inspection, { hidden: true, links: true });
      return;
    }
    case 'unpack': {
      judgeUnpack(field, scope, inspection);
      return;
    }
    case 'delete': {
      judgeDelete(field, false, scope, inspection);
      return;
    }
    case 'script': {
      judgeScript(field, scope, inspection);
      return;
    }
    case 'code': {
      inspection.add('code_execution', `${name} runs the code it is given`);
      return;
    }
    case 'line':
      inspection.add('code_execution', `${name} runs the command it is given`);
      {
        inspection.line(field.text, scope, undefined);
        return;
      }
    case 'sends': {
      judgeSent(field, name, scope, inspection);
      return;
    }
    case 'address': {
      judgeAddress(field, name, scope, inspection);
      return;
    }
    case 'folder': {
      judgeFolder(field, scope, inspection);
      return;
    }
  }
}

/** A body: literal text is only a request, a file or run-time text is something that leaves. */
function judgeSent(field: Field, name: string, scope: Scope, inspection: Inspection): void {
  const file = /(?:^|=|;)[@<](.*)$/s.exec(field.text)?.[1];
  if (!isKnown(field) || field.made) inspection.add('network_upload', `${name} sends text that is only known at run time`);
  else if (file !== undefined) {
    inspection.add('network_upload', `${name} sends the file ${file.slice(0, 80)}`);
    judgeRead({ ...field, text: file.split(';')[0] ?? '' }, scope, inspection);
  }
}

const MAX_ADDRESS = 2048;

function judgeAddress(field: Field, name: string, scope: Scope, inspection: Inspection): void {
  if (!isKnown(field)) inspection.add('network_upload', `${name} reaches an address that is only known at run time`);
  const file = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(field.text)?.[1];
  if (file !== undefined) judgeRead({ ...field, text: decoded(file) }, scope, inspection);
  if (/^(?:ext|fd)::/i.test(field.text)) inspection.add('code_execution', `${shown(field)} names a command`);
  if (/^[a-z+.-]+:\/\/[^/@]*:[^/@]*@/i.test(field.text.slice(0, MAX_ADDRESS)))
    inspection.add('network_upload', `${name} sends credentials`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.includes('%') ? RUN_TIME : text;
  }
}

/** A program goes to work in another folder. */
function judgeFolder(field: Field, scope: Scope, inspection: Inspection): void {
  const paths = pathsOf(field, scope);
  if (paths.length === 0) inspection.add('unknown', 'it works in a folder that is only known at run time');
  askClimbs(field, scope, inspection);
  for (const path of paths) {
    const zone = zoneOf(absolute(path, '/'), inspection.place);
    if (zone !== 'workspace' && zone !== 'temp') inspection.add('system_write', `${path} is outside the working directory`);
    else inspection.ask({ kind: 'path', path, use: 'read' });
  }
}

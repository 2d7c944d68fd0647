import { type Field, isKnown, literal } from '../fields.ts';
import { judgeScript } from '../paths.ts';
import { RUN_TIME } from '../place.ts';
import { isRiskyVariable, isSecretName } from '../sensitive.ts';
import type { Call, Special } from './call.ts';

const flagsOf = (args: readonly Field[]): readonly string[] => args.map(({ text }) => text).filter((text) => /^[-+]./.test(text));
const wordsOf = (args: readonly Field[]): readonly Field[] => args.filter(({ text }) => !/^[-+]./.test(text));

export const evaluate: Special = ({ args, scope, stdin, inspection }) => {
  inspection.add('code_execution', 'eval runs text as a command');
  inspection.line(args.map(({ text }) => text).join(' '), scope, stdin);
  return undefined;
};

export const source: Special = ({ args, scope, stdin, inspection }) => {
  const [file] = args;
  inspection.add('code_execution', 'it runs a script in this shell');
  if (file !== undefined && /^\/dev\/(?:stdin|fd\/\d+)$/.test(file.text)) inspection.line(stdin?.text ?? RUN_TIME, scope, undefined);
  else if (file !== undefined) judgeScript(file, scope, inspection);
  scope.forgetAll();
  scope.enter([]);
  return undefined;
};

export const trap: Special = ({ args, scope, inspection }) => {
  const [handler] = args.filter(({ text }) => !/^-[lp]+$/.test(text) && text !== '--');
  if (handler === undefined || handler.text === '-' || handler.text === '') return undefined;
  inspection.add('code_execution', 'trap runs a command later');
  inspection.line(handler.text, scope, undefined);
  return undefined;
};

export const alias: Special = ({ args, scope, inspection }) => {
  for (const field of wordsOf(args)) {
    const equals = field.text.indexOf('=');
    if (equals < 0) continue;
    const name = field.text.slice(0, equals);
    const value = { ...field, text: field.text.slice(equals + 1) };
    inspection.add('code_execution', `it makes ${name} another command`);
    if (name.includes(RUN_TIME)) inspection.add('unknown', 'it makes an alias that is only known at run time');
    scope.aliases.set(name, value);
    inspection.line(value.text, scope, undefined);
  }
  return undefined;
};

/** `export`, `declare` and their like: with names they set variables, without they print them all. */
export const declare: Special = (call) => {
  const { args, name, inspection, scope } = call;
  const flags = flagsOf(args);
  const words = wordsOf(args);
  const functions = flags.some((flag) => /^-[a-z]*[fF]/.test(flag));
  if (words.length === 0) {
    if (!functions && name !== 'local') inspection.add('system_write', `${name} prints variables, with the secrets in them`);
    return undefined;
  }
  if (flags.some((flag) => /^-\w*p/.test(flag)) && words.some(({ text }) => isSecretName(text)))
    inspection.add('system_write', `${name} -p prints a secret`);
  if (flags.some((flag) => /^[-+]\w*[nia]/.test(flag))) for (const field of words) scope.forget(nameIn(field));
  if (flags.some((flag) => /^-\w*n/.test(flag)) && name !== 'export')
    inspection.add('code_execution', `${name} -n makes one variable stand for another`);
  for (const field of words) assign(field, call);
  return undefined;
};

function nameIn({ text }: Field): string {
  return /^[A-Za-z_]\w*/.exec(text)?.[0] ?? '';
}

function assign(field: Field, { name: program, inspection, scope }: Call): void {
  const name = nameIn(field);
  const rest = field.text.slice(name.length);
  if (name === '' || (rest !== '' && !/^\+?=/.test(rest))) {
    inspection.add(field.text.includes(RUN_TIME) ? 'unknown' : 'code_execution', `${program} sets a variable that is not written out`);
    scope.forgetAll();
    return;
  }
  if (rest === '') {
    if (program === 'export' && isRiskyVariable(name) && scope.isSet(name))
      inspection.add('system_write', `${name} changes what programs do`);
    return;
  }
  noteAssignment(name, inspection, scope);
  if (rest.startsWith('+')) scope.forget(name);
  else scope.set(name, [{ ...field, text: rest.slice(1) }]);
}

/** What it means that a variable is set, whatever its value. */
export function noteAssignment(name: string, inspection: Call['inspection'], scope: Call['scope']): void {
  if (isRiskyVariable(name)) inspection.add('system_write', `${name} changes what programs do`);
  if (name !== 'IFS') return;
  inspection.add('code_execution', 'IFS changes how the line is read');
  scope.splitOddly();
}

export const readVariables: Special = ({ args, scope, inspection, name }) => {
  const valued = name === 'read' ? /^-[rseE]*[adinNptu]$/ : /^-[dnOscCu]$/;
  args.forEach((field, index) => {
    const before = args[index - 1]?.text ?? '';
    if (/^-/.test(field.text)) {
      if (name !== 'read' && /^-C/.test(field.text)) inspection.add('code_execution', `${name} -C runs a command`);
      return;
    }
    if (valued.test(before) && !/a$/.test(before)) return;
    if (/[[\]]/.test(field.text) || !isKnown(field)) {
      inspection.add('code_execution', `${name} evaluates an index`);
      scope.forgetAll();
      return;
    }
    scope.forget(field.text);
    if (isRiskyVariable(field.text)) inspection.add('system_write', `${field.text} changes what programs do`);
  });
  scope.forget('REPLY');
  return undefined;
};

export const unset: Special = ({ args, scope, inspection }) => {
  for (const field of wordsOf(args)) {
    if (/[[\]]/.test(field.text) || !isKnown(field)) inspection.add('code_execution', 'unset evaluates an index');
    scope.set(field.text, []);
    if (isRiskyVariable(field.text)) inspection.add('system_write', `${field.text} changes what programs do`);
  }
  return undefined;
};

/** Alone it prints every variable; `-o` and `-x` change how the rest runs. */
export const set: Special = ({ args, inspection }) => {
  if (args.length === 0) inspection.add('system_write', 'set prints variables, with the secrets in them');
  if (args.some(({ text }) => !isKnown(literal(text)))) inspection.add('unknown', 'set has an argument that is only known at run time');
  return undefined;
};

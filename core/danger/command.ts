import { type Field, isKnown, literal, UNKNOWN_FIELD } from './fields.ts';
import type { Inspection } from './findings.ts';
import { judgeArguments } from './judge-arguments.ts';
import { type Arguments, readArguments } from './options.ts';
import { judgeListed, judgeScript, judgeWrite, shown } from './paths.ts';
import { RUN_TIME } from './place.ts';
import { isFile, programName, ruleOf, type WrapperRule, wrapperOf } from './programs/index.ts';
import type { ProgramRule } from './rules.ts';
import type { Scope } from './scope.ts';
import { isRiskyVariable } from './sensitive.ts';
import { SPECIAL } from './special/index.ts';

/** What only tells about a program, whatever else it does. */
const TELLS = new Set(['--version', '--help', '-V']);
const NO_OUTPUT = UNKNOWN_FIELD;

/** One command position: the program, its arguments and its standard input. Gives what it prints. */
export function judgeCommand(argv: readonly Field[], scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  const [program, ...args] = argv;
  if (program === undefined || !inspection.spend()) return NO_OUTPUT;
  inspection.ran(argv);
  for (const field of args) if (field.glob) judgeListed(field, scope, inspection);
  if (!isKnown(program) || program.text === '') {
    inspection.add('unknown', 'it runs a program whose name is only known at run time');
    return NO_OUTPUT;
  }
  if (program.made || program.glob) inspection.add('unknown', `the program's name ${shown(program)} is not written out`);
  if (scope.aliases.has(program.text)) runAlias(program.text, args, scope, stdin, inspection);
  if (runFunction(program.text, args, scope, stdin, inspection)) return NO_OUTPUT;
  if (isFile(program.text)) {
    judgeScript(program, scope, inspection);
    const rule = ruleOf(programName(program.text));
    if (rule !== undefined) runProgram(programName(program.text), rule, args, scope, stdin, inspection);
    return NO_OUTPUT;
  }
  return runNamed(programName(program.text), args, scope, stdin, inspection);
}

function runNamed(name: string, args: readonly Field[], scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  if (args.length === 1 && TELLS.has(args[0]?.text ?? '') && (ruleOf(name) !== undefined || wrapperOf(name) !== undefined))
    return NO_OUTPUT;
  const wrapper = wrapperOf(name);
  if (wrapper !== undefined) return runWrapped(name, wrapper, args, scope, stdin, inspection);
  const rule = ruleOf(name);
  if (rule === undefined) {
    inspection.add('unknown', `the program ${shown(literal(name))} is not known`);
    return NO_OUTPUT;
  }
  return runProgram(name, rule, args, scope, stdin, inspection);
}

function runProgram(
  name: string,
  rule: ProgramRule,
  args: readonly Field[],
  scope: Scope,
  stdin: Field | undefined,
  inspection: Inspection,
): Field {
  if (rule.special !== undefined) {
    const special = SPECIAL[rule.special];
    return special({ name, rule, args, scope, stdin, inspection }) ?? NO_OUTPUT;
  }
  runVerbs(name, rule, args, scope, inspection);
  return NO_OUTPUT;
}

function runVerbs(name: string, rule: ProgramRule, args: readonly Field[], scope: Scope, inspection: Inspection): void {
  if (rule.verbs === undefined) {
    if (rule.special === undefined) judgeArguments(name, rule, args, scope, inspection);
    else SPECIAL[rule.special]({ name, rule, args, scope, stdin: undefined, inspection });
    return;
  }
  const { operands } = readArguments(args, rule, true);
  judgeArguments(name, rule, args.slice(0, args.length - operands.length), scope, inspection);
  const [verb, ...rest] = operands;
  const inner = verb === undefined || !Object.hasOwn(rule.verbs, verb.text) ? undefined : rule.verbs[verb.text];
  if (verb !== undefined && inner !== undefined) {
    runVerbs(`${name} ${verb.text}`, inner, rest, scope, inspection);
    return;
  }
  if (verb === undefined && rest.length === 0 && args.some(({ text }) => TELLS.has(text) || text === '-v')) return;
  const classes = (verb === undefined ? rule.bare : rule.others) ?? ['unknown'];
  for (const cls of classes) if (cls !== 'safe') inspection.add(cls, `${name} ${verb === undefined ? 'alone' : shown(verb)} is not known`);
}

/** Looks through a wrapper to the command that it starts. */
function runWrapped(
  name: string,
  wrapper: WrapperRule,
  args: readonly Field[],
  scope: Scope,
  stdin: Field | undefined,
  inspection: Inspection,
): Field {
  for (const cls of wrapper.adds ?? []) inspection.add(cls, `${name} ${wrapper.because ?? ''}`);
  if (name === 'command' && /^-[vV]+$/.test(args[0]?.text ?? '')) return NO_OUTPUT;
  const rule: ProgramRule = { options: wrapper.options };
  const { options, operands, open } = readArguments(args, rule, wrapper.permutes !== true);
  judgeArguments(name, rule, wrapper.permutes === true ? args : args.slice(0, args.length - operands.length), scope, inspection);
  if (wrapper.first !== undefined && operands[0] !== undefined) judgeWrite(operands[0], scope, inspection);
  const strange = options.find((option) => option.strange && !/^-\d+$/.test(option.name));
  if (strange !== undefined || open) inspection.add('unknown', `${name} has an option that is not known: ${strange?.name ?? '…'}`);
  const rest =
    wrapper.permutes === true ? [] : wrapper.assigns === true ? withoutAssignments(operands, inspection) : operands.slice(wrapper.skip);
  const line = Object.keys(wrapper.options).find((names) => names.startsWith('-c ') && wrapper.options[names] === 'line');
  if (line !== undefined && rest[0]?.text === '-c' && rest[1] !== undefined) {
    inspection.add('code_execution', `${name} runs the command it is given`);
    inspection.line(rest[1].text, scope, stdin);
    return NO_OUTPUT;
  }
  if (rest.length === 0) return withoutCommand(name, options, inspection);
  if (wrapper.joins === true) {
    inspection.add('code_execution', `${name} runs the command it is given`);
    inspection.line(rest.map(({ text }) => text).join(' '), scope, stdin);
    return NO_OUTPUT;
  }
  return inspection.command(rest, scope, stdin);
}

function withoutCommand(name: string, options: Arguments['options'], inspection: Inspection): Field {
  if (name === 'env' && !options.some((option) => option.role === 'line'))
    inspection.add('system_write', 'env prints the environment, with the secrets in it');
  return NO_OUTPUT;
}

function withoutAssignments(operands: readonly Field[], inspection: Inspection): readonly Field[] {
  let at = 0;
  for (; at < operands.length; at += 1) {
    const { text } = operands[at] ?? literal('');
    const equals = text.indexOf('=');
    if (equals < 0) break;
    const name = text.slice(0, equals);
    if (name.includes(RUN_TIME)) inspection.add('unknown', 'it sets a variable that is only known at run time');
    if (isRiskyVariable(name)) inspection.add('system_write', `${name} changes what programs do`);
  }
  return operands.slice(at);
}

/** A call of a function of the line. True: the name means nothing else. */
function runFunction(name: string, args: readonly Field[], scope: Scope, stdin: Field | undefined, inspection: Inspection): boolean {
  const defined = scope.functions.get(name);
  if (defined === undefined) return false;
  inspection.nested(() => {
    inspection.script({ statements: [{ node: defined.body, when: 'always', background: false }] }, scope.call(args), stdin);
  });
  // Defined for sure, and no program of that name could be meant instead.
  return defined.certain && ruleOf(name) === undefined && wrapperOf(name) === undefined;
}

/** Whether an alias takes effect depends on the shell: both are looked at. */
function runAlias(name: string, args: readonly Field[], scope: Scope, stdin: Field | undefined, inspection: Inspection): void {
  const value = scope.aliases.get(name);
  inspection.add('unknown', `${name} is an alias`);
  if (value === undefined) return;
  const words = value.text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((text) => ({ text, glob: false, made: true }));
  if (words[0] !== undefined && words[0].text !== name) inspection.nested(() => void inspection.command([...words, ...args], scope, stdin));
}

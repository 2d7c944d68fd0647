import { isKnown, literal, UNKNOWN_FIELD } from '../fields.ts';
import { judgeArguments, judgeOperands, judgeOptions } from '../judge-arguments.ts';
import { hasOption, readArguments } from '../options.ts';
import { askClimbs, judgeRead, judgeSweep, judgeWrite, pathsOf } from '../paths.ts';
import { zoneOf } from '../place.ts';
import { isRiskyVariable } from '../sensitive.ts';
import type { Special } from './call.ts';
import { isPlainSed } from './sed-script.ts';

/** Prints its arguments. */
export const echo: Special = ({ args }) => {
  const plain = args[0]?.text === '-n' || args[0]?.text === '-e' || args[0]?.text === '-ne' || args[0]?.text === '-en';
  const words = plain ? args.slice(1) : args;
  return { text: words.map(({ text }) => text).join(' '), glob: words.some(({ glob }) => glob), made: true };
};

export const printf: Special = ({ args, scope, inspection, rule, name }) => {
  const given = judgeArguments(name, rule, args, scope, inspection);
  const variable = given.options.find((option) => option.name === '-v')?.value;
  if (variable !== undefined) {
    scope.forget(variable.text);
    if (isRiskyVariable(variable.text)) inspection.add('system_write', `${variable.text} changes what programs do`);
    if (/[[\]]/.test(variable.text) || !isKnown(variable)) inspection.add('code_execution', 'printf -v evaluates an index');
  }
  const [format, ...values] = given.operands;
  if (format === undefined || !isKnown(format)) return UNKNOWN_FIELD;
  let used = 0;
  const fill = (): string => {
    used += 1;
    return values[used - 1]?.text ?? '';
  };
  if (/%[^s%]|\\[^n]/.test(format.text)) return UNKNOWN_FIELD;
  const once = (): string => format.text.replace(/%s|%%|\\n/g, (piece) => (piece === '%s' ? fill() : piece === '%%' ? '%' : '\n'));
  let text = once();
  for (let round = 0; used > 0 && used < values.length && round < 64; round += 1) text += once();
  return { text: used < values.length && used > 0 ? UNKNOWN_FIELD.text : text, glob: false, made: true };
};

export const cat: Special = ({ args, rule, name, scope, inspection, stdin }) => {
  const { operands } = judgeArguments(name, rule, args, scope, inspection);
  return operands.length === 0 ? stdin : UNKNOWN_FIELD;
};

/** Writes its input to files and prints it. */
export const tee: Special = ({ args, rule, name, scope, inspection, stdin }) => {
  judgeArguments(name, rule, args, scope, inspection);
  return stdin;
};

export const base64: Special = ({ args, rule, name, scope, inspection, stdin }) => {
  const given = judgeArguments(name, rule, args, scope, inspection);
  const decodes = hasOption(given, '-d');
  if (!decodes || given.operands.length > 0 || stdin === undefined || !isKnown(stdin)) return UNKNOWN_FIELD;
  try {
    return { text: atob(stdin.text.replace(/\s+/g, '')), glob: false, made: true };
  } catch {
    return UNKNOWN_FIELD;
  }
};

/** Only looks at what is there, and compares. */
export const test: Special = ({ args, inspection }) => {
  // In some shells `-v 'a[$(…)]'` evaluates its index.
  const at = args.findIndex(({ text }) => text === '-v' || text === '-R');
  const named = at < 0 ? undefined : args[at + 1];
  if (named !== undefined && (!isKnown(named) || named.text.includes('['))) inspection.add('code_execution', 'test -v evaluates an index');
  return undefined;
};

export const grep: Special = ({ name, rule, args, scope, inspection }) => {
  const given = readArguments(args, rule);
  judgeOptions(name, rule, given, scope, inspection);
  const recursive = !name.endsWith('grep') || hasOption(given, '-r') || given.options.some((option) => option.name === '-d');
  if (!recursive) {
    judgeOperands(name, rule, given, scope, inspection);
    return undefined;
  }
  const patternGiven = rule.unless?.some((option) => hasOption(given, option)) === true;
  const paths = patternGiven ? given.operands : given.operands.slice(1);
  // A pattern for names, and `ack` always, find hidden files, too.
  const hidden =
    name.endsWith('grep') ||
    name === 'ack' ||
    given.options.some((option) => option.name === '--hidden') ||
    args.some(({ text }) => /^-[A-Za-z]*g|^--(?:i?glob|type-add|no-ig)/.test(text));
  const links = args.some(({ text }) => /^-[A-Za-z]*[RLf]|^--(?:deref|follow)/.test(text));
  for (const path of paths.length === 0 ? [literal('.')] : paths) judgeSweep(path, scope, inspection, { hidden, ...(links && { links }) });
  return undefined;
};

export const sed: Special = ({ name, rule, args, scope, inspection }) => {
  // `-i` takes its suffix only when attached: cut off, so that no cluster hides it.
  const inPlace = args.some(({ text }) => /^-[nErsz]*i/.test(text) || text.startsWith('--in-place') || /^--i/.test(text));
  const plain = args.map((field) => (/^-[nErsz]*i./.test(field.text) ? { ...field, text: '-i' } : field));
  const given = readArguments(plain, rule);
  judgeOptions(name, rule, given, scope, inspection);
  const scripted = given.options.filter((option) => option.name === '-e').flatMap((option) => option.value ?? []);
  const fromOptions = scripted.length > 0 || hasOption(given, '-f');
  // Some versions take the suffix of `-i` as a word of its own, often an empty one.
  const operands = inPlace && given.operands[0]?.text === '' ? given.operands.slice(1) : given.operands;
  const scripts = fromOptions ? scripted : operands.slice(0, 1);
  const files = fromOptions ? operands : operands.slice(1);
  for (const script of scripts) {
    if (!isKnown(script)) inspection.add('unknown', 'the script of sed is only known at run time');
    else if (!isPlainSed(script.text)) inspection.add('code_execution', 'the script of sed can run commands or write files');
  }
  for (const file of files) {
    if (inPlace) judgeWrite(file, scope, inspection);
    else judgeRead(file, scope, inspection);
  }
  return undefined;
};

/** Words of awk that reach beyond its input. */
const AWK_ACTS = /system\s*\(|getline|\||>|@|ENVIRON|PROCINFO|ARG[VC]|close\s*\(|\/inet/;

export const awk: Special = ({ name, rule, args, scope, inspection }) => {
  const given = readArguments(args, rule);
  judgeOptions(name, rule, given, scope, inspection);
  const strange = given.options.find((option) => option.strange);
  if (strange !== undefined) inspection.add('code_execution', `awk has an option that is not known: ${strange.name}`);
  const fromFile = hasOption(given, '-f', '-e');
  const program = fromFile ? undefined : given.operands[0];
  const files = fromFile ? given.operands : given.operands.slice(1);
  if (program !== undefined) {
    if (!isKnown(program)) inspection.add('unknown', 'the program of awk is only known at run time');
    else if (AWK_ACTS.test(program.text)) inspection.add('code_execution', 'the program of awk can run commands or write files');
  }
  for (const file of files) if (!/^[A-Za-z_]\w*=/.test(file.text)) judgeRead(file, scope, inspection);
  return undefined;
};

export const jq: Special = (call) => {
  const { args, inspection, name, rule, scope } = call;
  const named = args.findIndex(({ text }) => text === '--slurpfile' || text === '--rawfile');
  if (named >= 0 && args[named + 2] !== undefined) judgeRead(args[named + 2] ?? literal(''), scope, inspection);
  judgeArguments(name, rule, args, scope, inspection);
  if (args.some(({ text }) => /\$ENV|\b(?:str)?env(?:subst)?\b|\$__prog_args|input_filename|\bload\w*\s*\(/.test(text)))
    inspection.add('system_write', `${name} reads the environment or other files`);
  return undefined;
};

/** Follows the line into another folder. */
export const changeFolder: Special = ({ args, scope, inspection, name }) => {
  const operands = args.filter(({ text }) => !/^-[LPe@]+$/.test(text) && text !== '--');
  const target = name === 'popd' || operands[0]?.text === '-' ? undefined : (operands[0] ?? literal(scope.single('HOME') ?? ''));
  const plain = target !== undefined && !target.glob && !scope.get('CDPATH').every(isKnown);
  const folders = plain ? pathsOf(target, scope) : [];
  if (target !== undefined && args.some(({ text }) => /^-[Le@]*P/.test(text))) askClimbs(target, scope, inspection);
  scope.enter(folders);
  for (const folder of folders)
    if (zoneOf(folder, inspection.place) === 'workspace') inspection.ask({ kind: 'path', path: folder, use: 'read' });
  return undefined;
};

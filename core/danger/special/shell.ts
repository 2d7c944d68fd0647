import { isKnown, literal } from '../fields.ts';
import { judgeArguments } from '../judge-arguments.ts';
import { readArguments } from '../options.ts';
import { judgeScript } from '../paths.ts';
import { RUN_TIME } from '../place.ts';
import type { ProgramRule } from '../rules.ts';
import type { Special } from './call.ts';

/** Options of shells; `-c` is looked for by hand, since it stands in clusters and its text comes later. */
const SHELL_OPTIONS: ProgramRule = {
  options: {
    '-o +o -O +O --rcfile --init-file': 'value',
    '-e -u -x -v -n -l -i -s -p -r -f -h -m -k -t -a -b -B -E -T -C -H -P --login --norc --noprofile --posix --verbose --restricted':
      'flag',
  },
};

/** A shell: its `-c` text, its script, or else its input is what runs. */
export const shell: Special = ({ name, args, scope, stdin, inspection }) => {
  inspection.add('code_execution', `${name} runs commands`);
  const command = args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text));
  const firstOperand = args.findIndex(({ text }) => !/^[-+]/.test(text));
  if (args.some(({ text }) => text.startsWith('--rcfile') || text.startsWith('--init-file')))
    inspection.add('unknown', `${name} runs another file first`);
  if (command >= 0 && (firstOperand < 0 || command < firstOperand || precedesText(args[firstOperand - 1]?.text))) {
    const rest = readArguments(args.slice(command + 1), SHELL_OPTIONS, true).operands;
    const [text, , ...parameters] = rest;
    if (text === undefined) return undefined;
    inspection.line(text.text, scope.subshell().call(parameters), stdin);
    return undefined;
  }
  const { operands, open } = readArguments(args, SHELL_OPTIONS, true);
  if (open) inspection.add('unknown', `an argument of ${name} is only known at run time`);
  const [script] = operands;
  const readsInput = args.some(({ text }) => /^-[a-z]*s/.test(text));
  if (script !== undefined && !readsInput) {
    if (/^\/dev\/(?:stdin|fd\/\d+)$/.test(script.text)) inspection.line(stdin?.text ?? RUN_TIME, scope.subshell(), undefined);
    else judgeScript(script, scope, inspection);
    return undefined;
  }
  if (stdin !== undefined && isKnown(stdin)) inspection.line(stdin.text, scope.subshell(), undefined);
  return undefined;
};

/** `-o pipefail -c …`: what looks like an operand belongs to an option. */
function precedesText(option: string | undefined): boolean {
  return option !== undefined && /^[-+]\w*[oO]$/.test(option);
}

/** Modules of Python that are programs of their own. */
const MODULES: Readonly<Record<string, 'pip' | 'server'>> = {
  pip: 'pip',
  'http.server': 'server',
  simplehttpserver: 'server',
  pyftpdlib: 'server',
};

export const python: Special = ({ name, rule, args, scope, inspection }) => {
  const at = args.findIndex(({ text }) => text.startsWith('-m'));
  const attached = args[at]?.text.slice(2) ?? '';
  const module = (attached === '' ? (args[at + 1]?.text ?? '') : attached).toLowerCase();
  const known = at >= 0 && Object.hasOwn(MODULES, module) ? MODULES[module] : undefined;
  if (known === 'server') inspection.add('network_upload', `${name} -m ${module} serves files`);
  if (known === 'pip') inspection.command([literal('pip'), ...args.slice(attached === '' ? at + 2 : at + 1)], scope, undefined);
  judgeArguments(name, rule, args, scope, inspection);
  return undefined;
};

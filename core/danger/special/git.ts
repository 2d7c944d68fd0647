import { type Field, isKnown, literal } from '../fields.ts';
import { judgeArguments, judgeOperands, judgeOptions, judgeRole } from '../judge-arguments.ts';
import { readArguments } from '../options.ts';
import { judgeCarry, judgeSweep, judgeUnpackedInput, pathsOf, shown } from '../paths.ts';
import { GIT_GLOBALS, PLAIN_GIT_KEYS } from '../programs/git.ts';
import type { ProgramRule } from '../rules.ts';
import { isCredential } from '../sensitive.ts';
import type { Call, Special } from './call.ts';

const LOOKING = new Set([
  'diff',
  'add',
  'stage',
  'update-index',
  'commit',
  'stash',
  'grep',
  'apply',
  'blame',
  'annotate',
  'log',
  'show',
  'cat-file',
  'diff-tree',
  'diff-index',
  'diff-files',
  'whatchanged',
]);
/** Verbs that run nothing of the repository and need none. */
const NEEDS_NO_REPOSITORY = new Set(['help', 'version', 'check-ref-format', 'var']);

export const git: Special = (call) => {
  const { args, scope, inspection, rule } = call;
  const globals = readArguments(args, GIT_GLOBALS, true);
  judgeOptions('git', GIT_GLOBALS, globals, scope, inspection);
  if (globals.open) inspection.add('unknown', 'an argument of git is only known at run time');
  for (const option of globals.options) {
    if (option.strange) inspection.add('unknown', `git has an option that is not known: ${option.name}`);
    if (option.name === '-c') judgeSetting(option.value, call);
  }
  const [verb, ...rest] = globals.operands;
  if (verb === undefined) return undefined;
  const inner = rule.verbs !== undefined && Object.hasOwn(rule.verbs, verb.text) ? rule.verbs[verb.text] : undefined;
  if (inner === undefined) {
    inspection.add('unknown', `git ${shown(verb)} is not known, and may be an alias`);
    return undefined;
  }
  judgeVerb(verb.text, inner, rest, call);
  judgeStored(verb.text, rest, call);
  if (!NEEDS_NO_REPOSITORY.has(verb.text)) askForRepositories(globals.options, call);
  return undefined;
};

function judgeSetting(value: Field | undefined, { inspection }: Call): void {
  const text = value?.text.toLowerCase() ?? '';
  const plain = value !== undefined && isKnown(value) && PLAIN_GIT_KEYS.some((key) => text.startsWith(key));
  if (!plain) inspection.add('code_execution', 'git -c can name a program to run');
}

function judgeVerb(verb: string, rule: ProgramRule, args: readonly Field[], call: Call): void {
  const { scope, inspection } = call;
  const name = `git ${verb}`;
  if (isHarmless(verb, args)) return;
  if (rule.verbs === undefined) {
    const makesBranch =
      verb === 'checkout' && args[0]?.text === '-b' && args.every(({ text }) => text !== '-f' && text !== '--force' && text !== '--');
    const judged = makesBranch ? { ...rule, adds: ['local_write'] as const } : rule;
    const given = judgeArguments(name, judged, args, scope, inspection);
    if (verb === 'push' && given.operands.some(({ text }) => /^[+:]/.test(text)))
      inspection.add('system_write', 'git push overwrites or deletes a branch');
    judgePaths(verb, given.operands, call);
    if (verb === 'rebase' && given.options.some(({ name: option }) => /^(?:-x|--exec|-i|--interactive)/.test(option)))
      inspection.add('code_execution', 'git rebase runs commands');
    return;
  }
  const given = readArguments(args, rule, true);
  judgeOptions(name, rule, given, scope, inspection);
  const [inner, ...rest] = given.operands;
  const innerRule = inner !== undefined && Object.hasOwn(rule.verbs, inner.text) ? rule.verbs[inner.text] : undefined;
  if (innerRule !== undefined && inner !== undefined) {
    const line = innerRule.operands === 'line';
    judgeArguments(`${name} ${inner.text}`, line ? { ...innerRule, operands: 'value' } : innerRule, rest, scope, inspection);
    if (line) judgeRole('line', { text: rest.map(({ text }) => text).join(' '), glob: false, made: true }, name, scope, inspection);
    return;
  }
  for (const cls of (inner === undefined ? rule.bare : (rule.others ?? rule.bare)) ?? ['unknown'])
    if (cls !== 'safe') inspection.add(cls, `${name} ${inner === undefined ? 'does' : shown(inner)}`);
}

/** Verbs that put files into the repository take along what git does not ignore; `apply` and `am` take patches from their input. */
function judgeStored(verb: string, args: readonly Field[], { scope, inspection, stdin }: Call): void {
  const operands = args.filter(({ text }) => !text.startsWith('-'));
  const has = (letters: RegExp, word: RegExp): boolean =>
    args.some(({ text }) => (text.startsWith('--') ? word.test(text) : text.startsWith('-') && letters.test(text)));
  if ((verb === 'apply' || verb === 'am') && operands.length === 0) judgeUnpackedInput(stdin, scope, inspection);
  if (verb === 'diff' && args.some(({ text }) => text.startsWith('--no-i')))
    judgeOperands('git diff', { operands: 'sweep' }, { options: [], operands, open: false }, scope, inspection);
  if (verb === 'mv') for (const source of operands.slice(0, -1)) judgeCarry(source, operands.at(-1) ?? source, scope, inspection);
  if (verb === 'add' || verb === 'stage') {
    const paths = operands.length > 0 ? operands : has(/A/, /^--(?:al|no-ignore-r)/) ? [literal('.')] : [];
    const ignores = !has(/f/, /^--fo/);
    for (const path of paths) judgeSweep(path, scope, inspection, { hidden: true, ignores });
  }
  if (verb === 'stash' && (has(/[ua]/, /^--(?:inc|al)/) || args.some(({ text }) => text === '-u')))
    judgeSweep(literal('.'), scope, inspection, { hidden: true, ignores: !has(/a/, /^--al/) });
}

const LISTS = /^(?:-[avrlqi]+|--(?:all|list|verbose|remotes|show-current|no-color|column))$/;

/** Verbs that list when nothing is named, and `checkout -b`, which only makes a branch. */
function isHarmless(verb: string, args: readonly Field[]): boolean {
  if (verb === 'branch' || verb === 'tag') return args.every(({ text }) => LISTS.test(text));
  return verb === 'worktree' && args.length === 1 && args[0]?.text === 'list';
}

/** Operands of looking verbs are revisions or paths; only a path that leads out matters. */
function judgePaths(verb: string, operands: readonly Field[], { scope, inspection }: Call): void {
  if (!LOOKING.has(verb)) return;
  for (const { text, glob } of operands) {
    const path = text.slice(text.indexOf(':') + 1);
    if (isCredential(path, glob)) inspection.add('system_write', `git ${verb} shows the credential file ${path}`);
  }
  const outside = operands.filter(({ text }) => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text) && !text.includes(':'));
  judgeOperands(`git ${verb}`, { operands: 'read' }, { options: [], operands: outside, open: false }, scope, inspection);
}

/** Hooks, filters and the like of the repository run with the verb. */
function askForRepositories(
  options: readonly { readonly name: string; readonly value: Field | undefined }[],
  { scope, inspection }: Call,
): void {
  const folder = options.find((option) => option.name === '-C')?.value;
  const paths = folder === undefined ? scope.folders : pathsOf(folder, scope);
  if (paths.length === 0 || options.filter((option) => option.name === '-C').length > 1)
    inspection.add('code_execution', 'nobody knows in which repository git works');
  for (const path of paths) inspection.ask({ kind: 'repository', path });
}

import { type Field, isKnown, literal, UNKNOWN_FIELD } from '../fields.ts';
import { judgeArguments } from '../judge-arguments.ts';
import { hasOption, readArguments } from '../options.ts';
import { judgeCarry, judgeDelete, judgeRead, judgeSweep, judgeUnpack, judgeUnpackedInput, judgeWrite } from '../paths.ts';
import { nameOf } from '../place.ts';
import type { ProgramRule } from '../rules.ts';
import type { Special } from './call.ts';

const RM: ProgramRule = {
  options: {
    '-r -R --recursive': 'flag',
    '-f --force -i -I --interactive -v --verbose -d --dir --one-file-system --preserve-root': 'flag',
    '--no-preserve-root': 'flag',
  },
};

export const remove: Special = ({ args, scope, inspection }) => {
  const given = readArguments(args, RM);
  const recursive = hasOption(given, '-r', '--no-preserve-root') || given.open;
  if (given.options.some(({ strange }) => strange)) inspection.add('unknown', 'rm has an option that is not known');
  if (given.open) inspection.add('unknown', 'rm gets an argument that is only known at run time');
  for (const operand of given.operands) judgeDelete(operand, recursive, scope, inspection);
  return undefined;
};

/** `cp`, `mv`, `ln`, `install`: sources are read (or go away), the last operand is written. */
export const copy: Special = ({ name, rule, args, scope, inspection }) => {
  const given = judgeArguments(name, rule, args, scope, inspection);
  const into = given.options.find((option) => option.name === '-t')?.value;
  const sources = into === undefined ? given.operands.slice(0, -1) : given.operands;
  const target = into ?? given.operands.at(-1);
  const moves = name.endsWith('mv') || name === 'rename';
  const links = name === 'ln';
  for (const source of sources) {
    judgeRead(source, scope, inspection);
    if (moves) judgeDelete(source, false, scope, inspection);
    if ((moves || hasOption(given, '-r')) && target !== undefined) judgeCarry(source, target, scope, inspection);
  }
  if (target === undefined) return undefined;
  if (sources.length === 0 && links) return undefined;
  judgeWrite(target, scope, inspection);
  // The target may be a folder: then the file keeps its name in it.
  for (const source of sources)
    if (isKnown(source) && isKnown(target))
      judgeWrite({ ...target, text: `${target.text}/${nameOf(source.text)}`, glob: target.glob || source.glob }, scope, inspection);
  return undefined;
};

export const chmod: Special = ({ name, args, rule, scope, inspection }) => {
  // A mode such as `-x` looks like an option.
  const operands = args.filter(({ text }) => !/^-[Rvcf]+$/.test(text) && !text.startsWith('--'));
  judgeArguments(
    name,
    { options: rule.options ?? {} },
    args.filter(({ text }) => text.startsWith('--')),
    scope,
    inspection,
  );
  const reference = args.some(({ text }) => text.startsWith('--ref'));
  const mode = reference ? undefined : operands[0];
  const files = reference ? operands : operands.slice(1);
  const text = mode?.text ?? '';
  if (mode !== undefined && !isKnown(mode)) inspection.add('unknown', 'chmod gets a mode that is only known at run time');
  if (/[ugoa]*[+=][rwxX]*[st]/.test(text) || /^[0-7]?[1-7][0-7]{3}$/.test(text.replace(/^0+(?=\d{4})/, '')))
    inspection.add('system_write', 'chmod gives a program the rights of its owner');
  for (const file of files) judgeWrite(file, scope, inspection);
  return undefined;
};

export const dd: Special = ({ args, scope, inspection }) => {
  for (const field of args) {
    const { text } = field;
    const value = { ...field, text: text.slice(3) };
    if (text.startsWith('of=')) judgeWrite(value, scope, inspection);
    else if (text.startsWith('if=')) judgeRead(value, scope, inspection);
    else if (!isKnown(field)) inspection.add('unknown', 'dd gets an argument that is only known at run time');
  }
  return undefined;
};

const TAR: ProgramRule = {
  options: {
    '-f --file': 'value',
    '-C --directory': 'value',
    '-I --use-compress-program --to-command --info-script --new-volume-script -F --rsh-command --rmt-command': 'line',
    '--checkpoint-action': 'value',
    '-T --files-from': 'read+system_write',
    '-X --exclude-from': 'read',
    '--add-file': 'read',
    '--one-top-level --volno-file': 'write',
    '-P --absolute-names': '+system_write',
    '-g --listed-incremental --index-file': 'write',
    '-b -L -N -K -V --exclude --transform --xform --strip-components --owner --group --mode --format --mtime --checkpoint --warning --label':
      'value',
    '-c --create': 'flag',
    '-x --extract --get': 'flag',
    '-t --list': 'flag',
    '-r --append -u --update -A --catenate --concatenate --delete': 'flag',
    '-d --diff --compare': 'flag',
    '-O --to-stdout': 'flag',
    '-v -z -j -J -Z -k -p -m -a -h -S -w -l --gzip --bzip2 --xz --zstd --verbose --keep-old-files --one-file-system --overwrite --no-same-owner --wildcards':
      'flag',
    '--remove-files': '+destructive',
  },
};

export const tar: Special = ({ name, args, scope, inspection, stdin }) => {
  const [first = literal(''), ...rest] = args;
  // The old form has its letters without a dash, and their values follow in order.
  const old = /^[A-Za-z]+$/.test(first.text);
  const given = judgeArguments(name, TAR, old ? spread(first, rest) : args, scope, inspection);
  const value = (option: string): Field | undefined => given.options.find((each) => each.name === option)?.value;
  const archive = value('-f');
  const folder = value('-C') ?? literal('.');
  for (const option of given.options)
    if (option.name === '--checkpoint-action' && !/^(?:echo|dot|bell|ttyout)/.test(option.value?.text ?? '')) {
      inspection.add('code_execution', 'tar runs a command at a checkpoint');
      inspection.line(option.value?.text.replace(/^exec=/, '') ?? '', scope, undefined);
    }
  if (archive !== undefined && /^[^/]*:/.test(archive.text)) inspection.add('network_upload', 'tar uses an archive on another machine');
  const strange = given.options.find((option) => option.strange);
  if (strange !== undefined) inspection.add('unknown', `tar has an option that is not known: ${strange.name}`);
  for (const once of ['-f', '-C'])
    if (given.options.filter((option) => option.name === once).length > 1)
      inspection.add('system_write', `tar is given ${once} more than once`);
  const writes = hasOption(given, '-c', '-r');
  const unpacks = hasOption(given, '-x');
  if (writes) {
    if (archive !== undefined) judgeWrite(archive, scope, inspection);
    for (const operand of given.operands) {
      const there =
        value('-C') === undefined || operand.text.startsWith('/') ? operand : { ...operand, text: `${folder.text}/${operand.text}` };
      judgeRead(there, scope, inspection);
      judgeSweep(there, scope, inspection, { hidden: true, links: true });
    }
    if (value('-C') !== undefined) judgeRead(folder, scope, inspection, 'list');
    return undefined;
  }
  if (archive !== undefined) judgeRead(archive, scope, inspection);
  if (unpacks && !hasOption(given, '-O')) {
    if (archive === undefined || archive.text === '-') judgeUnpackedInput(stdin, scope, inspection);
    else judgeUnpack(archive, scope, inspection);
  }
  if (unpacks && !hasOption(given, '-O')) judgeWrite(folder, scope, inspection);
  else if (!unpacks && !hasOption(given, '-t', '-d', '-O')) inspection.add('unknown', 'nobody knows what tar does');
  return undefined;
};

/** Without a file for it, the patch comes as input. */
export const patch: Special = ({ name, rule, args, scope, inspection, stdin }) => {
  const given = judgeArguments(name, rule, args, scope, inspection);
  if (!hasOption(given, '-i') && given.operands.length < 2) judgeUnpackedInput(stdin, scope, inspection);
  return undefined;
};

function spread(letters: Field, rest: readonly Field[]): readonly Field[] {
  const values = [...rest];
  const spelled: Field[] = [];
  for (const letter of letters.text) {
    spelled.push(literal(`-${letter}`));
    if (/[fCbTXIgNVLKF]/.test(letter)) spelled.push(values.shift() ?? UNKNOWN_FIELD);
  }
  return [...spelled, ...values];
}

/** `ps` with `e` in its BSD letters, or `-E`, shows environments. */
export const processes: Special = ({ name, rule, args, scope, inspection }) => {
  judgeArguments(name, rule, args, scope, inspection);
  if (args.some(({ text }) => /^[a-zA-Z]*e[a-zA-Z]*$/.test(text) || /^-[A-Za-z]*E/.test(text) || /environ/.test(text)))
    inspection.add('system_write', 'ps shows the environments of processes');
  return undefined;
};

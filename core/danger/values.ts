import type { ShellPart, ShellVariable, ShellWord } from '../../ports/shell-grammar.ts';
import { type Field, literal, UNKNOWN_FIELD } from './fields.ts';
import type { Inspection } from './findings.ts';
import { RUN_TIME } from './place.ts';
import type { Scope } from './scope.ts';
import { isSecretName } from './sensitive.ts';

/** Ways in which the words of one command can turn out. */
const MAX_VARIANTS = 16;
const MAX_BRACES = 64;
const RUN_TIME_PART: ShellPart = { kind: 'variable', name: '', quoted: true, form: 'changed', words: [] };
/** Adds nothing to a word but that it is made. */
const MADE: ShellPart = { kind: 'choice', options: [] };
/** Code units of one expanded word, beyond which it is as good as unknown. */
const MAX_FIELD = 64 * 1024;

/** Every way in which words can turn out: usually one. Looks into what is nested on the way. */
export function expandWords(words: readonly ShellWord[], scope: Scope, inspection: Inspection): readonly (readonly Field[])[] {
  let variants: Field[][] = [[]];
  for (const word of words.flatMap(withoutBraces)) {
    const ways = expandWord(word, scope, inspection);
    if (variants.length * ways.length > MAX_VARIANTS) {
      variants = variants.map((fields) => [...fields, UNKNOWN_FIELD]);
      continue;
    }
    if (ways.length === 1) for (const fields of variants) fields.push(...(ways[0] ?? []));
    else variants = variants.flatMap((fields) => ways.map((way) => [...fields, ...way]));
  }
  return variants;
}

/** One word as it would be without splitting: the value of an assignment, the target of a redirection. */
export function expandValue(word: ShellWord, scope: Scope, inspection: Inspection): readonly Field[] {
  return expandWord({ ...word, parts: word.parts.map(quoted) }, scope, inspection).map((fields) => fields[0] ?? literal(''));
}

/** One word for each way through its braces; what is too much becomes run-time text. */
function withoutBraces(word: ShellWord): readonly ShellWord[] {
  if (!word.parts.some((part) => part.kind === 'choice')) return [word];
  let ways: readonly (readonly ShellPart[])[] = [[]];
  for (const part of word.parts) {
    const options: readonly (readonly ShellPart[])[] = part.kind === 'choice' ? part.options.map((option) => [MADE, ...option]) : [[part]];
    if (ways.length * options.length > MAX_BRACES) return [{ ...word, parts: [RUN_TIME_PART] }];
    ways = ways.flatMap((way) => options.map((option) => [...way, ...option]));
  }
  return ways.map((parts) => ({ ...word, parts }));
}

function quoted(part: ShellPart): ShellPart {
  if (part.kind === 'variable') return { ...part, quoted: true };
  return part.kind === 'command' ? { ...part, quoted: true } : part;
}

/** A word under way: what is finished, and the piece that the next part goes on with. */
interface Draft {
  readonly done: readonly Field[];
  readonly text: string;
  readonly glob: boolean;
  readonly made: boolean;
  /** There is a piece, though it may be empty. */
  readonly open: boolean;
  /** An empty piece is a word all the same, since it was quoted. */
  readonly solid: boolean;
}

const FRESH: Draft = { done: [], text: '', glob: false, made: false, open: false, solid: false };

function expandWord(word: ShellWord, scope: Scope, inspection: Inspection): readonly (readonly Field[])[] {
  let drafts: readonly Draft[] = [FRESH];
  word.parts.forEach((part, index) => {
    const pieces = expandPart(part, index === 0, scope, inspection);
    const next = drafts.flatMap((draft) => pieces.map((piece) => append(draft, piece)));
    drafts = next.length <= MAX_VARIANTS ? next : [append(drafts[0] ?? FRESH, { fields: [UNKNOWN_FIELD] })];
  });
  return drafts.map(finish);
}

/** What one part becomes: the first and the last field join their neighbours. */
interface Piece {
  readonly fields: readonly Field[];
  /** It was split: what is empty at its ends only ends words. */
  readonly split?: boolean;
}

function append(draft: Draft, { fields, split: wasSplit = false }: Piece): Draft {
  const [first, ...rest] = fields;
  if (first === undefined) return draft;
  const joined: Draft = {
    done: draft.done,
    text: draft.text.length + first.text.length > MAX_FIELD ? RUN_TIME : draft.text + first.text,
    glob: draft.glob || first.glob,
    made: draft.made || first.made,
    open: true,
    solid: draft.solid || !wasSplit,
  };
  return rest.reduce<Draft>((sofar, field) => ({ ...field, done: finish(sofar), open: true, solid: !wasSplit }), joined);
}

function finish({ done, text, glob, made, open, solid }: Draft): readonly Field[] {
  return open && (solid || text !== '') ? [...done, { text, glob, made }] : done;
}

/** Each entry is one way to turn out. */
function expandPart(part: ShellPart, first: boolean, scope: Scope, inspection: Inspection): readonly Piece[] {
  switch (part.kind) {
    case 'text':
      lookForHiddenCode(part.value, part.quoted, inspection);
      return [{ fields: [{ text: first && !part.quoted ? withHome(part.value, scope) : part.value, glob: false, made: false }] }];
    case 'glob':
      return [{ fields: [{ text: part.value, glob: true, made: false }] }];
    case 'choice':
      return [{ fields: [part.options.length === 0 ? { text: '', glob: false, made: true } : UNKNOWN_FIELD] }];
    case 'variable':
      return variable(part, scope, inspection);
    case 'command': {
      const output = inspection.script(part.script, scope.subshell(), undefined);
      const value = { ...output, text: withoutLastLines(output.text), made: true };
      return [part.quoted ? { fields: [{ ...value, glob: false }] } : { fields: split(value, scope), split: true }];
    }
    case 'process':
      inspection.script(part.script, scope.subshell(), part.direction === 'write' ? UNKNOWN_FIELD : undefined);
      return [{ fields: [literal('/dev/fd/63')] }];
    case 'arithmetic':
      for (const word of part.words) expandWord(word, scope, inspection);
      return [{ fields: [{ text: '0', glob: false, made: true }] }];
  }
}

/** Arithmetic of some shells runs a substitution that is hidden in an index: `a[$(…)]`. */
function lookForHiddenCode(text: string, isQuoted: boolean, inspection: Inspection): void {
  if (isQuoted && /\[[^\]]{0,200}(?:\$\(|`)/.test(text)) inspection.add('code_execution', 'a text in it is code where arithmetic is done');
}

function withHome(text: string, scope: Scope): string {
  if (!text.startsWith('~')) return text;
  const end = text.indexOf('/') < 0 ? text.length : text.indexOf('/');
  const home = end === 1 ? scope.single('HOME') : undefined;
  return (home ?? RUN_TIME) + text.slice(end);
}

function variable(part: ShellVariable, scope: Scope, inspection: Inspection): readonly Piece[] {
  const { name, form } = part;
  const operands = part.words.map((word) => expandWord(word, scope, inspection));
  if (form === 'length') return [{ fields: [{ text: '0', glob: false, made: true }] }];
  if (form === 'indirect') inspection.add('system_write', `"\${!${name}}" reads a variable that is named at run time`);
  if (form === 'indirect' || form === 'changed') {
    if (name !== '') noteSecret(name, scope, inspection);
    return [{ fields: [UNKNOWN_FIELD] }];
  }
  if (form === 'plain' && (name === '@' || name === '*') && scope.args !== undefined) return [{ fields: [...scope.args] }];
  noteSecret(name, scope, inspection);
  const values = [...scope.get(name), ...(form === 'plain' ? [] : operands.flat(2))];
  if (form === 'assigned') scope.forget(name);
  return values.map((value) => ({
    // A value that a pattern found stands for any file, quoted or not.
    fields: part.quoted ? [{ ...value, made: true }] : split(value, scope),
    split: !part.quoted,
  }));
}

function noteSecret(name: string, scope: Scope, inspection: Inspection): void {
  if (!scope.isSet(name) && isSecretName(name)) inspection.add('system_write', `it reads the secret $${name}`);
}

/** An unquoted value falls into words. */
function split(value: Field, scope: Scope): readonly Field[] {
  if (scope.splitsOddly) return [UNKNOWN_FIELD];
  const glob = value.glob || /[*?[]/.test(value.text);
  return value.text.split(/[ \t\n]+/).map((text) => ({ text, glob, made: true }));
}

function withoutLastLines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

import type {
  ShellAssignment,
  ShellCompound,
  ShellFunction,
  ShellNode,
  ShellRedirect,
  ShellScript,
  ShellSimple,
  ShellStatement,
} from '../../ports/shell-grammar.ts';
import { type Field, isKnown, UNKNOWN_FIELD } from './fields.ts';
import type { Inspection } from './findings.ts';
import { judgeRead, judgeWrite } from './paths.ts';
import { RUN_TIME } from './place.ts';
import type { Scope } from './scope.ts';
import { isRiskyVariable } from './sensitive.ts';
import { noteAssignment } from './special/builtins.ts';
import { expandValue, expandWords } from './values.ts';

/** Values of a `for` that are gone through one by one. */
const MAX_ROUNDS = 24;
const NOTHING_KNOWN = UNKNOWN_FIELD;

/** Goes through a script in the order it runs. Gives what it prints, where that can be known. */
export function walkScript(script: ShellScript, scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  const { statements } = script;
  let output: Field = NOTHING_KNOWN;
  for (let at = 0; at < statements.length; ) {
    const rest = statements.slice(at + 1).findIndex((statement) => statement.when === 'always');
    const end = rest < 0 ? statements.length : at + 1 + rest;
    output = walkChain(statements.slice(at, end), scope, stdin, inspection);
    at = end;
  }
  return statements.length === 1 ? output : NOTHING_KNOWN;
}

/** Statements of which each later one runs, or not, after how the one before ended. */
function walkChain(chain: readonly ShellStatement[], outer: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  const [first, ...later] = chain;
  if (first === undefined) return NOTHING_KNOWN;
  const scope = first.background ? outer.subshell() : outer;
  const output = walkNode(first.node, scope, stdin, inspection);
  if (later.length === 0) return output;
  let branch = scope.branch();
  for (const statement of later) {
    if (statement.when === 'success') branch.arrive();
    else {
      scope.join(branch);
      branch = scope.branch();
    }
    walkNode(statement.node, branch, stdin, inspection);
  }
  scope.join(branch);
  return NOTHING_KNOWN;
}

function walkNode(node: ShellNode, scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  if (!inspection.spend()) return NOTHING_KNOWN;
  switch (node.kind) {
    case 'simple':
      return walkSimple(node, scope, stdin, inspection);
    case 'pipeline': {
      let output: Field = stdin ?? NOTHING_KNOWN;
      node.members.forEach((member, index) => {
        output = walkNode(member, scope.subshell(), index === 0 ? stdin : output, inspection);
      });
      return output;
    }
    case 'function':
      return define(node, scope, inspection);
    case 'compound':
      return walkCompound(node, scope, stdin, inspection);
  }
}

function walkSimple(node: ShellSimple, scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  const given = walkRedirects(node.redirects, scope, stdin, inspection);
  const prefix = node.words.length > 0;
  for (const assignment of node.assignments) assign(assignment, prefix, scope, node, inspection);
  // Words are expanded before the assignments in front of them hold.
  const variants = expandWords(node.words, scope, inspection);
  let output: Field = NOTHING_KNOWN;
  for (const argv of variants) {
    if (argv.length > 0) output = inspection.command(argv, scope, given.stdin);
    else if (prefix) inspection.add('unknown', 'it runs a program whose name is only known at run time');
  }
  if (given.written.length > 0 && isKnown(output)) for (const target of given.written) judgeWrite(target, scope, inspection, output.text);
  else for (const target of given.written) judgeWrite(target, scope, inspection);
  return given.written.length > 0 || variants.length !== 1 ? NOTHING_KNOWN : output;
}

function assign(assignment: ShellAssignment, prefix: boolean, scope: Scope, { words }: ShellSimple, inspection: Inspection): void {
  const { name, append, list, index } = assignment;
  const values = assignment.words.flatMap((word) => expandValue(word, scope, inspection));
  for (const word of index) expandValue(word, scope, inspection);
  if (index.some((word) => word.parts.some((part) => part.kind !== 'text'))) inspection.add('code_execution', 'an index is evaluated');
  // `IFS= read` splits what is read, not the line.
  const forRead = prefix && name === 'IFS' && words[0]?.text === 'read';
  if (prefix && !forRead && (isRiskyVariable(name) || name === 'IFS')) inspection.add('system_write', `${name} changes what programs do`);
  if (!prefix) noteAssignment(name, inspection, scope);
  if (prefix) return;
  if (append || list) scope.forget(name);
  else scope.set(name, values);
}

interface Redirected {
  readonly stdin: Field | undefined;
  readonly written: readonly Field[];
}

function walkRedirects(redirects: readonly ShellRedirect[], scope: Scope, stdin: Field | undefined, inspection: Inspection): Redirected {
  let input = stdin;
  const written: Field[] = [];
  for (const redirect of redirects) {
    if (redirect.kind === 'text') {
      const values = expandValue(redirect.content, scope, inspection);
      input = values.length === 1 ? values[0] : NOTHING_KNOWN;
      continue;
    }
    if (redirect.kind === 'descriptor') continue;
    for (const target of expandValue(redirect.target, scope, inspection)) {
      if (redirect.access !== 'write') {
        if (!/^\/dev\/(?:tcp|udp)\//i.test(target.text)) judgeRead(target, scope, inspection);
        else judgeWrite(target, scope, inspection);
        input = isKnown(target) && !target.glob ? { ...NOTHING_KNOWN, file: target.text } : NOTHING_KNOWN;
      }
      if (redirect.access !== 'read') written.push(target);
    }
  }
  return { stdin: input, written };
}

function define({ name, body }: ShellFunction, scope: Scope, inspection: Inspection): Field {
  if (isForkBomb(name, body)) inspection.add('blocked', 'it is a fork bomb');
  scope.functions.set(name, { body, certain: true });
  // Also uncalled, or called in a way that cannot be followed, a body is what the line can do.
  inspection.nested(() => void walkNode(body, scope.subshell(), undefined, inspection));
  return NOTHING_KNOWN;
}

/** A function that starts itself twice, or in the background. */
function isForkBomb(name: string, body: ShellNode): boolean {
  let bomb = false;
  const calls = (node: ShellNode): number => {
    switch (node.kind) {
      case 'simple':
        return node.words[0]?.text === name ? 1 : 0;
      case 'pipeline': {
        const count = node.members.reduce((sum, member) => sum + calls(member), 0);
        if (count >= 2) bomb = true;
        return count;
      }
      case 'function':
        return 0;
      case 'compound':
        return node.bodies.reduce((sum, script) => sum + callsIn(script), 0);
    }
  };
  const callsIn = ({ statements }: ShellScript): number =>
    statements.reduce((sum, { node, background }) => {
      const count = calls(node);
      if (background && count > 0) bomb = true;
      return sum + count;
    }, 0);
  calls(body);
  return bomb;
}

function walkCompound(node: ShellCompound, scope: Scope, stdin: Field | undefined, inspection: Inspection): Field {
  const given = walkRedirects(node.redirects, scope, stdin, inspection);
  for (const target of given.written) judgeWrite(target, scope, inspection);
  switch (node.form) {
    case 'group':
    case 'subshell': {
      expandWords(node.words, scope, inspection);
      const inner = node.form === 'group' ? scope : scope.subshell();
      const outputs = node.bodies.map((body) => walkScript(body, inner, given.stdin, inspection));
      return outputs.length === 1 && given.written.length === 0 ? (outputs[0] ?? NOTHING_KNOWN) : NOTHING_KNOWN;
    }
    case 'branch':
      expandWords(node.words, scope, inspection);
      for (const body of node.bodies) {
        const branch = scope.branch();
        walkScript(body, branch, given.stdin, inspection);
        scope.join(branch);
      }
      return NOTHING_KNOWN;
    case 'loop':
      walkLoop(node, scope, given.stdin, inspection);
      return NOTHING_KNOWN;
    case 'test':
      expandWords(node.words, scope, inspection);
      return NOTHING_KNOWN;
  }
}

/** A body may run often: what it sets is open from its start on, and a list is gone through value by value. */
function walkLoop(node: ShellCompound, scope: Scope, stdin: Field | undefined, inspection: Inspection): void {
  const { variable } = node;
  const values = expandWords(node.words, scope, inspection).flat();
  const changed = node.bodies.flatMap(namesSetIn);
  const moves = node.bodies.some(movesIn);
  if (changed.length > 0 || moves) {
    // The first round still knows where it is.
    const first = scope.subshell();
    if (variable !== undefined) first.set(variable, values.length === 1 ? values : [UNKNOWN_FIELD]);
    for (const body of node.bodies) walkScript(body, first, stdin, inspection);
  }
  const branch = scope.branch();
  for (const name of changed) branch.forget(name);
  if (moves) branch.enter([]);
  const rounds = variable === undefined ? [undefined] : values.length > MAX_ROUNDS ? [UNKNOWN_FIELD] : values;
  if (variable !== undefined && isRiskyVariable(variable)) inspection.add('system_write', `${variable} changes what programs do`);
  for (const value of rounds.length === 0 ? [UNKNOWN_FIELD] : rounds) {
    if (!inspection.spend()) break;
    if (variable !== undefined && value !== undefined) branch.set(variable, [value]);
    for (const body of node.bodies) walkScript(body, branch, stdin, inspection);
  }
  scope.join(branch);
}

/** Variables that a script sets by plain assignment or in a nested loop. */
function namesSetIn({ statements }: ShellScript): readonly string[] {
  return statements.flatMap(({ node }) => namesSetBy(node));
}

const SETS_WORDS = new Set([
  'export',
  'declare',
  'typeset',
  'local',
  'readonly',
  'read',
  'printf',
  'mapfile',
  'readarray',
  'unset',
  'getopts',
  'let',
]);

function namesSetBy(node: ShellNode): readonly string[] {
  switch (node.kind) {
    case 'simple': {
      const set = node.words.length === 0 ? node.assignments.map(({ name }) => name) : [];
      const named = SETS_WORDS.has(node.words[0]?.text ?? '') ? node.words.map(({ text }) => /^[A-Za-z_]\w*/.exec(text)?.[0] ?? '') : [];
      return [...set, ...named].filter((name) => name !== '');
    }
    case 'pipeline':
      return node.members.flatMap(namesSetBy);
    case 'function':
      return namesSetBy(node.body);
    case 'compound':
      return [...(node.variable === undefined ? [] : [node.variable]), ...node.bodies.flatMap(namesSetIn)];
  }
}

const MOVES = new Set(['cd', 'pushd', 'popd', 'eval', 'source', '.']);

/** Whether a script can change the folder it is in from one round to the next. */
function movesIn({ statements }: ShellScript): boolean {
  return statements.some(({ node }) => movesBy(node));
}

function movesBy(node: ShellNode): boolean {
  switch (node.kind) {
    case 'simple':
      return MOVES.has(node.words[0]?.text ?? '') || node.words[0]?.text.includes(RUN_TIME) === true;
    case 'pipeline':
      return false;
    case 'function':
      return movesBy(node.body);
    case 'compound':
      return node.form !== 'subshell' && node.bodies.some(movesIn);
  }
}

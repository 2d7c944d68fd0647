import type { ArithmeticExpression, ParameterExpansionPart, Script, TestExpression, Word, WordPart } from 'unbash';
import type { ShellPart, ShellScript, ShellVariable, ShellWord } from '../../ports/shell-grammar.ts';
import { braceOptions } from './braces.ts';
import type { Faults } from './faults.ts';

/** Turns words of the parser into words of the port. */
export interface Words {
  word(word: Word): ShellWord;
  /** The text of a here-document. */
  body(text: string, parts: readonly WordPart[] | undefined, quoted: boolean): ShellWord;
  arithmetic(expression: ArithmeticExpression | undefined): readonly ShellWord[];
  test(expression: TestExpression): readonly ShellWord[];
}

const NOTHING: ShellScript = { statements: [] };
const RUN_TIME: ShellVariable = { kind: 'variable', name: '', quoted: false, form: 'changed', words: [] };

export function createWords(faults: Faults, script: (parsed: Script) => ShellScript): Words {
  const word = (source: Word): ShellWord =>
    faults.within<ShellWord>(() => ({ text: source.text, parts: partsOf(source) }), { text: source.text, parts: [RUN_TIME] });

  const partsOf = (source: Word): readonly ShellPart[] => {
    if (source.parts !== undefined) return source.parts.flatMap((each) => part(each, false));
    return [{ kind: 'text', value: source.value, quoted: source.value !== source.text }];
  };

  const nested = (parsed: Script | undefined, what: string): ShellScript => {
    if (parsed === undefined) faults.add('syntax', `${what} cannot be read`);
    return parsed === undefined ? NOTHING : script(parsed);
  };

  function part(source: WordPart, quoted: boolean): readonly ShellPart[] {
    switch (source.type) {
      case 'Literal':
        return [{ kind: 'text', value: source.value, quoted: quoted || source.value !== source.text }];
      case 'SingleQuoted':
        return [{ kind: 'text', value: source.value, quoted: true }];
      case 'AnsiCQuoted':
        if (source.text.slice(2, -1).includes("'")) faults.add('ambiguous', "$'…' with a quote in it ends elsewhere in some shells");
        return [{ kind: 'text', value: source.value, quoted: true }];
      case 'DoubleQuoted':
      case 'LocaleString':
        return source.parts.length === 0 ? [{ kind: 'text', value: '', quoted: true }] : source.parts.flatMap((each) => part(each, true));
      case 'Glob':
        return [{ kind: 'glob', value: source.text }, ...expansionsIn(source.parts)];
      case 'ExtendedGlob':
        faults.add('ambiguous', 'an extended pattern is a subshell to some shells');
        return [{ kind: 'glob', value: source.text }, ...expansionsIn(source.parts)];
      case 'SimpleExpansion':
        return [{ kind: 'variable', name: source.text.slice(1), quoted, form: 'plain', words: [] }];
      case 'ParameterExpansion':
        return [parameter(source, quoted)];
      case 'CommandExpansion':
        return [{ kind: 'command', quoted, script: nested(source.script, 'a substitution') }];
      case 'ProcessSubstitution':
        return [
          {
            kind: 'process',
            direction: source.operator === '<' ? 'read' : 'write',
            script: nested(source.script, 'a process substitution'),
          },
        ];
      case 'ArithmeticExpansion':
        if (source.text.startsWith('$[')) faults.add('ambiguous', '"$[" is plain text to some shells');
        if (/['"\\;\n`]/.test(source.text)) faults.add('ambiguous', 'shells disagree where an arithmetic expression ends');
        if (source.expression === undefined && !/^\$\(\(\s*\)\)$/.test(source.text))
          faults.add('syntax', 'an arithmetic expression cannot be read');
        return [{ kind: 'arithmetic', words: arithmetic(source.expression) }];
      case 'BraceExpansion':
        return braces(source);
    }
  }

  /** What runs inside of a pattern, without its text. */
  function expansionsIn(parts: readonly WordPart[] | undefined): readonly ShellPart[] {
    return (parts ?? []).flatMap((each) => part(each, false)).filter((each) => each.kind !== 'text' && each.kind !== 'glob');
  }

  function braces(source: Extract<WordPart, { type: 'BraceExpansion' }>): readonly ShellPart[] {
    const options = braceOptions(source.text);
    if (options !== undefined) return [{ kind: 'choice', options: options.map((value) => [{ kind: 'text', value, quoted: false }]) }];
    return [RUN_TIME, ...expansionsIn(source.parts)];
  }

  function parameter(source: ParameterExpansionPart, quoted: boolean): ShellVariable {
    const { parameter: name, prefix, index, operation } = source;
    const inner = source.text.slice(source.parameterEnd - source.pos, -1);
    if (/['"\\`]/.test(inner) && operation !== undefined) faults.add('ambiguous', `shells disagree where ${source.text} ends`);
    const words = [...(index === undefined ? [] : [word(index)]), ...operandsOf(operation).map(word)];
    return { kind: 'variable', name: index === undefined ? name : '', quoted, form: formOf(prefix, operation), words };
  }

  function arithmetic(expression: ArithmeticExpression | undefined): readonly ShellWord[] {
    if (expression === undefined) return [];
    return faults.within<readonly ShellWord[]>(() => arithmeticWords(expression), []);
  }

  function arithmeticWords(expression: ArithmeticExpression): readonly ShellWord[] {
    switch (expression.type) {
      case 'ArithmeticWord': {
        const parts = expression.parts?.flatMap((each) => part(each, false)) ?? [textPart(expression.value)];
        return [{ text: expression.value, parts }];
      }
      case 'ArithmeticCommandExpansion':
        return [
          { text: expression.text, parts: [{ kind: 'command', quoted: false, script: nested(expression.script, 'a substitution') }] },
        ];
      case 'ArithmeticBinary':
        return [...arithmetic(expression.left), ...arithmetic(expression.right)];
      case 'ArithmeticUnary':
        return arithmetic(expression.operand);
      case 'ArithmeticTernary':
        return [expression.test, expression.consequent, expression.alternate].flatMap(arithmetic);
      case 'ArithmeticGroup':
        return arithmetic(expression.expression);
    }
  }

  function tested(source: Word): ShellWord {
    if (/[|&;()<>]/.test(source.text)) faults.add('ambiguous', `${source.text} in "[[" is more than a word to some shells`);
    return word(source);
  }

  function test(expression: TestExpression): readonly ShellWord[] {
    switch (expression.type) {
      case 'TestUnary':
        return [tested(expression.operand)];
      case 'TestBinary':
        if (/[<>]/.test(expression.operator)) faults.add('ambiguous', '"<" and ">" in "[[" are redirections to some shells');
        return [tested(expression.left), tested(expression.right)];
      case 'TestLogical':
        faults.add('ambiguous', `"${expression.operator}" in "[[" separates commands in some shells`);
        return expression.operands.flatMap((operand) => faults.within(() => test(operand), []));
      case 'TestNot':
        return faults.within(() => test(expression.operand), []);
      case 'TestGroup':
        faults.add('ambiguous', 'parentheses in "[[" are a subshell to some shells');
        return faults.within(() => test(expression.expression), []);
    }
  }

  function body(text: string, parts: readonly WordPart[] | undefined, quoted: boolean): ShellWord {
    if (parts === undefined) return { text, parts: [{ kind: 'text', value: quoted ? text : unescaped(text), quoted: true }] };
    return { text, parts: parts.flatMap((each) => part(each, true)) };
  }

  return { word, body, arithmetic, test };
}

function textPart(value: string): ShellPart {
  return { kind: 'text', value, quoted: false };
}

/** In an unquoted here-document a backslash takes the meaning from what expands. */
function unescaped(text: string): string {
  return text.replace(/\\([$`\\])/g, '$1').replace(/\\\n/g, '');
}

function formOf(prefix: ParameterExpansionPart['prefix'], operation: ParameterExpansionPart['operation']): ShellVariable['form'] {
  if (prefix === '#') return 'length';
  if (prefix === '!') return 'indirect';
  if (operation === undefined) return 'plain';
  if (operation.type !== 'Default') return 'changed';
  if (operation.operator === '-' || operation.operator === ':-') return 'default';
  return operation.operator === '=' || operation.operator === ':=' ? 'assigned' : 'changed';
}

function operandsOf(operation: ParameterExpansionPart['operation']): readonly Word[] {
  switch (operation?.type) {
    case 'Default':
    case 'Remove':
    case 'Transform':
      return [operation.operand];
    case 'Replace':
      return [operation.pattern, operation.replacement];
    case 'Slice':
      return operation.length === undefined ? [operation.offset] : [operation.offset, operation.length];
    case 'CaseModification':
      return operation.operand === undefined ? [] : [operation.operand];
    default:
      return [];
  }
}

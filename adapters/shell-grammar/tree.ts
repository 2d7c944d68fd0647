import {
  type AndOr,
  type Assignment,
  type CommandNode,
  type CompoundList,
  type PipelineNode,
  parse,
  type Redirection,
  type Script,
  type Statement,
  type Word,
} from 'unbash';
import type {
  ParsedShell,
  ShellAssignment,
  ShellCompound,
  ShellNode,
  ShellRedirect,
  ShellScript,
  ShellSimple,
  ShellStatement,
  ShellWord,
} from '../../ports/shell-grammar.ts';
import { createFaults } from './faults.ts';
import { createWords, type Words } from './words.ts';

const NOTHING: ShellScript = { statements: [] };
const NO_COMMAND: ShellSimple = { kind: 'simple', assignments: [], words: [], redirects: [] };
/** Shells agree only on control characters that separate words and lines. */
const CONTROL = /[^\P{Cc}\t\n]/u;
const PLAIN_DELIMITER = /^[\w.!@%+:=-]+$/;

/** The tree of a source as the port has it, with the faults of every nested script. */
export function parseTree(source: string): ParsedShell {
  const faults = createFaults();
  if (CONTROL.test(source)) faults.add('ambiguous', 'it holds control characters');
  const reader = createReader(faults);
  const script = reader.script(parse(source));
  return { script, faults: faults.found };
}

interface Reader {
  script(script: Script): ShellScript;
}

function createReader(faults: ReturnType<typeof createFaults>): Reader {
  const script = (parsed: Script): ShellScript => {
    const { errors } = parsed as { readonly errors?: readonly { readonly message: string; readonly pos: number }[] };
    for (const { message, pos } of errors ?? [])
      faults.add(/nesting depth exceeded/.test(message) ? 'limit' : 'syntax', `${message} at ${pos}`);
    return faults.level(() => ({ statements: parsed.commands.flatMap(statements) }), NOTHING);
  };
  const words: Words = createWords(faults, script);

  const list = (compound: CompoundList | undefined): ShellScript =>
    compound === undefined ? NOTHING : faults.level(() => ({ statements: compound.commands.flatMap(statements) }), NOTHING);

  function statements({ command, background }: Statement): readonly ShellStatement[] {
    if (command.type !== 'AndOr') return [{ node: node(command), when: 'always', background: background === true }];
    return chain(command, background === true);
  }

  function chain({ commands, operators }: AndOr, background: boolean): readonly ShellStatement[] {
    return commands.map((command, index) => ({
      node: node(command),
      when: index === 0 ? 'always' : operators[index - 1] === '&&' ? 'success' : 'failure',
      background,
    }));
  }

  function node(command: PipelineNode): ShellNode {
    return faults.within<ShellNode>(() => {
      if (command.type !== 'Pipeline') return commandNode(command);
      const [only, ...more] = command.commands;
      if (only !== undefined && more.length === 0) return commandNode(only);
      return { kind: 'pipeline', members: command.commands.map((member) => node(member)) };
    }, NO_COMMAND);
  }

  function commandNode(command: CommandNode): ShellNode {
    switch (command.type) {
      case 'Command':
        return simple(command.name, command.prefix, command.suffix);
      case 'Function':
        return { kind: 'function', name: command.name.value, body: compoundNode(command.body) };
      case 'Coproc':
        return command.body.type === 'Command' ? commandNode(command.body) : compoundNode(command.body);
      default:
        return compoundNode(command);
    }
  }

  function compoundNode(command: Exclude<CommandNode, { type: 'Command' | 'Function' | 'Coproc' }> | CompoundList): ShellCompound {
    switch (command.type) {
      case 'Redirected':
        return { ...compoundNode(command.command), redirects: command.redirects.map(redirect) };
      case 'CompoundList':
        return compound('group', [list(command)]);
      case 'BraceGroup':
        return compound('group', [list(command.body)]);
      case 'Subshell':
        return compound('subshell', [list(command.body)]);
      case 'If':
        return compound('branch', [
          list(command.clause),
          list(command.then),
          ...command.elif.flatMap((elif) => [list(elif.clause), list(elif.then)]),
          list(command.else),
        ]);
      case 'Case':
        return compound(
          'branch',
          command.items.map((item) => list(item.body)),
          [command.word, ...command.items.flatMap((item) => item.pattern)].map(words.word),
        );
      case 'While':
        return compound('loop', [list(command.clause), list(command.body)]);
      case 'For':
      case 'Select': {
        const items = command.wordlist?.map(words.word) ?? [EVERY_ARGUMENT];
        return { ...compound('loop', [list(command.body)], items), variable: command.name.value };
      }
      case 'ArithmeticFor':
        return compound(
          'loop',
          [list(command.body)],
          [command.initialize, command.test, command.update].flatMap((expression) => words.arithmetic(expression)),
        );
      case 'ArithmeticCommand':
        faults.add('ambiguous', '"((" is a nested subshell to some shells');
        return compound('subshell', [script(parse(command.body))], words.arithmetic(command.expression));
      case 'TestCommand':
        return compound('test', [], words.test(command.expression));
    }
  }

  function compound(form: ShellCompound['form'], bodies: readonly ShellScript[], items: readonly ShellWord[] = []): ShellCompound {
    return { kind: 'compound', form, words: items, bodies, redirects: [] };
  }

  function simple(
    name: Word | undefined,
    prefix: readonly (Assignment | Redirection)[],
    suffix: readonly (Word | Assignment | Redirection)[],
  ): ShellSimple {
    const parts = [...prefix, ...suffix];
    const both = parts.find((part) => part.type === 'Redirect' && part.operator.startsWith('&>'));
    if (both !== undefined && [name, ...suffix].some((part) => part !== undefined && part.type !== 'Redirect' && part.pos > both.pos))
      faults.add('ambiguous', 'what follows "&>" is a command of its own to some shells');
    return {
      kind: 'simple',
      assignments: prefix.flatMap((part) => (part.type === 'Assignment' ? [assignment(part)] : [])),
      words: [
        ...(name === undefined ? [] : [words.word(name)]),
        ...suffix.flatMap((part) => (part.type === 'Word' ? [words.word(part)] : part.type === 'Assignment' ? [assigning(part)] : [])),
      ],
      redirects: parts.flatMap((part) => (part.type === 'Word' || part.type === 'Assignment' ? [] : [redirect(part)])),
    };
  }

  function assignment(part: Assignment): ShellAssignment {
    const { value, name, append, index } = part;
    const items = value.type === 'ArrayValue' ? value.elements : [value];
    return {
      name,
      append: append === true,
      words: items.map(words.word),
      index: index === undefined ? [] : [words.word(index)],
      list: value.type === 'ArrayValue' || index !== undefined,
    };
  }

  /** An assignment among the arguments (`export A=1`) as the one word that it is to the program. */
  function assigning(part: Assignment): ShellWord {
    const { name, append, words: items, index } = assignment(part);
    const lead = { kind: 'text' as const, value: `${name}${append ? '+' : ''}=`, quoted: false };
    return { text: part.text, parts: [lead, ...items.flatMap((item) => item.parts), ...index.flatMap((item) => item.parts)] };
  }

  function redirect(part: Redirection): ShellRedirect {
    if (part.type === 'HereString') return { kind: 'text', content: part.target ? words.word(part.target) : NO_WORD };
    if (part.type === 'HereDoc') {
      const { delimiter, closing, body } = part;
      if (closing === undefined) faults.add('syntax', 'a here-document has no end');
      if (delimiter === undefined || !PLAIN_DELIMITER.test(delimiter.value) || delimiter.text.includes('$'))
        faults.add('ambiguous', 'a here-document ends at something that is no plain word');
      return { kind: 'text', content: words.body(body.text, body.parts, delimiter?.quoted === true) };
    }
    const target = part.target ? words.word(part.target) : NO_WORD;
    if (part.target === undefined) faults.add('syntax', 'a redirection has no target');
    switch (part.operator) {
      case '<':
        return { kind: 'file', access: 'read', target };
      case '<>':
        return { kind: 'file', access: 'both', target };
      case '<&':
      case '>&':
        return /^(?:\d+-?|-)$/.test(target.text) ? { kind: 'descriptor', target } : { kind: 'file', access: 'both', target };
      default:
        return { kind: 'file', access: 'write', target };
    }
  }

  return { script };
}

const NO_WORD: ShellWord = { parts: [], text: '' };
const EVERY_ARGUMENT: ShellWord = { text: '"$@"', parts: [{ kind: 'variable', name: '@', quoted: true, form: 'plain', words: [] }] };

import { MAX_SHELL_BYTES, type ParsedShell, type ShellGrammar, type ShellParser } from '../../ports/shell-grammar.ts';

type Tree = typeof import('./tree.ts');

const EMPTY = { statements: [] };

/** Bash grammar by unbash, which is loaded at the first `load`. */
export function createShellGrammar(): ShellGrammar {
  let parser: Promise<ShellParser> | undefined;
  return {
    load() {
      parser ??= import('./tree.ts').then(parserOf);
      return parser;
    },
  };
}

function parserOf({ parseTree }: Tree): ShellParser {
  return (source) => {
    const tooLong = source.length > MAX_SHELL_BYTES || new TextEncoder().encode(source).length > MAX_SHELL_BYTES;
    if (tooLong) return unread('limit', `it is longer than ${MAX_SHELL_BYTES} bytes`);
    try {
      return parseTree(source);
    } catch (error) {
      return unread('syntax', `the parser gave up: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

function unread(code: 'limit' | 'syntax', message: string): ParsedShell {
  return { script: EMPTY, faults: [{ code, message }] };
}

/**
 * Finds what a file takes from its surroundings without importing it: the process, the clock,
 * randomness, timers, the network. Resolved by the type checker, so that a parameter called
 * `process` or a word in a comment is not mistaken for the global.
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const BANNED_GLOBALS = new Set([
  'process',
  'Buffer',
  'require',
  'module',
  '__dirname',
  '__filename',
  'global',
  'globalThis',
  'window',
  'self',
  'document',
  'navigator',
  'localStorage',
  'sessionStorage',
  'indexedDB',
  'crypto',
  'performance',
  'console',
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'Worker',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'requestAnimationFrame',
  'requestIdleCallback',
]);

const BANNED_MEMBERS = new Set(['Date.now', 'Math.random', 'AbortSignal.timeout']);

/** `.ts` files below `folder`, absolute. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function isAmbient(symbol: ts.Symbol | undefined): boolean {
  return (symbol?.declarations ?? []).every((each) => each.getSourceFile().isDeclarationFile);
}

function bannedUse(node: ts.Node, checker: ts.TypeChecker): string | undefined {
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Date' && !node.arguments?.length) {
    return 'new Date()';
  }
  if (ts.isPropertyAccessExpression(node)) {
    const name = `${node.expression.getText()}.${node.name.text}`;
    return BANNED_MEMBERS.has(name) ? name : undefined;
  }
  if (ts.isMetaProperty(node)) return node.keywordToken === ts.SyntaxKind.ImportKeyword ? node.getText() : undefined;
  if (!ts.isIdentifier(node) || !BANNED_GLOBALS.has(node.text)) return undefined;
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) return undefined;
  if (ts.isTypeReferenceNode(node.parent) || ts.isTypeQueryNode(node.parent)) return undefined;
  return isAmbient(checker.getSymbolAtLocation(node)) ? node.text : undefined;
}

/** `<file>:<line> <what>` for each banned use in `files` (absolute paths); file names are relative to `root`. */
export function ambientUses(root: string, files: readonly string[]): string[] {
  const program = ts.createProgram([...files], {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`not a source file: ${file}`);
    const visit = (node: ts.Node): void => {
      const use = bannedUse(node, checker);
      if (use !== undefined) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${relative(root, file)}:${line + 1} ${use}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** Every error code that source can throw, for the check of docs/errors.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from '../structure/ambient.ts';

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

function literalsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return CODE.test(node.text) ? [node.text] : [];
  if (ts.isConditionalExpression(node)) return [...literalsOf(node.whenTrue), ...literalsOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return literalsOf(node.expression);
  return [];
}

/** Codes written at `new SomeError('code', …)`, at `super('code', …)` in an error class, and in types called `SomeErrorCode`. */
function codesOf(node: ts.Node): string[] {
  if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) {
    return node.arguments?.[0] === undefined ? [] : literalsOf(node.arguments[0]);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) {
    return node.arguments[0] === undefined || node.arguments.length < 2 ? [] : literalsOf(node.arguments[0]);
  }
  if (ts.isTypeAliasDeclaration(node) && /ErrorCode$/.test(node.name.text)) {
    const members = ts.isUnionTypeNode(node.type) ? node.type.types : [node.type];
    return members.flatMap((member) => (ts.isLiteralTypeNode(member) ? literalsOf(member.literal) : []));
  }
  return [];
}

/** Sorted codes of the program below `root`, an absolute path. */
export function errorCodes(root: string): string[] {
  const codes = new Set<string>();
  for (const file of ['core', 'ports', 'adapters', 'plugins', 'hosts'].flatMap((folder) => sourceFiles(join(root, folder)))) {
    const visit = (node: ts.Node): void => {
      for (const code of codesOf(node)) codes.add(code);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true));
  }
  return [...codes].sort();
}

import { type Expression, type ImportDeclaration, type Node, type Pattern, type Program, parse } from 'acorn';
import { stripTypes } from './strip.ts';

interface ReadImport {
  readonly specifier: string | undefined;
  readonly line: number;
  readonly dynamic: boolean;
  readonly type?: string;
  readonly names: readonly string[];
}

/** What a module imports and exports, or why it cannot be read. */
export interface ReadModule {
  readonly imports: readonly ReadImport[];
  readonly exports: readonly string[];
  readonly starExports: readonly string[];
  readonly commonJs?: { readonly line: number; readonly sign: string };
  readonly broken?: { readonly line: number; readonly text: string };
}

const NOTHING = { imports: [], exports: [], starExports: [] };

/** Reads the text of an ES module; `.mts` loses its types first. Runs nothing of it. */
export function readModule(path: string, text: string): ReadModule {
  let code = text;
  if (path.endsWith('.mts')) {
    const stripped = stripTypes(text);
    if ('problem' in stripped) return { ...NOTHING, broken: { line: stripped.line, text: stripped.problem } };
    code = stripped.text;
  }
  try {
    return factsOf(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true, allowHashBang: true }));
  } catch (error) {
    return { ...NOTHING, broken: brokenAt(error, code) };
  }
}

function brokenAt(error: unknown, code: string): { readonly line: number; readonly text: string } {
  const { message, loc, pos } = error as SyntaxError & { loc?: { line: number }; pos?: number };
  const line = loc?.line ?? 1;
  if (pos !== undefined && code[pos] === '@')
    return { line, text: 'uses a decorator, which is more than types that can be erased; call the function instead' };
  return { line, text: `cannot be read: ${message.replace(/ \(\d+:\d+\)$/, '')}` };
}

interface Gathered {
  readonly imports: ReadImport[];
  readonly exports: string[];
  readonly starExports: string[];
}

function factsOf(program: Program): ReadModule {
  const found: Gathered = { imports: [], exports: [], starExports: [] };
  for (const node of program.body) gather(node, found);
  const commonJs = visitAll(program, found);
  return { ...found, ...(commonJs !== undefined && { commonJs }) };
}

function gather(node: Program['body'][number], found: Gathered): void {
  if (node.type === 'ImportDeclaration') {
    const names = node.specifiers.flatMap((each) =>
      each.type === 'ImportSpecifier' ? [nameOf(each.imported)] : each.type === 'ImportDefaultSpecifier' ? ['default'] : [],
    );
    found.imports.push(importOf(node, names));
  } else if (node.type === 'ExportAllDeclaration') {
    found.imports.push(importOf(node, []));
    if (node.exported) found.exports.push(nameOf(node.exported));
    else found.starExports.push(String(node.source.value));
  } else if (node.type === 'ExportDefaultDeclaration') {
    found.exports.push('default');
  } else if (node.type === 'ExportNamedDeclaration') {
    found.exports.push(...node.specifiers.map(({ exported }) => nameOf(exported)));
    const { declaration, source } = node;
    if (source)
      found.imports.push(
        importOf(
          { ...node, source },
          node.specifiers.map(({ local }) => nameOf(local)),
        ),
      );
    if (declaration?.type === 'VariableDeclaration') found.exports.push(...declaration.declarations.flatMap(({ id }) => boundNames(id)));
    else if (declaration) found.exports.push(declaration.id.name);
  }
}

type WithSource = Pick<ImportDeclaration, 'source' | 'loc' | 'attributes'>;

function importOf({ source, loc, attributes }: WithSource, names: readonly string[]): ReadImport {
  const type = attributes.find(({ key }) => nameOf(key) === 'type')?.value.value;
  return {
    specifier: String(source.value),
    line: loc?.start.line ?? 1,
    dynamic: false,
    names,
    ...(typeof type === 'string' && { type }),
  };
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return node.type === 'Identifier' ? (node.name ?? '') : String(node.value);
}

function boundNames(pattern: Pattern): readonly string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => boundNames(each.type === 'RestElement' ? each.argument : each.value));
    case 'ArrayPattern':
      return pattern.elements.flatMap((each) => (each ? boundNames(each) : []));
    case 'RestElement':
      return boundNames(pattern.argument);
    case 'AssignmentPattern':
      return boundNames(pattern.left);
    default:
      return [];
  }
}

type CommonJs = NonNullable<ReadModule['commonJs']>;

/** Looks at every node: computed imports are gathered, and the first sign of CommonJS is returned. */
function visitAll(program: Program, found: Gathered): CommonJs | undefined {
  let sign: CommonJs | undefined;
  const declared = new Set<string>();
  const suspects: { readonly name: string; readonly line: number; readonly sign: string }[] = [];
  const stack: Node[] = [program];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const [key, value] of Object.entries(node)) {
      if (key === 'loc') continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) stack.push(child);
    }
    const any = node as Node & Readonly<Record<string, unknown>>;
    const line = node.loc?.start.line ?? 1;
    if (any.type === 'ImportExpression') found.imports.push(dynamicImport(any, line));
    for (const name of declaredBy(any)) declared.add(name);
    const suspect = suspicious(any);
    if (suspect !== undefined) suspects.push({ ...suspect, line });
  }
  for (const each of suspects.sort((a, b) => a.line - b.line)) {
    if (!declared.has(each.name)) sign ??= { line: each.line, sign: each.sign };
  }
  found.imports.sort((a, b) => a.line - b.line);
  return sign;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

function dynamicImport(node: Readonly<Record<string, unknown>>, line: number): ReadImport {
  const source = node.source as Expression;
  const type = dynamicType(node.options as Expression | null | undefined);
  return { specifier: constantText(source), line, dynamic: true, names: [], ...(type !== undefined && { type }) };
}

function constantText(node: Expression): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

/** `{ with: { type: 'json' } }` */
function dynamicType(options: Expression | null | undefined): string | undefined {
  const member = (node: Expression | null | undefined, name: string): Expression | undefined => {
    if (node?.type !== 'ObjectExpression') return undefined;
    for (const each of node.properties) {
      if (each.type === 'Property' && !each.computed && nameOf(each.key as { type: string }) === name) return each.value;
    }
    return undefined;
  };
  const value = member(member(options, 'with'), 'type');
  return value === undefined ? undefined : constantText(value);
}

function declaredBy(node: Readonly<Record<string, unknown>>): readonly string[] {
  switch (node.type) {
    case 'VariableDeclarator':
      return boundNames(node.id as Pattern);
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression': {
      const own = node.id as { name: string } | null | undefined;
      return [...(own ? [own.name] : []), ...(node.params as Pattern[]).flatMap(boundNames)];
    }
    case 'ClassDeclaration':
      return [(node.id as { name: string }).name];
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
      return [(node.local as { name: string }).name];
    default:
      return [];
  }
}

function suspicious(node: Readonly<Record<string, unknown>>): { readonly name: string; readonly sign: string } | undefined {
  const isCalled = (node.type === 'CallExpression' ? node.callee : undefined) as { type: string; name?: string } | undefined;
  if (isCalled?.type === 'Identifier' && isCalled.name === 'require') return { name: 'require', sign: 'require()' };
  if (node.type !== 'AssignmentExpression') return undefined;
  const target = node.left as { type: string; object?: { type: string; name?: string }; property?: { name?: string } };
  if (target.type !== 'MemberExpression' || target.object?.type !== 'Identifier') return undefined;
  if (target.object.name === 'module' && target.property?.name === 'exports') return { name: 'module', sign: 'module.exports' };
  return target.object.name === 'exports' ? { name: 'exports', sign: 'exports' } : undefined;
}

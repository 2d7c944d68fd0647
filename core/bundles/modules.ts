import { HOST_PACKAGES, PLUGIN_BUILTINS, TYPES_PACKAGE } from '../../ports/bundle.ts';
import { ENTRY_EXTENSIONS } from './namespace.ts';
import { extensionOf, resolveInside } from './paths.ts';
import { type BundleProblem, problemList, type Report, shown } from './problem.ts';

/** One import of a module, as its text has it. */
export interface ModuleImport {
  /** Undefined: it is computed when the module runs. */
  readonly specifier: string | undefined;
  readonly line: number;
  readonly dynamic: boolean;
  /** Of `with { type: … }`. */
  readonly type?: string;
  /** The names that are taken; `*` is none of them. */
  readonly names: readonly string[];
}

/** What a module says of itself; made by reading it, never by running it. */
export interface ModuleFacts {
  readonly imports: readonly ModuleImport[];
  readonly exports: readonly string[];
  /** Modules whose exports it passes on. */
  readonly starExports: readonly string[];
  /** Signs of CommonJS, such as `module.exports`. */
  readonly commonJs?: { readonly line: number; readonly sign: string };
  /** It cannot be read. */
  readonly broken?: { readonly line: number; readonly text: string };
}

/** The modules that the entries reach. */
export interface Closure {
  /** Sorted. */
  readonly reached: readonly string[];
  /** Modules of node (`node:…`) and of the host, sorted. */
  readonly imports: readonly string[];
  /** Where an import is computed: `path:line`. */
  readonly computed: readonly string[];
  readonly problems: readonly BundleProblem[];
}

const MODULE_EXTENSIONS = [...ENTRY_EXTENSIONS, '.json'];
const MAX_REACHED = 4096;
/** Packages that must be the host's own: a second copy has other symbols. */
const SHIPPED = /(?:^|\/)node_modules\/(?:cordis|schemastery|cosmokit|@cordisjs\/[^/]+|@deepseek-ai\/[^/]+)\//;

export interface ClosureInput {
  readonly entries: readonly string[];
  /** Every file of the bundle. */
  readonly files: readonly string[];
  /** Undefined where a path is no module. */
  factsOf(path: string): ModuleFacts | undefined;
}

/** Follows the imports of the entries and says what of them the host would refuse. Without entries, nothing is looked at. */
export function moduleClosure({ entries, files, factsOf }: ClosureInput): Closure {
  const { problems, report } = problemList();
  const reached = new Set<string>();
  const imports = new Set<string>();
  const computed: string[] = [];
  if (entries.length === 0) return { reached: [], imports: [], computed, problems };
  const known = new Set(files);
  refuseShipped(files, report);
  const queue: string[] = [];
  for (const path of entries) {
    if (known.has(path)) queue.push(path);
    else report('refused', path, 'is named as an entry, and the bundle has no such file');
  }
  for (let path = queue.pop(); path !== undefined && reached.size < MAX_REACHED; path = queue.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const facts = factsOf(path);
    if (facts === undefined || isUnusable(path, facts, report)) continue;
    for (const each of facts.imports) {
      if (each.specifier === undefined) computed.push(`${path}:${each.line}`);
      else {
        const target = follow(path, each, each.specifier, { known, imports, report, factsOf });
        if (target !== undefined) queue.push(target);
      }
    }
  }
  return { reached: [...reached].sort(), imports: [...imports].sort(), computed: computed.sort(), problems };
}

function refuseShipped(files: readonly string[], report: Report): void {
  for (const path of files) {
    if (SHIPPED.test(`${path}`)) {
      report('refused', path, 'is a copy of a package that the host brings; leave it out of the bundle');
      return;
    }
  }
  const addon = files.find((path) => extensionOf(path) === '.node');
  if (addon !== undefined) report('refused', addon, 'is native code, which the host never loads');
}

function isUnusable(path: string, { broken, commonJs }: ModuleFacts, report: Report): boolean {
  if (broken !== undefined) report('refused', `${path}:${broken.line}`, broken.text);
  else if (commonJs !== undefined) {
    report('refused', `${path}:${commonJs.line}`, `uses ${commonJs.sign}: it is CommonJS; only ES modules (import and export) are loaded`);
  }
  return broken !== undefined || commonJs !== undefined;
}

interface Following {
  readonly known: ReadonlySet<string>;
  readonly imports: Set<string>;
  readonly report: Report;
  factsOf(path: string): ModuleFacts | undefined;
}

/** The module of the bundle that an import means; undefined where it means none, with what is wrong told. */
function follow(
  from: string,
  { line, type, names }: ModuleImport,
  specifier: string,
  { known, imports, report, factsOf }: Following,
): string | undefined {
  const where = `${from}:${line}`;
  const refuse = (why: string): undefined => void report('refused', where, `imports ${shown(specifier)}: ${why}`);
  if (!/^\.{1,2}\//.test(specifier)) {
    const found = outsideModule(specifier);
    if ('refused' in found) return refuse(found.refused);
    imports.add(found.module);
    return undefined;
  }
  if (/[?#]/.test(specifier)) return refuse('a query or a fragment is not kept');
  const target = resolveInside(from, decoded(specifier));
  if (target === undefined) return refuse('it leads out of the bundle');
  if (!known.has(target)) return refuse(`the bundle has no file ${shown(target)}${spellingHint(target, known)}`);
  const extension = extensionOf(target);
  if (extension === '.cjs') return refuse('it is CommonJS; only ES modules are loaded');
  if (extension === '.ts') return refuse('call the file .mts');
  if (!MODULE_EXTENSIONS.includes(extension)) return refuse(`a module ends with ${MODULE_EXTENSIONS.join(', ')}`);
  if ((extension === '.json') !== (type === 'json')) {
    return refuse(extension === '.json' ? "write: with { type: 'json' }" : `it cannot be imported with the type ${shown(type)}`);
  }
  if (type === undefined) missingNames({ where, specifier, names, target }, from, { report, factsOf });
  return target;
}

function decoded(specifier: string): string {
  try {
    return decodeURIComponent(specifier);
  } catch {
    return specifier;
  }
}

function outsideModule(specifier: string): { readonly module: string } | { readonly refused: string } {
  if ((HOST_PACKAGES as readonly string[]).includes(specifier)) return { module: specifier };
  if (specifier === TYPES_PACKAGE) return { refused: 'it holds types alone; use import type' };
  const builtin = specifier.replace(/^node:/, '');
  if ((PLUGIN_BUILTINS as readonly string[]).includes(builtin)) return { module: `node:${builtin}` };
  if (specifier.startsWith('node:')) return { refused: `the code of a plugin may import ${PLUGIN_BUILTINS.join(', ')} of node` };
  if (/^[a-z][a-z0-9+.-]*:/i.test(specifier) || specifier.startsWith('/')) return { refused: 'only files of the bundle are loaded' };
  return { refused: 'no package is installed for a plugin; put its code into the bundle and import it by a relative path' };
}

/** Names that differ in the extension alone. */
function spellingHint(target: string, known: ReadonlySet<string>): string {
  const stem = target.replace(/\.[^./]+$/, '');
  const near = [...ENTRY_EXTENSIONS, ...ENTRY_EXTENSIONS.map((extension) => `/index${extension}`)]
    .flatMap((extension) => [`${stem}${extension}`, `${target}${extension}`])
    .find((path) => known.has(path));
  return near === undefined ? '' : `; write the whole name, ${shown(near)}`;
}

interface Taken {
  readonly where: string;
  readonly specifier: string;
  readonly names: readonly string[];
  readonly target: string;
}

/** A name that is taken and not given: most often a type, which is gone when the module runs. */
function missingNames(
  { where, specifier, names, target }: Taken,
  from: string,
  { report, factsOf }: Pick<Following, 'report' | 'factsOf'>,
): void {
  const given = exportsOf(target, factsOf, new Set());
  if (given === undefined) return;
  for (const name of names.filter((each) => !given.has(each))) {
    const hint = extensionOf(from) === '.mts' ? '; if it is a type, use import type' : '';
    report('refused', where, `imports ${shown(name)} from ${shown(specifier)}, which exports no such value${hint}`);
  }
}

/** Undefined where not everything can be told. */
function exportsOf(path: string, factsOf: ClosureInput['factsOf'], seen: Set<string>): ReadonlySet<string> | undefined {
  if (seen.has(path)) return new Set();
  seen.add(path);
  const facts = factsOf(path);
  if (facts === undefined || facts.broken !== undefined || facts.commonJs !== undefined) return undefined;
  const all = new Set(facts.exports);
  for (const specifier of facts.starExports) {
    const target = /^\.{1,2}\//.test(specifier) ? resolveInside(path, specifier) : undefined;
    const inner = target === undefined ? undefined : exportsOf(target, factsOf, seen);
    if (inner === undefined) return undefined;
    for (const name of inner) if (name !== 'default') all.add(name);
  }
  return all;
}

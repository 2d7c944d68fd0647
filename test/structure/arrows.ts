/**
 * The arrows of docs/architecture.md as a table, and the check that runs it. As a program
 * (`npm run check:arrows`) it prints each import that breaks a rule and exits with 1.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cruise, type IForbiddenRuleType } from 'dependency-cruiser';

const FOLDERS = ['core', 'ports', 'adapters', 'plugins', 'hosts', 'test'] as const;

type Folder = (typeof FOLDERS)[number];

/**
 * What each folder may import. `siblings: false`: a folder below it sees only itself of its own kind.
 * `packages` and `node` say whether npm packages and node's own modules may be imported.
 */
export const ARROWS: Readonly<
  Record<Folder, { readonly folders: readonly Folder[]; readonly siblings: boolean; readonly packages: boolean; readonly node: boolean }>
> = {
  ports: { folders: ['ports'], siblings: true, packages: false, node: false },
  core: { folders: ['core', 'ports'], siblings: true, packages: false, node: false },
  adapters: { folders: ['adapters', 'ports'], siblings: false, packages: true, node: true },
  plugins: { folders: ['plugins', 'ports'], siblings: false, packages: true, node: true },
  hosts: { folders: ['core', 'ports', 'adapters', 'plugins', 'hosts'], siblings: true, packages: true, node: true },
  test: { folders: ['core', 'ports', 'adapters', 'plugins', 'hosts', 'test'], siblings: true, packages: true, node: true },
};

/** Modules through which a plugin could reach files, processes or sockets behind core's back. */
const IO_MODULES =
  '^(?:node:)?(?:fs|child_process|net|tls|http|https|http2|dgram|dns|sqlite|worker_threads|cluster|inspector|repl|vm|process|wasi|module)(?:/|$)';

type To = Extract<IForbiddenRuleType, { readonly to: { readonly circular?: boolean } }>['to'];

const NPM = ['npm', 'npm-dev', 'npm-peer', 'npm-optional', 'npm-bundled', 'npm-no-pkg', 'npm-unknown'];

function rulesOf(folder: Folder): IForbiddenRuleType[] {
  const arrow = ARROWS[folder];
  const others = FOLDERS.filter((other) => !arrow.folders.includes(other));
  const rules: IForbiddenRuleType[] = [];
  const forbid = (name: string, to: To, from: { readonly path: string } = { path: `^${folder}/` }): void => {
    rules.push({ name: `${folder}: ${name}`, severity: 'error', from, to });
  };
  if (others.length > 0) forbid('reaches over its arrows', { path: `^(${others.join('|')})/` });
  if (!arrow.siblings) {
    forbid('imports a sibling', { path: `^${folder}/`, pathNot: `^${folder}/$1/` }, { path: `^${folder}/([^/]+)/` });
  }
  if (!arrow.packages) forbid('imports a package', { dependencyTypes: NPM as never });
  if (!arrow.node) forbid('imports a node module', { dependencyTypes: ['core'] });
  return rules;
}

const RULES: IForbiddenRuleType[] = [
  ...FOLDERS.flatMap(rulesOf),
  {
    name: 'inversify outside hosts',
    severity: 'error',
    from: { path: '^(core|ports|adapters|plugins)/' },
    to: { path: '(^|/)(inversify|@inversifyjs)(/|$)' },
  },
  { name: 'a plugin does its own I/O', severity: 'error', from: { path: '^plugins/' }, to: { path: IO_MODULES } },
  { name: 'a cycle', severity: 'error', from: {}, to: { circular: true } },
  { name: 'an import that leads nowhere', severity: 'error', from: {}, to: { couldNotResolve: true } },
];

export interface ArrowReport {
  /** Modules looked at; zero means that the check saw nothing. */
  readonly modules: number;
  /** `<rule>: <from> → <to>`, sorted. */
  readonly violations: readonly string[];
}

/** Checks the tree under `root`, an absolute path. Reads files only. */
export async function checkArrows(root: string): Promise<ArrowReport> {
  const folders = FOLDERS.filter((folder) => existsSync(`${root}/${folder}`));
  const result = await cruise([...folders], {
    baseDir: root,
    ruleSet: { forbidden: RULES },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|docs|coverage)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      conditionNames: ['import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  });
  if (typeof result.output === 'string') throw new Error(`dependency-cruiser answered with text: ${result.output.slice(0, 200)}`);
  const { summary, modules } = result.output;
  return {
    modules: modules.filter((module) => FOLDERS.some((folder) => module.source.startsWith(`${folder}/`))).length,
    violations: [...new Set(summary.violations.map((each) => `${each.rule.name}: ${each.from} → ${each.to}`))].sort(),
  };
}

if (import.meta.main) {
  const report = await checkArrows(fileURLToPath(new URL('../..', import.meta.url)));
  for (const line of report.violations) console.error(line);
  console.log(`${report.modules} modules, ${report.violations.length} broken arrows`);
  if (report.violations.length > 0 || report.modules === 0) process.exitCode = 1;
}

/**
 * Checks that what the documents name is there: links, headings, paths, npm scripts, commands,
 * flags, environment variables, symbols. As a program (`npm run check:docs`) it prints each name
 * that leads nowhere and exits with 1.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CodeSpan, headingSlugs, type MarkdownPage, readPage } from './markdown.ts';

/** What the documents may name beside files: taken from the program, never from a document. */
export interface KnownNames {
  /** Command → the flags it takes, long names without dashes. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly scripts: readonly string[];
  /** Every word that occurs in source. */
  readonly words: ReadonlySet<string>;
}

export interface NamesReport {
  /** Names that were looked up; zero means that the check saw nothing. */
  readonly checked: number;
  /** `<file>:<line> <what is wrong>`. */
  readonly problems: readonly string[];
}

const PATH =
  /^(?:\.\/)?(?:(?:core|ports|adapters|plugins|hosts|test|docs|dist|\.ci)\/[\w./*<>-]*|(?:README|CHANGELOG|LICENSE|package|package-lock|tsconfig)(?:\.\w+)?)$/;
const SYMBOL = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$<>][\w$<>]*)*(?:\(\))?$/;
/** npm's own commands. */
const NPM = new Set(['ci', 'install', 'pack', 'test', 'start', 'i']);
/** Words of other programs and of the platform, which no source of ours need contain. */
const FOREIGN = new Set([
  'node',
  'npm',
  'npx',
  'jq',
  'sqlite3',
  'bash',
  'fish',
  'zsh',
  'sh',
  'kill',
  'undici',
  'ajv',
  'inversify',
  'marked',
  'main',
]);

interface Finding {
  readonly checked: number;
  readonly problem?: string;
}

function checkPath(root: string, text: string): Finding {
  const path = text.replace(/^\.\//, '').replace(/\/$/, '');
  if (path === 'dist' || path.startsWith('dist/')) return checkOutput(root, path);
  const pattern = path.replace(/<[^>]*>/g, '*');
  return globSync(pattern, { cwd: root }).length > 0 ? { checked: 1 } : { checked: 1, problem: `no such path: ${text}` };
}

/** `dist/` need not be built: what it will hold is in the build script and the manifest. */
function checkOutput(root: string, path: string): Finding {
  const sources = ['hosts/build.ts', 'package.json'].map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const name = path.split('/').at(-1) ?? '';
  return sources.includes(name) ? { checked: 1 } : { checked: 1, problem: `the build makes no ${path}` };
}

function checkSymbol(text: string, known: KnownNames): Finding {
  const parts = text
    .replace(/\(\)$/, '')
    .split('.')
    .filter((part) => !part.startsWith('<'));
  const missing = parts.filter((part) => !known.words.has(part) && !FOREIGN.has(part) && !isDerivedVariable(part, known));
  return missing.length === 0 ? { checked: 1 } : { checked: 1, problem: `nothing in source is called ${missing.join(' or ')} (${text})` };
}

/** `ODEK_MAX_ITER` mirrors a configuration key, and its name is put together from that key. */
function isDerivedVariable(word: string, known: KnownNames): boolean {
  return word.startsWith('ODEK_') && known.words.has(word.slice('ODEK_'.length).toLowerCase());
}

function checkCommandLine(line: string, known: KnownNames): Finding[] {
  const words = line
    .trim()
    .replace(/^(?:\$ )?(?:[A-Z_]+=\S+ )*/, '')
    .split(/\s+/);
  const program = words[0] === 'npx' ? words[1] : words[0];
  const rest = words.slice(words[0] === 'npx' ? 2 : 1);
  if (program === 'npm') return [checkScript(rest, known)];
  if (program !== 'odek') return [];
  return checkOdek(rest, known);
}

function checkScript([verb = '', name = '']: readonly string[], known: KnownNames): Finding {
  const script = verb === 'run' ? name : verb;
  const there = known.scripts.includes(script) || (verb !== 'run' && NPM.has(verb));
  return there ? { checked: 1 } : { checked: 1, problem: `package.json has no script ${script}` };
}

function checkOdek(words: readonly string[], known: KnownNames): Finding[] {
  const [command = ''] = words;
  const end = words.findIndex((word) => ['|', '>', '2>', '&&', ';', '--', '#'].includes(word));
  const flags = words.slice(0, end < 0 ? undefined : end).flatMap((word) => /^\[?--([a-z][a-z-]*)/.exec(word)?.[1] ?? []);
  if (/^[a-z]+$/.test(command) && !Object.hasOwn(known.commands, command))
    return [{ checked: 1, problem: `odek has no command ${command}` }];
  const scope = Object.hasOwn(known.commands, command) ? { [command]: known.commands[command] ?? [] } : known.commands;
  return flags.map((flag) => checkFlag(flag, scope));
}

function checkFlag(flag: string, commands: KnownNames['commands']): Finding {
  const there = ['help', 'version'].includes(flag) || Object.values(commands).some((flags) => flags.includes(flag));
  return there
    ? { checked: 1 }
    : { checked: 1, problem: `${Object.keys(commands).length === 1 ? `odek ${Object.keys(commands)[0]}` : 'odek'} has no flag --${flag}` };
}

function checkSpan(root: string, span: CodeSpan, known: KnownNames): Finding[] {
  const text = span.text.trim();
  if (span.language === 'json') return checkJson(text);
  if (span.language === 'sh') return text.split('\n').flatMap((line) => line.split(/&&/).flatMap((part) => checkCommandLine(part, known)));
  if (span.language !== undefined) return [];
  if (PATH.test(text)) return [checkPath(root, text)];
  if (/^--[a-z]/.test(text))
    return text
      .split(/[\s,|/]+/)
      .flatMap((word) => (/^--([a-z][a-z-]*)/.exec(word)?.[1] ? [checkFlag(word.slice(2).replace(/[^a-z-].*$/, ''), known.commands)] : []));
  if (/^(?:npx )?odek\s|^npm /.test(text)) return text.split('&&').flatMap((part) => checkCommandLine(part, known));
  if (SYMBOL.test(text)) return [checkSymbol(text, known)];
  return [];
}

function checkJson(text: string): Finding[] {
  try {
    JSON.parse(text);
    return [{ checked: 1 }];
  } catch (error) {
    return [{ checked: 1, problem: `an example is not JSON: ${(error as Error).message}` }];
  }
}

function checkLink(root: string, page: MarkdownPage, target: string): Finding {
  if (/^[a-z]+:/.test(target)) return { checked: 0 };
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, page.file) : join(root, dirname(page.file), path);
  if (globSync(file).length === 0) return { checked: 1, problem: `a link leads nowhere: ${target}` };
  if (anchor === undefined || !file.endsWith('.md')) return { checked: 1 };
  return headingSlugs(readFileSync(file, 'utf8')).includes(anchor)
    ? { checked: 1 }
    : { checked: 1, problem: `no heading #${anchor} in ${relative(root, file)}` };
}

/** Checks `files`, Markdown pages relative to `root`. Reads files only. */
export function checkNames(root: string, files: readonly string[], known: KnownNames): NamesReport {
  let checked = 0;
  const problems: string[] = [];
  for (const file of files) {
    const page = readPage(file, readFileSync(join(root, file), 'utf8'));
    const take = (line: number, findings: readonly Finding[]): void => {
      for (const finding of findings) {
        checked += finding.checked;
        if (finding.problem !== undefined) problems.push(`${file}:${line} ${finding.problem}`);
      }
    };
    for (const link of page.links) take(link.line, [checkLink(root, page, link.target)]);
    for (const span of page.code) take(span.line, checkSpan(root, span, known));
  }
  return { checked, problems };
}

/** README, CHANGELOG and every page below `docs/`, relative to `root`. */
export function documentPages(root: string): string[] {
  const pages = globSync('docs/**/*.md', { cwd: root }).filter((file) => !file.startsWith('docs/examples/sample/'));
  return ['README.md', 'CHANGELOG.md', ...pages].sort();
}

/** Names as the program of this repository has them. */
export async function knownNames(root: string): Promise<KnownNames> {
  const { COMMANDS } = (await import('../../hosts/cli/commands.ts')) as {
    readonly COMMANDS: Readonly<Record<string, { readonly flags: readonly { readonly name: string; readonly negatable?: boolean }[] }>>;
  };
  const commands = Object.fromEntries(
    Object.entries(COMMANDS).map(([name, spec]) => [
      name,
      spec.flags.flatMap((flag) => (flag.negatable ? [flag.name, `no-${flag.name}`] : [flag.name])),
    ]),
  );
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: Record<string, string> };
  const words = new Set<string>();
  for (const folder of ['core', 'ports', 'adapters', 'plugins', 'hosts', 'test']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      // A test of the documents may hold any word as an example of a wrong one.
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.parentPath.endsWith('test/docs')) continue;
      for (const word of readFileSync(join(entry.parentPath, entry.name), 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? []) words.add(word);
    }
  }
  for (const word of readFileSync(join(root, 'package.json'), 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? []) words.add(word);
  return { commands, scripts: Object.keys(manifest.scripts), words };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const report = checkNames(root, documentPages(root), await knownNames(root));
  for (const problem of report.problems) console.error(problem);
  console.log(`${report.checked} names looked up, ${report.problems.length} lead nowhere`);
  if (report.problems.length > 0 || report.checked === 0) process.exitCode = 1;
}

/**
 * Builds what is published: `dist/` holds the program, the three public entries and their types.
 * Every package is bundled, so that an installed odek needs no other package and starts quickly.
 *
 *   node hosts/build.ts [--out <folder>] [--no-types]
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { build, type Metafile, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Output name → source. `odek` is the command, the others are the package's exports. */
const ENTRIES = {
  odek: 'hosts/entry.ts',
  api: 'hosts/api.ts',
  plugin: 'ports/plugin.ts',
  testing: 'test/contracts/index.ts',
} as const;

/** CommonJS packages ask for node's modules by `require`, which an ES module does not have. */
const REQUIRE = `import{createRequire as __odekRequire}from"node:module";const require=__odekRequire(import.meta.url);\n`;

/**
 * `import('package')` of a CommonJS package: node finds its named exports, the bundler with splitting
 * gives only a default. Asking node for the names, here, makes the bundle behave like the source.
 */
const NAMED_EXPORTS: Plugin = {
  name: 'named exports of lazily imported packages',
  setup(it) {
    it.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import' || isBuiltin(path)) return undefined;
      return { path: import.meta.resolve(path), namespace: 'lazy' };
    });
    it.onLoad({ filter: /.*/, namespace: 'lazy' }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object).filter((name) => /^[\w$]+$/.test(name) && name !== 'module.exports');
      const file = fileURLToPath(path);
      return { contents: `export { ${names.join(', ')} } from ${JSON.stringify(file)};`, resolveDir: dirname(file) };
    });
  },
};

/**
 * An ES import of a node module reads each of its exports, also those that load something at first
 * sight: `import 'node:http'` brings in node's fetch, 20 ms that nobody asked for. Taking the module
 * as an object reads what is used.
 */
const BUILT_INS: Plugin = {
  name: 'node modules as objects',
  setup(it) {
    it.onResolve({ filter: /^(node:)?[a-z]/ }, ({ path, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(path)) return undefined;
      return { path: path.replace(/^(node:)?/, 'node:'), namespace: 'built-in' };
    });
    it.onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

async function bundle(out: string): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...ENTRIES },
    outdir: out,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minify: true,
    keepNames: true,
    plugins: [BUILT_INS, NAMED_EXPORTS],
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const file of outputFiles) {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, withRequire(file.text));
  }
  const program = join(out, 'odek.js');
  await writeFile(program, `#!/usr/bin/env node\n${await readFile(program, 'utf8')}`);
  await chmod(program, 0o755);
  return metafile;
}

/** Only the chunk that holds the bundler's `require` gets one: the others start faster without. */
function withRequire(text: string): string {
  return /typeof require\b/.test(text) ? REQUIRE + text : text;
}

/** The licences of what was bundled travel with it. */
async function writeLicences(out: string, metafile: Metafile): Promise<void> {
  const packages = new Set<string>();
  for (const input of Object.keys(metafile.inputs)) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(input)?.[1];
    if (name !== undefined) packages.add(name);
  }
  const texts = await Promise.all([...packages].sort().map(licenceOf));
  await writeFile(join(out, 'LICENCES.txt'), `odek contains the following packages.\n\n${texts.join('\n')}`);
}

async function licenceOf(name: string): Promise<string> {
  const folder = join(ROOT, 'node_modules', name);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly license?: string;
  };
  const files = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'];
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8').catch(() => undefined)));
  const text = texts.find((each) => each !== undefined) ?? '';
  return `== ${name} ${manifest.version} (${manifest.license ?? 'see text'})\n\n${text.trim()}\n`;
}

async function declareTypes(out: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const run = promisify(execFile);
  try {
    await run(process.execPath, [compiler, '-p', join(ROOT, 'test/config/tsconfig.types.json'), '--outDir', join(out, 'types')], {
      cwd: ROOT,
    });
  } catch (error) {
    throw new Error(`the types were not written:\n${(error as { stdout?: string }).stdout ?? ''}`, { cause: error });
  }
  for (const entry of await readdir(join(out, 'types'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/((?:from|import\() *['"]\.[^'"\n]+)\.ts(['"])/g, '$1.js$2'));
  }
}

const { values } = parseArgs({
  options: { out: { type: 'string', default: join(ROOT, 'dist') }, types: { type: 'boolean', default: true } },
  allowNegative: true,
});
const out = resolve(values.out);
const present: readonly string[] = await readdir(out).catch(() => []);
if (present.length > 0 && !present.includes('odek.js')) throw new Error(`--out ${out} holds something that is not a build of odek`);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const [metafile] = await Promise.all([bundle(out), values.types ? declareTypes(out) : undefined]);
await writeLicences(out, metafile);

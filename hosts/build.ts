/**
 * Builds what is published: `dist/` holds the program, the three public entries and their types.
 * Every package is bundled, so that an installed odek needs no other package and starts quickly.
 *
 *   node hosts/build.ts [--out <folder>] [--no-types]
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { build, type Metafile, type Plugin } from 'esbuild';
import { BUILT_INS, GROUP, NAMED_EXPORTS } from './bundle-plugins.ts';
import { EXTENSION_PROGRAM } from './extension-child/program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const PROGRAM = { odek: 'hosts/entry.ts' };

/** The package's exports. Bundled apart from the program: what the two share would be cut into many small files. */
const LIBRARY = {
  api: 'hosts/api.ts',
  plugin: 'ports/plugin.ts',
  testing: 'test/contracts/index.ts',
};

/** CommonJS packages ask for node's modules by `require`, which an ES module does not have. */
const REQUIRE = `import{createRequire as __odekRequire}from"node:module";const require=__odekRequire(import.meta.url);\n`;

async function bundle(out: string, entryPoints: Record<string, string>, plugins: Plugin[] = []): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: out,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minify: true,
    keepNames: true,
    plugins: [...plugins, BUILT_INS, NAMED_EXPORTS],
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const file of outputFiles) {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, withRequire(file.text));
  }
  return metafile;
}

/** The program of plugin hosts: one file with nothing beside it, since nothing else can be read where it runs. */
async function bundleExtensionHost(out: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['hosts/extension-child/main.ts'],
    outfile: join(out, EXTENSION_PROGRAM),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

/** Makes the program's file a command. */
async function makeCommand(out: string): Promise<void> {
  const program = join(out, 'odek.js');
  await writeFile(program, `#!/usr/bin/env node\n${await readFile(program, 'utf8')}`);
  await chmod(program, 0o755);
}

/** Only the chunk that holds the bundler's `require` gets one: the others start faster without. */
function withRequire(text: string): string {
  return /typeof require\b/.test(text) ? REQUIRE + text : text;
}

/** The licences of what was bundled travel with it. */
async function writeLicences(out: string, inputs: readonly string[]): Promise<void> {
  const packages = new Set<string>();
  for (const input of inputs) {
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
const [program, library, extensionHost] = await Promise.all([
  bundle(out, PROGRAM, [GROUP]),
  bundle(out, LIBRARY),
  bundleExtensionHost(out),
  values.types ? declareTypes(out) : undefined,
]);
await makeCommand(out);
await writeLicences(
  out,
  [program, library, extensionHost].flatMap(({ inputs }) => Object.keys(inputs)),
);

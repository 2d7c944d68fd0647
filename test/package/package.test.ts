import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installed, installPackage, ROOT, run, succeed } from './packed.ts';

describe('the package, installed elsewhere', () => {
  let odek: Installed;

  beforeAll(async () => {
    odek = await installPackage();
  }, 180_000);

  afterAll(() => odek?.remove());

  test('holds the program, its three entries with types, documents and licences, and no source or test', () => {
    expect(odek.files).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'dist/LICENCES.txt',
        'dist/api.js',
        'dist/odek.js',
        'dist/plugin.js',
        'dist/testing.js',
        'dist/types/hosts/api.d.ts',
        'dist/types/ports/plugin.d.ts',
        'dist/types/test/contracts/index.d.ts',
        'package.json',
      ]),
    );
    expect(odek.files.filter((file) => !/^(dist|docs)\/|^(README|CHANGELOG)\.md$|^LICENSE$|^package\.json$/.test(file))).toEqual([]);
    expect(odek.files.filter((file) => file.startsWith('dist/') && /(?<!\.d)\.ts$|\.map$/.test(file))).toEqual([]);
    expect(odek.size).toBeLessThan(3_000_000);
  });

  test('needs no other package, and carries the licence of each that it contains', async () => {
    expect((await readdir(join(odek.folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['odek']);
    const licences = readFileSync(join(odek.folder, 'node_modules/odek/dist/LICENCES.txt'), 'utf8');
    for (const name of ['inversify', 'ajv', 'marked'])
      expect(licences).toMatch(new RegExp(`== ${name} [^]*?(Permission is hereby granted|MIT)`));
  });

  test('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    const ended = await succeed(odek.command, ['version'], { cwd: odek.folder });
    expect(ended.stdout).toContain(version);
    expect(ended.stderr).toBe('');
  });

  test('loads little more than the entry for its version: no container, no validator, no database', async () => {
    const dist = join(odek.folder, 'node_modules/odek/dist');
    const hook = join(odek.folder, 'loads.mjs');
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module'; import { statSync } from 'node:fs'; import { fileURLToPath } from 'node:url';
       let bytes = 0;
       registerHooks({ load(url, context, next) { if (url.startsWith('file:')) bytes += statSync(fileURLToPath(url)).size; return next(url, context); } });
       process.on('exit', () => console.error('loaded ' + bytes));`,
    );
    const ended = await succeed(process.execPath, ['--import', hook, join(dist, 'odek.js'), 'version'], { cwd: odek.folder });
    const bytes = Number(/loaded (\d+)/.exec(ended.stderr)?.[1]);
    expect(bytes).toBeGreaterThan(100);
    expect(bytes).toBeLessThan(20_000);
  });

  test('does a whole run from a recording', async () => {
    const project = join(odek.folder, 'project');
    const home = join(odek.folder, 'home');
    await cp(join(ROOT, 'docs/examples/sample'), project, { recursive: true });
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, 'config.json'), '{"dangerous":{"classes":{"local_write":"allow"}}}', { mode: 0o600 });
    const recording = join(odek.folder, 'node_modules/odek/docs/examples/first-run.json');
    const ended = await succeed(odek.command, ['run', '--replay', recording, '--json', 'Report on this project.'], {
      cwd: project,
      env: { ODEK_HOME: home },
    });
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: 'answer', iterations: 4 });
    expect(await readFile(join(project, 'report.md'), 'utf8')).toContain('# Report on Tally');
  });

  test('explains itself and refuses what it does not know', async () => {
    expect((await succeed(odek.command, ['--help'], { cwd: odek.folder })).stdout).toContain('run');
    expect((await run(odek.command, ['run', '--modell', 'x', 'task'], { cwd: odek.folder })).code).toBe(3);
  });

  test('is a library with three entries', async () => {
    await writeFile(
      join(odek.folder, 'use.mjs'),
      `import { createAgent, defineAdapter } from 'odek';
       import { definePlugin, defineTool } from 'odek/plugin';
       import * as testing from 'odek/testing';
       const suites = Object.values(testing).filter((each) => Array.isArray(each?.cases));
       console.log(JSON.stringify({ functions: [createAgent, defineAdapter, definePlugin, defineTool].map((each) => typeof each), suites: suites.map((each) => each.port).sort(), cases: suites.every((suite) => suite.cases.every((each) => typeof each.id === 'string' && typeof each.run === 'function')) }));`,
    );
    const { stdout } = await succeed(process.execPath, ['use.mjs'], { cwd: odek.folder });
    const seen = JSON.parse(stdout) as { readonly functions: string[]; readonly suites: string[]; readonly cases: boolean };
    expect(seen.functions).toEqual(['function', 'function', 'function', 'function']);
    expect(seen.suites).toHaveLength(readdirSync(join(ROOT, 'test/contracts')).filter((file) => file.endsWith('.suite.ts')).length);
    expect(seen.cases).toBe(true);
  });

  test('gives its types to a strict TypeScript program', { timeout: 60_000 }, async () => {
    await mkdir(join(odek.folder, 'node_modules/@types'), { recursive: true });
    await symlink(join(ROOT, 'node_modules/@types/node'), join(odek.folder, 'node_modules/@types/node')).catch(() => undefined);
    await writeFile(
      join(odek.folder, 'use.ts'),
      `import { createAgent, defineAdapter, type WireEvent } from 'odek';
       import { definePlugin, defineTool } from 'odek/plugin';
       import { eventSinkSuite } from 'odek/testing';
       const seen: WireEvent[] = [];
       export const sink = defineAdapter({ port: 'event-sink', name: 'mine', create: () => ({ accept: async (event) => { seen.push(event); }, close: async () => {} }) });
       export const plugin = definePlugin({ name: 'p', inject: ['tools'], apply(ctx) {
         ctx.tools.register(defineTool<{ readonly a: number }>({ name: 'add', description: 'Adds one.', parameters: { type: 'object' }, execute: async ({ a }) => String(a + 1) }));
         // @ts-expect-error a service that is not injected is not there
         ctx.fs;
       } });
       export const ids: readonly string[] = eventSinkSuite.cases.map((each) => each.id);
       export const make: typeof createAgent = createAgent;
       // @ts-expect-error there is no such port
       export const wrong = defineAdapter({ port: 'clock', name: 'x', create: () => ({}) });`,
    );
    await writeFile(
      join(odek.folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          module: 'NodeNext',
          target: 'ES2024',
          lib: ['ES2024', 'ESNext.Disposable', 'DOM'],
          noEmit: true,
          types: ['node'],
        },
        files: ['use.ts'],
      }),
    );
    const ended = await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: odek.folder });
    expect(ended.stdout).toBe('');
    expect(ended.code).toBe(0);
  });
});

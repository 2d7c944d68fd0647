import { describe, expect, it } from 'vitest';
import { readModule } from '../../../adapters/bundles/read-module.ts';
import { moduleClosure } from '../../../core/bundles/modules.ts';
import { allowedBuiltins } from '../../../hosts/extension-child/builtins.ts';
import { sharedPackages } from '../../../hosts/extension-child/packages.ts';
import { HOST_PACKAGES, PLUGIN_BUILTINS } from '../../../ports/bundle.ts';

const closure = (files: Readonly<Record<string, string>>, entries: readonly string[] = ['a.mts']) =>
  moduleClosure({
    entries,
    files: Object.keys(files),
    factsOf: (path) => {
      const text = files[path];
      return text === undefined || !/\.(?:mjs|js|mts)$/.test(path) ? undefined : readModule(path, text);
    },
  });
const told = (files: Readonly<Record<string, string>>): string =>
  closure(files)
    .problems.map(({ where, text }) => `${where} ${text}`)
    .join('\n');

describe('the modules of a bundle', () => {
  it('are those that the entries reach', () => {
    const { reached, imports, computed, problems } = closure({
      'a.mts':
        "import { b } from './lib/b.mjs';\nimport data from './data.json' with { type: 'json' };\nimport { readFile } from 'fs/promises';\nexport { b, data, readFile };",
      'lib/b.mjs':
        "import { Context } from '@deepseek-ai/cordis';\nimport * as a from '../a.mts';\nexport const b = [Context, a];\nexport const later = (name) => import(name);",
      'data.json': '{}',
      'unused.mjs': "import 'express';",
    });
    expect(problems).toEqual([]);
    expect({ reached, imports, computed }).toEqual({
      reached: ['a.mts', 'data.json', 'lib/b.mjs'],
      imports: ['@deepseek-ai/cordis', 'node:fs/promises'],
      computed: ['lib/b.mjs:4'],
    });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['an entry that is not there', {}, 'a.mts is named as an entry'],
    ['a package', { 'a.mts': "\nimport 'express';" }, 'a.mts:2 imports "express": no package is installed'],
    ['node:child_process', { 'a.mts': "import 'node:child_process';" }, 'may import'],
    ['child_process without its prefix', { 'a.mts': "import 'child_process';" }, 'no package is installed'],
    ['node:module', { 'a.mts': "import { createRequire } from 'node:module';" }, 'may import'],
    ['a late import of node:vm', { 'a.mts': "export const a = () => import('node:vm');" }, 'may import'],
    ['an address', { 'a.mts': "import 'https://example.com/a.mjs';" }, 'only files of the bundle'],
    ['data:', { 'a.mts': "import 'data:text/javascript,1';" }, 'only files of the bundle'],
    ['an absolute path', { 'a.mts': "import '/etc/a.mjs';" }, 'only files of the bundle'],
    ['a path that leads out', { 'a.mts': "import '../a.mjs';" }, 'it leads out'],
    ['a path that leads out in disguise', { 'a.mts': "import './%2e%2e/a.mjs';" }, 'it leads out'],
    ['a query', { 'a.mts': "import './b.mjs?x';", 'b.mjs': '' }, 'a query'],
    ['a file that is not there', { 'a.mts': "import './b.mjs';" }, 'has no file "b.mjs"'],
    ['a file without its extension', { 'a.mts': "import './b';", 'b.mts': '' }, 'write the whole name, "b.mts"'],
    ['the extension of the compiled file', { 'a.mts': "import './b.mjs';", 'b.mts': '' }, 'write the whole name, "b.mts"'],
    ['CommonJS by name', { 'a.mts': "import './b.cjs';", 'b.cjs': '' }, 'it is CommonJS'],
    ['CommonJS by its text', { 'a.mts': "import './b.js';", 'b.js': 'module.exports = 1' }, 'b.js:1 uses module.exports'],
    ['a .ts file', { 'a.mts': "import './b.ts';", 'b.ts': '' }, 'call the file .mts'],
    ['a file that is no module', { 'a.mts': "import './b.txt';", 'b.txt': '' }, 'a module ends with'],
    ['JSON without its type', { 'a.mts': "import b from './b.json';", 'b.json': '{}' }, "with { type: 'json' }"],
    ['a module as JSON', { 'a.mts': "import b from './b.mjs' with { type: 'json' };", 'b.mjs': '' }, 'cannot be imported with the type'],
    ['types as values', { 'a.mts': "import { PluginContext } from 'odek/plugin';" }, 'use import type'],
    [
      'a type of a file as a value',
      { 'a.mts': "import { B } from './b.mts';\nexport const a = (b: B) => b;", 'b.mts': 'export interface B {}' },
      'if it is a type, use import type',
    ],
    ['a name that is not there', { 'a.mts': "import c from './b.mjs';", 'b.mjs': 'export const d = 1' }, 'exports no such value'],
    ['an enum', { 'a.mts': '\nenum B { C }' }, 'a.mts:2 uses a TypeScript enum'],
    ['an enum one file further', { 'a.mts': "import './b.mts';", 'b.mts': '\n\nenum B { C }' }, 'b.mts:3 uses a TypeScript enum'],
    ['native code', { 'a.mts': '', 'b.node': '' }, 'b.node is native code'],
    [
      'a copy of a package of the host',
      { 'a.mts': '', 'node_modules/@deepseek-ai/cordis/package.json': '{}' },
      'is a copy of a package that the host brings',
    ],
  ])('are refused for %s', (_, files, why) => {
    expect(told(files)).toContain(why);
    expect(closure(files).problems.every(({ severity }) => severity === 'refused')).toBe(true);
  });

  it('may pass on names through other modules', () => {
    const files = {
      'a.mts': "import { deep } from './b.mjs';\nexport { deep };",
      'b.mjs': "export * from './c.mjs';",
      'c.mjs': "export * from './b.mjs';\nexport const deep = 1;",
    };
    expect(closure(files).problems).toEqual([]);
  });

  it('are of no concern where nothing is run', () => {
    expect(closure({ 'server.node': '', 'a.mjs': 'enum' }, [])).toMatchObject({ reached: [], problems: [] });
  });

  it('may import exactly what the process of plugins has', () => {
    expect([...allowedBuiltins({}).keys()].sort()).toEqual([...PLUGIN_BUILTINS].sort());
    expect([...sharedPackages().keys()].sort()).toEqual([...HOST_PACKAGES].sort());
  });
});

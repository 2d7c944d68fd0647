import { describe, expect, it } from 'vitest';
import { readModule } from '../../../adapters/bundles/read-module.ts';
import { stripTypes } from '../../../adapters/bundles/strip.ts';

describe('a module that is read', () => {
  it('tells what it imports and exports', () => {
    const text = `#!/usr/bin/env node
import a, { b as c, 'odd name' as d } from './a.mjs';
import * as path from 'node:path';
import data from './data.json' with { type: 'json' };
export { x, y as default } from './b.mjs';
export * from './c.mjs';
export * as all from './d.mjs';
export const { e, f: [g, ...h] } = path, i = 1;
export function j() {}
export class K {}
const later = () => import('./e.mjs');
const json = () => import('./f.json', { with: { type: 'json' } });
const template = () => import(\`./g.mjs\`);
const computed = (name) => import('./' + name);
`;
    const { imports, exports, starExports, broken, commonJs } = readModule('m.mjs', text);
    expect(imports.map(({ specifier, line, dynamic, type, names }) => [specifier, line, dynamic, type, names])).toEqual([
      ['./a.mjs', 2, false, undefined, ['default', 'b', 'odd name']],
      ['node:path', 3, false, undefined, []],
      ['./data.json', 4, false, 'json', ['default']],
      ['./b.mjs', 5, false, undefined, ['x', 'y']],
      ['./c.mjs', 6, false, undefined, []],
      ['./d.mjs', 7, false, undefined, []],
      ['./e.mjs', 11, true, undefined, []],
      ['./f.json', 12, true, 'json', []],
      ['./g.mjs', 13, true, undefined, []],
      [undefined, 14, true, undefined, []],
    ]);
    expect(exports).toEqual(['x', 'default', 'all', 'e', 'g', 'h', 'i', 'j', 'K']);
    expect(starExports).toEqual(['./c.mjs']);
    expect([broken, commonJs]).toEqual([undefined, undefined]);
  });

  it('may use every type that can be erased', () => {
    const text = `import type { A } from 'odek/plugin';
import { type B, c } from './b.mts';
interface D<T extends object = {}> { readonly a?: T }
export type { D };
declare const e: string;
const f = { a: 1 } satisfies D<{}> as unknown as D;
export function g<T>(this: void, x: T, y?: number): asserts x is T {}
abstract class H implements D { private readonly a?: {}; declare b: string; abstract i(): void; constructor(x: A) { x! } }
export default (async <T,>(x: T) => x)<string>;
`;
    const { imports, exports, broken } = readModule('m.mts', text);
    expect(broken).toBeUndefined();
    expect(imports.map(({ specifier, names }) => [specifier, names])).toEqual([['./b.mts', ['c']]]);
    expect(exports).toEqual(['g', 'default']);
  });

  it.each([
    ['an enum', 'const a = 1;\nenum B { C }', 2, 'TypeScript enum'],
    ['a parameter property', '\n\nclass A { constructor(private b: string) {} }', 3, 'TypeScript parameter property'],
    ['a namespace with code', 'namespace A { export const b = 1 }', 1, 'TypeScript namespace'],
    ['import = require', 'import a = require("a")', 1, 'TypeScript'],
    ['a decorator', 'const d = () => {};\n@d\nclass A {}', 2, 'decorator'],
    ['a decorator of a member', 'const d = () => {};\nclass A {\n  @d b() {}\n}', 3, 'decorator'],
    ['text that is no TypeScript', 'const a: = 1', 1, 'cannot be read'],
  ])('is broken, with its line, for %s', (_, text, line, told) => {
    const { broken } = readModule('m.mts', text);
    expect(broken).toEqual({ line, text: expect.stringContaining(told) });
  });

  it('has types in .mts alone', () => {
    expect(readModule('m.mjs', 'const a: string = ""').broken).toEqual({ line: 1, text: expect.stringContaining('cannot be read') });
  });

  it.each([
    ['module.exports = {}', 1, 'module.exports'],
    ['\nexports.a = 1', 2, 'exports'],
    ["\n\nconst a = require('fs')", 3, 'require()'],
  ])('is CommonJS where it says %j', (text, line, sign) => {
    expect(readModule('m.js', text).commonJs).toEqual({ line, sign });
  });

  it.each([
    'const require = () => {}; require("x")',
    'function a(module) { module.exports = 1 }',
    'import { exports } from "./a.mjs"; exports.b = 1',
    'const text = "module.exports = 1" // require("x")',
  ])('is no CommonJS where it says %j', (text) => expect(readModule('m.js', text).commonJs).toBeUndefined());

  it('is broken, and no more, for text of a depth that nobody can read', () => {
    expect(readModule('m.mjs', `${'('.repeat(200_000)}`).broken?.text).toContain('cannot be read');
  });
});

describe('taking types away', () => {
  it('keeps lines and columns, and says nothing of an experiment', () => {
    const warned: unknown[] = [];
    const listen = (warning: unknown): void => void warned.push(warning);
    process.on('warning', listen);
    const stripped = stripTypes('const a: string = "x";\ninterface B {}\nlet c = <T,>(d: T) => d;\n');
    process.off('warning', listen);
    expect('text' in stripped && stripped.text.split('\n').map((line) => line.length)).toEqual([22, 14, 24, 0]);
    expect(warned).toEqual([]);
  });
});

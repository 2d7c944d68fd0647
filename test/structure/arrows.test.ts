import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ARROWS, checkArrows } from './arrows.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What is planted in a copy of the tree, and the rule that must find it. */
const PLANTED: readonly (readonly [rule: string, file: string, source: string])[] = [
  ['ports: reaches over its arrows', 'ports/planted-a.ts', `import '../core/planted.ts';`],
  ['ports: imports a package', 'ports/planted-b.ts', `import 'ajv';`],
  ['ports: imports a node module', 'ports/planted-c.ts', `import 'node:path';`],
  ['core: reaches over its arrows', 'core/planted-a.ts', `import '../adapters/planted/planted.ts';`],
  ['core: reaches over its arrows', 'core/planted-b.ts', `import type { Planted } from '../hosts/planted.ts'; export type P = Planted;`],
  ['core: imports a package', 'core/planted-c.ts', `import { Ajv } from 'ajv'; export const a = Ajv;`],
  ['core: imports a node module', 'core/planted-d.ts', `export const load = () => import('node:fs');`],
  ['adapters: reaches over its arrows', 'adapters/planted/planted-a.ts', `import '../../core/planted.ts';`],
  ['adapters: imports a sibling', 'adapters/planted/planted-b.ts', `import '../other-planted/planted.ts';`],
  ['plugins: reaches over its arrows', 'plugins/planted/planted-a.ts', `import '../../adapters/planted/planted.ts';`],
  ['plugins: imports a sibling', 'plugins/planted/planted-b.ts', `import '../other-planted/planted.ts';`],
  ['a plugin does its own I/O', 'plugins/planted/planted-c.ts', `import { readFile } from 'node:fs/promises'; export const r = readFile;`],
  ['a plugin does its own I/O', 'plugins/planted/planted-d.ts', `import { spawn } from 'child_process'; export const s = spawn;`],
  ['hosts: reaches over its arrows', 'hosts/planted-a.ts', `import '../test/planted.ts';`],
  ['inversify outside hosts', 'adapters/planted/planted-c.ts', `import { Container } from 'inversify'; export const c = Container;`],
  ['a cycle', 'core/planted-e.ts', `import type { F } from './planted-f.ts'; export type E = F | 1;`],
  ['an import that leads nowhere', 'core/planted-g.ts', `import './nothing-is-here.ts';`],
];

const TARGETS: readonly (readonly [file: string, source: string])[] = [
  ['core/planted.ts', 'export {};'],
  ['core/planted-f.ts', `import type { E } from './planted-e.ts'; export type F = E | 2;`],
  ['hosts/planted.ts', 'export type Planted = 1;'],
  ['test/planted.ts', 'export {};'],
  ['adapters/planted/planted.ts', 'export {};'],
  ['adapters/other-planted/planted.ts', 'export {};'],
  ['plugins/other-planted/planted.ts', 'export {};'],
];

describe('the arrows', () => {
  test('hold in this repository, and the check has seen every folder', async () => {
    const report = await checkArrows(ROOT);
    expect(report.violations).toEqual([]);
    expect(report.modules).toBeGreaterThan(100);
  });

  test('say what docs/architecture.md says about each folder', () => {
    expect(ARROWS.ports.folders).toEqual(['ports']);
    expect(ARROWS.core.folders).toEqual(['core', 'ports']);
    expect(ARROWS.adapters.folders).toEqual(['adapters', 'ports']);
    expect(ARROWS.plugins.folders).toEqual(['plugins', 'ports']);
    expect(ARROWS.hosts.folders).not.toContain('test');
  });
});

describe('a violation planted in a copy of the tree', () => {
  let copy = '';
  let violations: readonly string[] = [];

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'odek-arrows-'));
    for (const folder of ['core', 'ports', 'adapters', 'plugins', 'hosts', 'test']) {
      await cp(join(ROOT, folder), join(copy, folder), { recursive: true });
    }
    await cp(join(ROOT, 'package.json'), join(copy, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const [file, source] of [...TARGETS, ...PLANTED.map(([, path, text]) => [path, text] as const)]) {
      await mkdir(dirname(join(copy, file)), { recursive: true });
      await writeFile(join(copy, file), source);
    }
    violations = (await checkArrows(copy)).violations;
  });

  afterAll(() => rm(copy, { recursive: true, force: true }));

  test.each(PLANTED)('breaks the rule "%s" in %s and is found', (rule, file) => {
    expect(violations.filter((line) => line.startsWith(`${rule}: ${file} → `))).not.toEqual([]);
  });
});

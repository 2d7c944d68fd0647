import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Files that belong to the repository: tracked ones and new ones that are not ignored. */
function repositoryFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

const files = repositoryFiles();
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly engines: { readonly node: string };
  readonly bin: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly allowScripts: Record<string, boolean>;
  readonly scripts: Record<string, string>;
};

describe('the top of the repository', () => {
  test('holds exactly the named folders and files, beside dot-files', () => {
    const top = [...new Set(files.map((file) => file.split('/')[0] ?? ''))].filter((name) => !name.startsWith('.')).sort();
    expect(top).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'adapters',
        'core',
        'docs',
        'hosts',
        'package-lock.json',
        'package.json',
        'plugins',
        'ports',
        'test',
        'tsconfig.json',
      ].sort(),
    );
  });

  test('keeps the settings of tools in package.json, dot-files and test/config', () => {
    const settings = files.filter((file) => /(^|\/)[^/]*(\.config\.[cm]?[jt]s|tsconfig[^/]*\.json|knip\.jsonc?)$/.test(file));
    expect(settings.filter((file) => file !== 'tsconfig.json' && !file.startsWith('test/config/') && !file.startsWith('.'))).toEqual([]);
  });
});

describe('package.json', () => {
  test('names package and command odek and the Node floor', () => {
    expect(manifest.name).toBe('odek');
    expect(Object.keys(manifest.bin)).toEqual(['odek']);
    expect(manifest.engines.node).toBe('>=22.19');
  });

  test('pins every package to one version, and Node itself to a 24', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^(npm:[@\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    expect(manifest.devDependencies.node).toMatch(/^24\./);
  });

  test('has no runtime dependency, since the bundle carries them', () => {
    expect(Object.keys(manifest.dependencies ?? {})).toEqual([]);
  });

  test('allows the install scripts of its packages by name alone', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      readonly packages: Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }>;
    };
    const scripted = Object.entries(lock.packages)
      .filter(([path, entry]) => path !== '' && entry.hasInstallScript === true && entry.optional !== true)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(scripted)].sort());
  });

  test('has every script that the documents promise', () => {
    expect(Object.keys(manifest.scripts)).toEqual(
      expect.arrayContaining(['start', 'test', 'check', 'bench', 'build', 'prepare', 'format']),
    );
  });
});

describe('every file of the repository', () => {
  test('is free of paths and addresses of a machine it was made on', () => {
    // Put together here, so that this file does not hold what it looks for.
    const words = [
      ['/work', '/main'],
      ['/work', '/shared'],
      ['registry.', 'npmjs'],
      ['/home', '/runner'],
      ['"reso', 'lved": "http'],
    ].map((parts) => parts.join(''));
    const found: string[] = [];
    for (const file of files) {
      if (statSync(join(ROOT, file)).size > 4 * 1024 * 1024) continue;
      const text = readFileSync(join(ROOT, file), 'latin1');
      for (const word of words) if (text.includes(word)) found.push(`${file}: ${word}`);
    }
    expect(found).toEqual([]);
  });

  test('has a kebab-case name where it is source', () => {
    const odd = files.filter((file) => file.endsWith('.ts') && !/^[a-z0-9./-]+$/.test(file));
    expect(odd).toEqual([]);
  });

  test('has no empty promise in it: no marker of unfinished work, no skipped test', () => {
    const marks = new RegExp(
      ['(?:\\/\\/|^\\s*\\*).*\\b(?:TO', 'DO|FIX', 'ME|XX', 'X)\\b|\\b(?:it|test|describe)\\.(?:skip|only|to', 'do)\\b'].join(''),
      'm',
    );
    const found = files.filter((file) => file.endsWith('.ts')).filter((file) => marks.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found).toEqual([]);
  });

  test('is source of a size that a person reads in one sitting', () => {
    const long = files
      // The key table is data: one entry after another, looked up and never read through.
      .filter((file) => /^(core|ports|adapters|plugins|hosts)\/.*\.ts$/.test(file))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8').split('\n').length] as const)
      .filter(([, lines]) => lines > 450);
    expect(long).toEqual([]);
  });
});

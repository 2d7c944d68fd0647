import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../hosts/entry.ts', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(node: string, args: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(node, args, { timeout: 15_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      done({ code, stdout, stderr });
    });
  });
}

/** Nodes of the machine itself, not the pinned one. */
const machineNodes = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules') && folder !== '')
  .map((folder) => join(folder, 'node'))
  .filter((file) => existsSync(file));

describe('the entry', () => {
  let folder = '';
  let entry = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'odek-entry-'));
    entry = join(folder, 'entry.mjs');
    await build({
      entryPoints: [ENTRY],
      outfile: entry,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      bundle: true,
      plugins: [{ name: 'own-main', setup: (it) => it.onResolve({ filter: /cli\/main/ }, () => ({ path: './main.mjs', external: true })) }],
    });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const withMain = (text: string): Promise<void> => writeFile(join(folder, 'main.mjs'), text);

  test('imports nothing before it has looked at the version', () => {
    expect(readFileSync(ENTRY, 'utf8')).not.toMatch(/^import /m);
    expect(readFileSync(entry, 'utf8')).not.toMatch(/^import /m);
  });

  test.each(['22.18.9', '20.20.2', '18.0.0', '9.1.0'])('says in one line that Node %s is too old and exits with 3', async (version) => {
    await withMain('throw new Error("loaded");');
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
    const ended = await run(process.execPath, ['--import', pretend, entry, 'version']);
    expect(ended).toEqual({ code: 3, stdout: '', stderr: `odek: this is Node ${version}; odek needs Node 22.19 or newer\n` });
  });

  test.each(machineNodes.length > 0 ? machineNodes : [process.execPath])(
    'parses on the machine`s own %s and there starts or refuses',
    async (node) => {
      await withMain('export const main = async () => 7;');
      const [major = 0, minor = 0] = (await run(node, ['-p', 'process.versions.node'])).stdout.split('.').map(Number);
      const ended = await run(node, [entry]);
      const old = major < 22 || (major === 22 && minor < 19);
      expect(ended.code).toBe(old ? 3 : 7);
      expect(ended.stderr.split('\n').length).toBe(old ? 2 : 1);
    },
  );

  test('hands over the arguments and ends with the code that main gave', async () => {
    await withMain('export const main = async (argv) => { console.log(JSON.stringify(argv)); return 4; };');
    expect(await run(process.execPath, [entry, 'run', '--', '-x'])).toEqual({ code: 4, stdout: '["run","--","-x"]\n', stderr: '' });
  });

  test('lets a large answer reach a slow reader before it ends', async () => {
    await withMain(`export const main = async () => { process.stdout.write('x'.repeat(3_000_000) + 'end'); return 0; };`);
    const ended = await new Promise<string>((done) => {
      execFile('/bin/sh', ['-c', '"$1" "$2" | (sleep 1; tail -c 3)', 'sh', process.execPath, entry], (_, stdout) => done(stdout));
    });
    expect(ended).toBe('end');
  });

  test('ends soon although a forgotten timer would keep the process alive', async () => {
    await withMain('export const main = async () => { setInterval(() => {}, 1000); return 0; };');
    const ended = await run(process.execPath, [entry]);
    expect(ended.code).toBe(0);
  });
});

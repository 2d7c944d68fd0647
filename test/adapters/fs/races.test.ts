import { type ChildProcess, spawn } from 'node:child_process';
import { link, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import files from '../../../plugins/files/index.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { ToolResult, ToolSpec } from '../../../ports/plugin.ts';
import type { FileSystemPlace } from '../../contracts/file-system.suite.ts';
import { diskPlace } from './fixture.ts';

const ROUNDS = 300;
let place: FileSystemPlace;
let swapper: ChildProcess | undefined;

/** Another process that changes what a path is, as fast as it can. Says one line once it has done so a hundred times. */
const SWAPS = {
  /** `folder` is a folder, then a link to the outside, and back. */
  folder: `renameSync(root + '/folder', root + '/moved'); symlinkSync(outside, root + '/folder'); rmSync(root + '/folder'); renameSync(root + '/moved', root + '/folder');`,
  /** `folder/file` is a file, then a link to one outside, and back, without a moment in which it is missing. */
  file: `symlinkSync(outside + '/file', root + '/t'); renameSync(root + '/t', root + '/folder/file'); writeFileSync(root + '/t', 'mine'); renameSync(root + '/t', root + '/folder/file');`,
  /** `folder` is exchanged for a link that leads outside, with the real one always at hand. */
  parent: `renameSync(root + '/folder', root + '/folder2'); symlinkSync(outside, root + '/folder'); for (let i = 0; i < 2000; i += 1); rmSync(root + '/folder'); renameSync(root + '/folder2', root + '/folder');`,
} as const;

async function swapping(kind: keyof typeof SWAPS): Promise<void> {
  const program = `
    const { renameSync, symlinkSync, rmSync, writeFileSync } = require('node:fs');
    const [root, outside] = process.argv.slice(1);
    for (let round = 0; ; round += 1) {
      try { ${SWAPS[kind]} } catch (error) { if (error.code !== 'ENOENT' && error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error; }
      if (round === 100) process.stdout.write('swapping\\n');
    }`;
  swapper = spawn(process.execPath, ['-e', program, place.root, place.outside], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    swapper?.stdout?.once('data', () => resolve());
    swapper?.once('exit', (code) => reject(new Error(`the swapper ended with ${code}`)));
  });
}

beforeEach(async () => {
  place = await diskPlace();
  await place.put(join(place.outside, 'file'), 'SECRET');
  await place.put(join(place.outside, 'hidden-name'), 'SECRET');
  await place.put(join(place.root, 'folder/file'), 'mine');
});

afterEach(async () => {
  const ended = swapper && new Promise((resolve) => swapper?.once('close', resolve));
  swapper?.removeAllListeners('exit');
  swapper?.kill('SIGKILL');
  await ended;
  swapper = undefined;
  await place.close();
});

/** What lies outside is as it was. */
async function expectOutsideUntouched(): Promise<void> {
  expect((await readdir(place.outside)).sort()).toEqual(['file', 'hidden-name']);
  for (const name of ['file', 'hidden-name']) expect(await readFile(join(place.outside, name), 'utf8')).toBe('SECRET');
}

function tool(fs: FileSystem, name: string): ToolSpec {
  const found: ToolSpec[] = [];
  const register = (spec: ToolSpec) => {
    found.push(spec);
    return () => undefined;
  };
  void files.apply({ fs, tools: { register } }, {});
  const spec = found.find((each) => each.name === name);
  if (spec === undefined) throw new Error(`no tool ${name}`);
  return spec;
}

/** A call as core makes it: its paths are judged, then it runs. Gives what it tells, or the error's text. */
async function called(name: string, input: object): Promise<string> {
  const spec = tool(place.fs, name);
  const { reads = [], writes = [] } = spec.effects?.(input as never) ?? {};
  try {
    for (const path of [...writes, ...reads]) {
      const { inRoot, finalLink } = await place.fs.resolve(path);
      if (!inRoot || finalLink) return 'refused';
    }
    const exec = { signal: new AbortController().signal, callId: 'c', args: input, workspace: place.root, dataDir: place.root };
    return ((await spec.execute(input as never, exec)) as ToolResult).content;
  } catch (error) {
    return String(error);
  }
}

const CALLS: readonly (readonly [string, (round: number) => object])[] = [
  ['read_file', () => ({ path: 'folder/file' })],
  ['write_file', (round) => ({ path: round % 2 === 0 ? 'folder/file' : `folder/new-${round % 7}`, content: 'mine' })],
  ['write_file', (round) => ({ path: `folder/deep/${round % 3}/file`, content: 'mine' })],
  ['patch', () => ({ path: 'folder/file', old_string: 'mine', new_string: 'mine', replace_all: true })],
  ['patch', (round) => ({ path: 'folder/file', old_string: 'mine', new_string: `mine ${round % 2}` })],
  ['glob', () => ({ pattern: '**', path: 'folder' })],
  ['glob', () => ({ pattern: 'folder/*' })],
  ['search_files', () => ({ pattern: 'SECRET|mine', path: 'folder' })],
  ['search_files', () => ({ pattern: 'hidden', target: 'files' })],
  ['file_info', () => ({ path: 'folder/file' })],
];

describe.each(Object.keys(SWAPS) as (keyof typeof SWAPS)[])('while another process swaps links in (%s)', (kind) => {
  it.each(CALLS)(
    `no round of ${ROUNDS} calls of %s escapes`,
    async (name, inputOf) => {
      await swapping(kind);
      const told: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) told.push(await called(name, inputOf(round)));
      expect(told.filter((text) => text.includes('SECRET') || text.includes('hidden-name'))).toEqual([]);
      await expectOutsideUntouched();
    },
    60_000,
  );
});

describe('a hard link', () => {
  it('to a file outside is cut by a write: the other name keeps its content', async () => {
    await link(join(place.outside, 'file'), join(place.root, 'both'));
    await place.fs.write('both', 'changed');
    expect(await readFile(join(place.root, 'both'), 'utf8')).toBe('changed');
    await expectOutsideUntouched();
    expect((await stat(join(place.root, 'both'))).nlink).toBe(1);
  });
});

describe('what an archive can bring along', () => {
  it('leads no read and no write outside: links to folders, to files, to links, and paths that go up behind them', async () => {
    await place.link(join(place.root, 'to-folder'), place.outside);
    await place.link(join(place.root, 'to-file'), '../outside/file');
    await place.link(join(place.root, 'to-link'), 'to-folder/file');
    await place.link(join(place.root, 'dangling'), join(place.outside, 'new'));
    await place.link(join(place.root, 'deep'), join(place.root, 'to-folder/sub'));
    for (const path of ['to-folder/file', 'to-file', 'to-link', 'dangling', 'deep/x', 'to-folder/../to-folder/file', 'folder/../to-file']) {
      await expect(place.fs.read(path, { maxBytes: 10 }), path).rejects.toMatchObject({ name: 'FileError' });
      await expect(place.fs.write(path, 'x'), path).rejects.toMatchObject({ name: 'FileError' });
    }
    // A path means what its text says: the one above a link is the one above it here.
    await place.put(join(place.root, 'file'), 'mine');
    expect(new TextDecoder().decode((await place.fs.read('to-folder/../file', { maxBytes: 10 })).bytes)).toBe('mine');
    await expectOutsideUntouched();
  });
});

describe("odek's own state", () => {
  it.each([
    ...[
      'config.json',
      'secrets.env',
      'IDENTITY.md',
      'skills/x/SKILL.md',
      'schedules.json',
      'schedule-state.json',
      'schedules.lock',
      'sessions/a.json',
    ],
    ...[
      'mcp_approvals.json',
      'mcp_tool_approvals.json',
      'project_sandbox_approvals.json',
      'restart.json',
      'audit/a.json',
      'sessions/audit/a.json',
    ],
    ...[
      'telegram.lock',
      'telegram.pid',
      'schedule.pid',
      'schedule.log',
      'plans/p.json',
      'odek.db',
      'odek.db-wal',
      'jobs/a',
      'repl_history',
      'plugins/x/data/a',
      '',
    ],
    ...['CONFIG.JSON', 'Secrets.Env', 'media/../config.json', './media/./../Sessions/a.json', 'new-file'],
  ])('%j is neither read nor written', async (name) => {
    await place.put(join(place.stateDir, 'present'), 'x');
    const path = `${place.stateDir}/${name}`;
    expect((await place.fs.resolve(path)).inState).toBe(true);
    await expect(place.fs.read(path, { maxBytes: 10 })).rejects.toMatchObject({ code: 'trust_anchor' });
    await expect(place.fs.write(path, 'x')).rejects.toMatchObject({ code: 'trust_anchor' });
  });

  it('is not reached through a link from the folders of it that are open', async () => {
    await place.put(join(place.stateDir, 'config.json'), '{}');
    await place.put(join(place.stateDir, 'media/picture'), 'pixels');
    await place.link(join(place.stateDir, 'media/link'), join(place.stateDir, 'config.json'));
    await place.link(join(place.root, 'state'), place.stateDir);
    for (const path of [join(place.stateDir, 'media/link'), 'state/config.json'])
      await expect(place.fs.read(path, { maxBytes: 10 })).rejects.toMatchObject({ code: 'trust_anchor' });
    expect((await place.fs.resolve('state/media/picture')).inState).toBe(false);
    expect((await place.fs.resolve(join(place.stateDir, 'artifacts/a'))).inState).toBe(false);
  });
});

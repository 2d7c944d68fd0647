import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openProcessTrees } from '../../../adapters/process/trees.ts';

const TREES = new URL('../../../adapters/process/trees.ts', import.meta.url).href;

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'odek-trees-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A process of its own that starts one child in each of two places, says their numbers and waits. */
async function owner(): Promise<{ readonly process: ChildProcess; readonly pids: readonly number[] }> {
  const program = `
    import { spawn } from 'node:child_process';
    import { openProcessTrees } from ${JSON.stringify(TREES)};
    const pids = ['one', 'two'].map((name) => {
      const trees = openProcessTrees(${JSON.stringify(folder)} + '/' + name);
      const { mark, variables } = trees.mark();
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore', env: variables });
      trees.add({ pid: child.pid, mark });
      return child.pid;
    });
    console.log(pids.join(' '));
    setInterval(() => {}, 1000);`;
  const started = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(started);
  const line = await new Promise<string>((resolve) => started.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  return { process: started, pids: line.trim().split(' ').map(Number) };
}

test('what was started in several places ends with its process, which a signal ends as ever', async () => {
  const { process: started, pids } = await owner();
  expect(pids.map(isAlive)).toEqual([true, true]);
  const ended = new Promise((resolve) => started.once('exit', (_code, signal) => resolve(signal)));
  started.kill('SIGTERM');
  expect(await ended).toBe('SIGTERM');
  await until(() => !pids.some(isAlive));
  expect(readdirSync(join(folder, 'one'))).toEqual([]);
});

test('what a killed process left running ends when the place is opened again', async () => {
  const { process: started, pids } = await owner();
  const ended = new Promise((resolve) => started.once('exit', resolve));
  started.kill('SIGKILL');
  await ended;
  expect(pids.map(isAlive)).toEqual([true, true]);
  openProcessTrees(join(folder, 'one'));
  await until(() => !isAlive(pids[0] ?? 0));
  expect(isAlive(pids[1] ?? 0)).toBe(true);
  openProcessTrees(join(folder, 'two'));
  await until(() => !isAlive(pids[1] ?? 0));
});

test('a child that cannot be noted is used all the same', () => {
  const place = join(folder, 'file');
  writeFileSync(place, '');
  const trees = openProcessTrees(place);
  const tree = { pid: 2 ** 30, mark: trees.mark().mark };
  trees.add(tree);
  trees.remove(tree);
  expect(existsSync(place)).toBe(true);
});

test('each mark is another one, and travels in the environment', () => {
  const trees = openProcessTrees(folder);
  const [first, second] = [trees.mark(), trees.mark()];
  expect(first.mark).toMatch(/^[0-9a-f]{32}$/);
  expect(first.mark).not.toBe(second.mark);
  expect(Object.values(first.variables)).toEqual([first.mark]);
});

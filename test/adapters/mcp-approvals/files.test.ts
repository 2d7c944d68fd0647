import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileApprovals } from '../../../adapters/mcp-approvals/files.ts';

const SOURCE = fileURLToPath(new URL('../../../adapters/mcp-approvals/files.ts', import.meta.url));
const key = (digit: number): string => String(digit).padStart(64, '0');

let root: string;
let folder: string;
let told: string[];
const open = (waitMs?: number) =>
  createFileApprovals({ folder, warn: (text) => void told.push(text), ...(waitMs !== undefined && { waitMs }) });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'odek-approvals-'));
  folder = join(root, 'state');
  told = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('approvals in files', () => {
  it('are readable by the owner alone, in a folder that is too, and leave nothing else behind', async () => {
    await open().add('servers', [{ key: key(1) }]);
    await open().add('tools', [{ key: key(2) }]);
    expect((await readdir(folder)).sort()).toEqual(['mcp_approvals.json', 'mcp_tool_approvals.json']);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('are listed without making anything', async () => {
    expect(await open().list('tools')).toEqual([]);
    await expect(stat(folder)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['is not JSON', '{"version":1'],
    ['is of another version', '{"version":2,"approvals":[]}'],
    ['holds something that is no approval', `{"version":1,"approvals":[{"key":"${key(1)}"},{"key":"short"}]}`],
    ['is a list', '[]'],
    ['is empty', ''],
  ])('approve nothing when the file %s, which is kept for a look', async (_, text) => {
    await mkdir(folder);
    await writeFile(join(folder, 'mcp_tool_approvals.json'), text, { mode: 0o600 });
    expect(await open().list('tools')).toEqual([]);
    expect(told).toEqual([expect.stringMatching(/mcp_tool_approvals\.json is corrupt \(.+\); nothing in it counts as approved/)]);
    const [kept, ...others] = await readdir(folder);
    expect(kept).toMatch(/^mcp_tool_approvals\.json\.corrupt-/);
    expect(others).toEqual([]);
    expect(await readFile(join(folder, String(kept)), 'utf8')).toBe(text);
  });

  it('approve nothing while others may write the file, which is left as it is', async () => {
    await open().add('tools', [{ key: key(1) }]);
    const file = join(folder, 'mcp_tool_approvals.json');
    await chmod(file, 0o666);
    expect(await open().list('tools')).toEqual([]);
    expect(told).toEqual([expect.stringContaining(`chmod 600 ${file}`)]);
    await expect(open().add('tools', [{ key: key(2) }])).rejects.toMatchObject({ code: 'mcp_approvals_unwritable' });
    await chmod(file, 0o600);
    expect(await open().list('tools')).toEqual([{ key: key(1) }]);
  });

  it('lose nothing when several processes add at once', async () => {
    const script = `
      import { createFileApprovals } from ${JSON.stringify(SOURCE)};
      const [folder, from] = process.argv.slice(1);
      const store = createFileApprovals({ folder, warn: console.error, waitMs: 60000 });
      for (let at = 0; at < 20; at += 1) await store.add('tools', [{ key: String(Number(from) + at).padStart(64, '0') }]);`;
    const run = (from: number) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, folder, String(from)], { cwd: root });
    await Promise.all([run(0), run(100), run(200)]);
    const found = (await open().list('tools')).map((each) => Number(each.key)).sort((a, b) => a - b);
    expect(found).toEqual([0, 100, 200].flatMap((from) => Array.from({ length: 20 }, (_, at) => from + at)));
  });

  it('take a lock that a killed process left, and wait for a fresh one only so long', async () => {
    await open().add('tools', [{ key: key(1) }]);
    const lock = join(folder, 'mcp_tool_approvals.json.lock');
    await writeFile(lock, '');
    await expect(open(50).add('tools', [{ key: key(2) }])).rejects.toMatchObject({ code: 'mcp_approvals_busy', value: lock, limit: 50 });
    const old = new Date(Date.now() - 60_000);
    await utimes(lock, old, old);
    await open().add('tools', [{ key: key(3) }]);
    expect((await open().list('tools')).map((each) => each.key)).toEqual([key(1), key(3)]);
  });

  it('refuse a record without a key and one that is too large', async () => {
    await expect(open().add('tools', [{ key: 'x' }])).rejects.toMatchObject({ code: 'mcp_approvals_unwritable' });
    await expect(open().add('tools', [{ key: key(1), text: 'x'.repeat(300_000) }])).rejects.toMatchObject({ limit: '262144 characters' });
  });

  it('say why they cannot be written', async () => {
    await writeFile(folder, 'a file in the way');
    await expect(open().add('tools', [{ key: key(1) }])).rejects.toMatchObject({ code: 'mcp_approvals_unwritable' });
  });
});

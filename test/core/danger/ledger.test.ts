import { beforeEach, describe, expect, it } from 'vitest';
import { createReadLedger, ledgerOf, ledgerPath, type ReadLedger, sawAll } from '../../../core/danger/ledger.ts';
import { createMemoryFileSystem, type MemoryFileSystem } from '../../fakes/file-system.ts';

let fs: MemoryFileSystem;
let ledger: ReadLedger;

beforeEach(() => {
  fs = createMemoryFileSystem();
  fs.put('run.sh', 'echo one', { modifiedAt: 1000 });
  ledger = createReadLedger(fs);
});

describe('the ledger of read files', () => {
  it('holds a file once it was noted, by whatever path', async () => {
    fs.link('alias.sh', 'run.sh');
    expect(await ledger.holds('run.sh')).toBe(false);
    await ledger.note('./run.sh');
    expect(await Promise.all(['run.sh', '/project/run.sh', 'alias.sh'].map((path) => ledger.holds(path)))).toEqual([true, true, true]);
  });

  it('lets go of a file whose size or time changed', async () => {
    await ledger.note('run.sh');
    fs.put('run.sh', 'echo two', { modifiedAt: 2000 });
    expect(await ledger.holds('run.sh')).toBe(false);
    await ledger.note('run.sh');
    fs.put('run.sh', 'echo two!', { modifiedAt: 2000 });
    expect(await ledger.holds('run.sh')).toBe(false);
  });

  it('never holds what is no file', async () => {
    for (const path of ['missing.sh', '.', 'nul\0byte']) {
      await ledger.note(path);
      expect(await ledger.holds(path)).toBe(false);
    }
  });

  it('forgets the oldest beyond 4,096 files', async () => {
    await ledger.note('run.sh');
    for (let index = 0; index < 4096; index += 1) {
      fs.put(`f${index}`, 'x');
      await ledger.note(`f${index}`);
    }
    expect([await ledger.holds('run.sh'), await ledger.holds('f0'), await ledger.holds('f4095')]).toEqual([false, true, true]);
  });

  it('is one a session and file system', async () => {
    await ledgerOf(fs, 's1').note('run.sh');
    expect([await ledgerOf(fs, 's1').holds('run.sh'), await ledgerOf(fs, 's2').holds('run.sh')]).toEqual([true, false]);
    expect(await ledgerOf(createMemoryFileSystem(), 's1').holds('run.sh')).toBe(false);
  });
});

describe('a finished call', () => {
  it('matters when it reads or writes a file', () => {
    expect(ledgerPath('read_file', { path: 'a' })).toBe('a');
    expect(ledgerPath('patch', { path: 'a' })).toBe('a');
    for (const [tool, input] of [
      ['search_files', { path: 'a' }],
      ['read_file', {}],
      ['read_file', null],
      ['write_file', { path: 7 }],
    ] as const)
      expect(ledgerPath(tool, input)).toBeUndefined();
  });

  it('has shown a file whole only when every line of it is in the result', () => {
    const result = (content: string, total: number, rest: object = {}): string => JSON.stringify({ content, total_lines: total, ...rest });
    const seen = (content: string, input: object = { path: 'a' }): boolean => sawAll('read_file', input, content, false);
    expect(seen(result('1|a\n2|b', 2))).toBe(true);
    expect(seen(result('', 0))).toBe(true);
    expect(seen(result('1|a\n2|b', 2), { path: 'a', offset: 1 })).toBe(true);
    expect(seen(result('1|a', 2))).toBe(false);
    expect(seen(result('2|b', 2), { path: 'a', offset: 2 })).toBe(false);
    expect(seen(result('1|a', 1, { note: 'cut at line 1' }))).toBe(false);
    expect(seen(JSON.stringify({ error: 'no such file' }))).toBe(false);
    expect(seen('1|a')).toBe(false);
    expect(seen(`${result('1|a', 1).slice(0, -2)}`)).toBe(false);
  });

  it('counts as seen after a write, and after a patch of what was seen before', () => {
    expect([sawAll('write_file', {}, '', false), sawAll('patch', {}, '', true), sawAll('patch', {}, '', false)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

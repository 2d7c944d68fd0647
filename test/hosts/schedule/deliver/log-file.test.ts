import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { appendToLog } from '../../../../hosts/schedule/deliver/log-file.ts';
import { asEntry } from '../../../../hosts/schedule/deliver/text.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'odek-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the log is turned over before it grows beyond its bound, and one old part is kept', () => {
  const path = join(folder, 'schedule.log');
  for (let line = 0; line < 100; line += 1) appendToLog(path, `line ${line}\n`, 100);
  expect(statSync(path).size).toBeLessThanOrEqual(100);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(100);
  expect(readFileSync(path, 'utf8').endsWith('line 99\n')).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a line that is longer than the bound is written all the same', () => {
  const path = join(folder, 'schedule.log');
  appendToLog(path, 'x'.repeat(300), 100);
  appendToLog(path, 'y', 100);
  expect([readFileSync(`${path}.1`, 'utf8').length, readFileSync(path, 'utf8')]).toEqual([300, 'y']);
});

it('the log is never written through a link', () => {
  const path = join(folder, 'schedule.log');
  writeFileSync(join(folder, 'other'), '');
  symlinkSync(join(folder, 'other'), path);
  expect(() => appendToLog(path, 'x')).toThrow(/ELOOP/);
});

it('an entry names its job and when it was due, and says where it may be a repeat', () => {
  const delivery = { jobName: 'nightly', dueAt: Date.UTC(2026, 2, 10, 12), maybeRepeat: false, text: 'done\n\n' };
  expect(asEntry(delivery)).toBe('--- nightly, 2026-03-10T12:00Z\ndone\n');
  expect(asEntry({ ...delivery, maybeRepeat: true })).toBe('--- nightly, 2026-03-10T12:00Z (possible repeat)\ndone\n');
});

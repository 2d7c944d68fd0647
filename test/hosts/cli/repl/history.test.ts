import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_HISTORY, openHistory } from '../../../../hosts/cli/repl/history.ts';

const redact = (text: string): string => text.replaceAll('secret', '[masked]');
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-history-'));
  file = join(folder, 'repl_history');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the repl history', () => {
  it('keeps the last 500 entries, one a line', async () => {
    const history = await openHistory({ file, redact });
    for (let count = 0; count < MAX_HISTORY + 5; count += 1) await history.add(`entry ${count}`);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(MAX_HISTORY);
    expect(lines[0]).toBe('entry 5');
    expect(history.entries()).toHaveLength(MAX_HISTORY);
  });

  it('gives back what it saved: newlines, backslashes and all', async () => {
    const entries = ['two\nlines', 'a \\n that is none', 'C:\\new\\', 'tab\t\u2028 x'];
    const first = await openHistory({ file, redact });
    for (const entry of entries) await first.add(entry);
    expect((await openHistory({ file, redact })).entries()).toEqual(entries);
  });

  it('saves an entry only after it was redacted, and blank or repeated ones not at all', async () => {
    const history = await openHistory({ file, redact });
    for (const entry of ['my secret', 'my secret', '   ', 'x'.repeat(40_000)]) await history.add(entry);
    expect(await readFile(file, 'utf8')).toBe('my [masked]\n');
  });

  it('adds to what another odek saved meanwhile', async () => {
    const one = await openHistory({ file, redact });
    const two = await openHistory({ file, redact });
    await one.add('from one');
    await two.add('from two');
    expect(await readFile(file, 'utf8')).toBe('from one\nfrom two\n');
  });

  it('is private, also where a loose file or a link was', async () => {
    await writeFile(file, 'old\n', { mode: 0o644 });
    await (await openHistory({ file, redact })).add('new');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const target = join(folder, 'elsewhere');
    const link = join(folder, 'link');
    await writeFile(target, 'precious\n');
    await symlink(target, link);
    await (await openHistory({ file: link, redact })).add('new');
    expect(await readFile(target, 'utf8')).toBe('precious\n');
  });

  it('stays in memory where it cannot be saved', async () => {
    const history = await openHistory({ file: '/dev/null/x/repl_history', redact });
    await history.add('kept');
    expect(history.entries()).toEqual(['kept']);
  });
});

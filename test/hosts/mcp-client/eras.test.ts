import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptEras } from '../../../hosts/mcp-client/eras.ts';

let root: string;
let file: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'odek-eras-'));
  file = join(root, 'state', 'protocols.json');
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('what is known of the protocols of servers', () => {
  it('is there at the next start, for the owner alone and without the command line', async () => {
    keptEras(file).set('["stdio","x",["--api-key","hunter2222"]]', 'legacy');
    expect(keptEras(file).get('["stdio","x",["--api-key","hunter2222"]]')).toBe('legacy');
    expect(await readFile(file, 'utf8')).not.toContain('hunter2222');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is forgotten when it proved wrong', () => {
    keptEras(file).set('a', 'legacy');
    keptEras(file).set('b', 'modern');
    keptEras(file).set('a', undefined);
    expect([keptEras(file).get('a'), keptEras(file).get('b')]).toEqual([undefined, 'modern']);
  });

  it('is asked again after a week where it was an old one', () => {
    const day = 24 * 60 * 60 * 1000;
    const at = (days: number) => keptEras(file, () => days * day);
    at(0).set('old', 'legacy');
    at(0).set('new', 'modern');
    expect([at(6.9).get('old'), at(7.1).get('old'), at(-8).get('old'), at(400).get('new')]).toEqual([
      'legacy',
      undefined,
      undefined,
      'modern',
    ]);
    at(8).set('old', 'legacy');
    expect(at(14).get('old')).toBe('legacy');
  });

  it.each(['', '{', '[]', 'null', '{"x":"legacy","y":1}', '{"x":{"era":"future","at":1},"y":{"era":"legacy"}}'])(
    'is nothing where the file holds %j',
    async (text) => {
      keptEras(file).set('a', 'legacy');
      await writeFile(file, text);
      const eras = keptEras(file);
      expect(eras.get('a')).toBeUndefined();
      eras.set('a', 'modern');
      expect(keptEras(file).get('a')).toBe('modern');
    },
  );

  it('harms nobody where it cannot be written', async () => {
    await writeFile(join(root, 'state'), 'a file in the way');
    const eras = keptEras(file);
    eras.set('a', 'legacy');
    expect(eras.get('a')).toBe('legacy');
  });

  it('holds the newest thousand', () => {
    const eras = keptEras(file);
    for (let at = 0; at < 1001; at += 1) eras.set(String(at), 'modern');
    expect([keptEras(file).get('0'), keptEras(file).get('1'), keptEras(file).get('1000')]).toEqual([undefined, 'modern', 'modern']);
  });
});

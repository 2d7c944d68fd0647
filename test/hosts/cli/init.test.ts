import { lstat, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleConfig } from '../../../hosts/cli/init.ts';
import { CONFIG_KEYS } from '../../../hosts/config/keys.ts';
import { type Home, makeHome } from '../config/home.ts';
import { odek, type Spoken } from './terminal.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const init = (...args: string[]): Promise<Spoken> => odek(['init', ...args], { env: { ODEK_HOME: home.state }, cwd: home.cwd });
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('odek init', () => {
  it('makes the state folder and a file that are the operator alone', async () => {
    await rm(home.state, { recursive: true });
    expect((await init()).code).toBe(0);
    expect(await modeOf(home.state)).toBe(0o700);
    expect(await modeOf(join(home.state, 'config.json'))).toBe(0o600);
  });

  it('changes nothing until it is edited', async () => {
    const before = await home.load();
    await init();
    await init('--local');
    expect(await home.load()).toEqual(before);
  });

  it.each(['global', 'local'] as const)('writes an example for --%s that is valid once every key is switched on', async (place) => {
    await init(`--${place}`);
    const path = place === 'global' ? join(home.state, 'config.json') : join(home.cwd, 'odek.json');
    const text = await readFile(path, 'utf8');
    expect(text).toBe(exampleConfig(place));
    await writeFile(path, text.replaceAll('"// ', '"'));
    const { sources, warnings } = await home.load({ env: { MY_GATEWAY_KEY: 'k', ODEK_API_KEY: 'k' } });
    expect(warnings).toEqual([]);
    const plain = CONFIG_KEYS.filter(
      ({ key, project }) => !key.includes('<') && (place === 'global' || !['ignored', 'rejected', 'ask'].includes(project)),
    );
    for (const { key } of plain) expect([key, sources[key]]).toEqual([key, place === 'global' ? 'global' : 'project']);
  });

  it('refuses to replace a file, and replaces it with --force', async () => {
    const path = await home.global({ model: 'mine' }, 0o644);
    const refused = await init('--global');
    expect(refused.code).toBe(3);
    expect(refused.err).toContain(`${path} is there already; --force replaces it`);
    expect(await readFile(path, 'utf8')).toContain('mine');
    expect((await init('-g', '-f')).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe(exampleConfig('global'));
    expect(await modeOf(path)).toBe(0o600);
    expect(await readdir(home.state)).toEqual(['config.json']);
  });

  it('keeps a link and replaces the file that it names', async () => {
    const kept = join(home.root, 'dotfiles.json');
    await writeFile(kept, '{}');
    await symlink(kept, join(home.state, 'config.json'));
    expect((await init('--force')).code).toBe(0);
    expect((await lstat(join(home.state, 'config.json'))).isSymbolicLink()).toBe(true);
    expect(await readFile(kept, 'utf8')).toBe(exampleConfig('global'));
  });

  it('says what is in the way, and refuses both places at once', async () => {
    await rm(home.state, { recursive: true });
    await writeFile(home.state, 'a file');
    const { code, err } = await init();
    expect(code).toBe(3);
    expect(err).toContain('cannot be written');
    expect((await init('--global', '--local')).code).toBe(3);
  });
});

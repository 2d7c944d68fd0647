import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { nodeFinding } from '../../../hosts/cli/doctor.ts';
import { type Home, makeHome } from '../config/home.ts';
import { odek, type Spoken } from './terminal.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const doctor = (env: Record<string, string> = { DEEPSEEK_API_KEY: 'sk-doctor' }, tty = false): Promise<Spoken> =>
  odek(['doctor'], { env: { ODEK_HOME: home.state, ...env }, cwd: home.cwd, tty });

async function makeDatabase(): Promise<string> {
  const path = join(home.state, 'odek.db');
  const store = await openStore({ path, durability: 'process', surface: 'test', clock: createSystemClock(), ids: createRandomIds() });
  await store.close();
  return path;
}

describe('odek doctor', () => {
  it('finds a fresh set-up with a key well, and shows the key nowhere', async () => {
    const { code, out } = await doctor();
    expect(out).not.toContain('✗');
    expect(code).toBe(0);
    expect(out).toContain('✓ provider deepseek, model deepseek-v4-flash, https://api.deepseek.com');
    expect(out).toContain('✓ key set (env)');
    expect(out).not.toContain('sk-doctor');
  });

  it('finds a state folder that does not exist yet well', async () => {
    await rm(home.state, { recursive: true });
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toContain('the first run makes it');
  });

  it('says what to do without a provider, and exits with 1', async () => {
    const { code, out } = await doctor({});
    expect(code).toBe(1);
    expect(out).toMatch(/✗ no provider is configured/);
    expect(out).toContain('DEEPSEEK_API_KEY');
  });

  it('tells how commands are kept apart', async () => {
    const key = { DEEPSEEK_API_KEY: 'sk-doctor' };
    const path = process.env.PATH ?? '';
    expect((await doctor({ ...key, PATH: path })).out).toContain('✓ sandbox bwrap, no network\n');
    expect((await doctor({ ...key, PATH: path, ODEK_NO_SANDBOX: '1' })).out).toContain('✓ sandbox turned off');
    const without = await doctor({ ...key, PATH: '/nowhere' });
    expect(without.out).toMatch(/✓ note: no sandbox: bwrap is not installed.*\n {2}→ install bubblewrap/);
    expect(without.code).toBe(0);
    const required = await doctor({ ...key, PATH: '/nowhere', ODEK_REQUIRE_SANDBOX: '1' });
    expect(required.out).toMatch(/✗ no sandbox, and it is required: bwrap is not installed/);
    expect(required.code).toBe(1);
    expect((await doctor({ ...key, ODEK_REQUIRE_SANDBOX: '1', ODEK_NO_SANDBOX: '1' })).out).toContain('→ leave one of the two out');
  });

  it('says what to do about modes that are too open', async () => {
    await chmod(home.state, 0o755);
    await home.global({}, 0o644);
    await home.secrets('A=b\n', 0o644);
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toContain(`→ run: chmod 700 ${home.state}`);
    expect(out).toContain(`→ run: chmod 600 ${join(home.state, 'config.json')}`);
    expect(out).toContain(`→ run: chmod 600 ${join(home.state, 'secrets.env')}`);
  });

  it('says what to do about files that are no JSON and values that are wrong', async () => {
    await home.global('{');
    await home.project('[');
    const broken = await doctor();
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/✗ .*config\.json:1:2/);
    expect(broken.out).toMatch(/✗ .*odek\.json:1:2/);
    await home.global({ max_iterations: 0 });
    expect((await doctor()).out).toMatch(/✗ max_iterations must be/);
  });

  it('notes what is ignored without calling it ill', async () => {
    await home.project({ dangerous: {}, modle: 'x' });
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toContain('note: ');
    expect(out).toContain('did you mean model?');
  });

  it('checks the database and counts its sessions', async () => {
    const path = await makeDatabase();
    const { code, out } = await doctor();
    expect(code).toBe(0);
    expect(out).toContain(`✓ database ${path}: 0 sessions`);
  });

  it('says what to do about a damaged database, and leaves it as it is', async () => {
    const path = await makeDatabase();
    await writeFile(path, 'this is no database '.repeat(500));
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toMatch(/✗ database .*\n {2}→ copy the file/);
  });

  it('says what kind of terminal there is', async () => {
    expect((await doctor()).out).toContain('no terminal here');
    expect((await doctor(undefined, true)).out).toContain('terminal, 80 columns');
  });

  it('knows which Node is too old', () => {
    expect(['22.18.0', '20.19.0', '18.0.0'].map((version) => nodeFinding(version).ok)).toEqual([false, false, false]);
    expect(['22.19.0', '24.1.0'].map((version) => nodeFinding(version).ok)).toEqual([true, true]);
  });
});

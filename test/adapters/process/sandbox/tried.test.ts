import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTried } from '../../../../adapters/process/sandbox/tried.ts';
import { hasCode } from '../../../../ports/errors.ts';
import { runIn, type SandboxPlace, sandboxPlace } from './fixture.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-tried-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(text: string): Promise<string> {
  const file = join(folder, 'bwrap');
  await writeFile(file, text, { mode: 0o755 });
  return file;
}

describe('calls that have been seen to run', () => {
  it('are known again by the next start, for the same arguments and the same program alone', async () => {
    const [file, bwrap] = [join(folder, 'state', 'tried.json'), await program('one')];
    openTried(file, bwrap).add(['--a', 'b']);
    expect(openTried(file, bwrap).has(['--a', 'b'])).toBe(false);
    await mkdir(join(folder, 'state'));
    openTried(file, bwrap).add(['--a', 'b']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(openTried(file, bwrap).has(['--a', 'b'])).toBe(true);
    expect(openTried(file, bwrap).has(['--a', 'c'])).toBe(false);
    await program('another one');
    expect(openTried(file, bwrap).has(['--a', 'b'])).toBe(false);
  });

  it('are at most 64, and forgotten when told', async () => {
    const [file, bwrap] = [join(folder, 'tried.json'), await program('one')];
    const tried = openTried(file, bwrap);
    for (let call = 0; call < 70; call += 1) tried.add([String(call)]);
    expect(JSON.parse(await readFile(file, 'utf8'))).toHaveLength(64);
    expect([tried.has(['5']), tried.has(['69'])]).toEqual([false, true]);
    tried.forget();
    expect(tried.has(['69'])).toBe(false);
  });

  it.each(['no JSON', '{}', '[1, "x"]', `["${'a'.repeat(20_000)}"]`])('are none in a file like %.20s', async (text) => {
    const file = join(folder, 'tried.json');
    await writeFile(file, text);
    const tried = openTried(file, await program('one'));
    expect(tried.has([])).toBe(false);
    tried.add([]);
    expect(tried.has([])).toBe(true);
  });
});

describe('a sandbox that was seen to run', () => {
  let place: SandboxPlace;
  beforeEach(async () => {
    place = await sandboxPlace();
  });
  afterEach(() => place.close());

  /** A program that counts its calls, and fails while there is a file named `broken`. */
  async function counting() {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await writeFile(
      join(bin, 'bwrap'),
      `#!/bin/sh\necho call >> ${folder}/calls\nif [ -e ${folder}/broken ]; then echo "bwrap: no more" >&2; exit 1; fi\nexec $(PATH=/usr/bin:/bin:/usr/local/bin command -v bwrap) "$@"\n`,
      { mode: 0o755 },
    );
    const environment = { ...place.environment, PATH: `${bin}:${place.environment.PATH}` };
    const calls = async () => (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').length - 1;
    return { environment, calls };
  }

  it('is not tried again, unless it is not to be remembered', async () => {
    const { environment, calls } = await counting();
    for (const remember of [true, true, true]) await place.open({ environment, remember });
    expect(await calls()).toBe(1);
    await place.open({ environment });
    expect(await calls()).toBe(2);
  });

  it('and does not run any more fails the command in its own words, and is tried at the next start', async () => {
    const { environment, calls } = await counting();
    await place.open({ environment, remember: true });
    const sandbox = await place.open({ environment, remember: true });
    await writeFile(join(folder, 'broken'), '');
    const failure = await runIn(sandbox, environment, place.work, 'touch ran').catch((error: unknown) => error);
    expect(hasCode(failure, 'spawn_failed')).toBe(true);
    expect((failure as Error).message).toContain('the sandbox did not start: bwrap: no more');
    await expect(stat(join(place.work, 'ran'))).rejects.toThrow('ENOENT');
    await expect(place.open({ environment, remember: true })).rejects.toThrow('bwrap does not run here: bwrap: no more');
    expect(await calls()).toBeGreaterThanOrEqual(3);
  });
});

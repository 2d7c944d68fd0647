import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

async function enabled(given: Parameters<Home['load']>[0] = {}): Promise<readonly [boolean, string | undefined]> {
  const { config, sources } = await home.load(given);
  return [config.planning.enabled, sources['planning.enabled']];
}

describe('planning', () => {
  it('is on, with twelve steps and 2000 bytes, where nobody says anything', async () => {
    expect((await home.load()).config.planning).toEqual({ enabled: true, max_steps: 12, max_render_chars: 2000 });
  });

  it('is switched by the flag before the variable before the operator before the project', async () => {
    await home.project({ planning: { enabled: false } });
    expect(await enabled()).toEqual([false, 'project']);
    await home.project({});
    await home.global({ planning: { enabled: false } });
    expect(await enabled()).toEqual([false, 'global']);
    expect(await enabled({ env: { ODEK_PLANNING: 'true' } })).toEqual([true, 'env']);
    expect(await enabled({ env: { ODEK_PLANNING: 'true' }, flags: { planning: false } })).toEqual([false, 'flag']);
    expect(await enabled({ env: { ODEK_PLANNING: 'false' }, flags: { planning: true } })).toEqual([true, 'flag']);
  });

  it('is never switched on by a project: the operator who switched it off is told of the attempt', async () => {
    await home.global({ planning: { enabled: false } });
    await home.project({ planning: { enabled: true } });
    const { config, warnings } = await home.load();
    expect(config.planning.enabled).toBe(false);
    expect(warnings).toEqual([expect.stringMatching(/odek\.json: planning\.enabled true is above the operator's false; false counts/)]);
  });

  it('may be switched off by a project although the operator switched it on', async () => {
    await home.global({ planning: { enabled: true } });
    await home.project({ planning: { enabled: false } });
    expect(await enabled()).toEqual([false, 'project']);
  });

  it.each([
    ['max_steps', 0, 1],
    ['max_steps', 51, 50],
    ['max_steps', 50, 50],
    ['max_render_chars', 199, 200],
    ['max_render_chars', 8001, 8000],
    ['max_render_chars', 200, 200],
  ] as const)('holds %s %i at %i, with a warning where that changes it', async (key, given, held) => {
    await home.global({ planning: { [key]: given } });
    const { config, warnings } = await home.load();
    expect(config.planning[key]).toBe(held);
    expect(warnings.length).toBe(given === held ? 0 : 1);
    if (given !== held) expect(warnings[0]).toContain(`planning.${key} ${given}`);
  });

  it('refuses what is no whole number', async () => {
    await home.global({ planning: { max_steps: 2.5 } });
    await expect(home.load()).rejects.toThrow('planning.max_steps must be a whole number from 1 to 50, not 2.5');
  });

  it.each(['max_steps', 'max_render_chars'] as const)('lets a project lower %s and not raise it', async (key) => {
    const [low, operator, high] = key === 'max_steps' ? [3, 5, 9] : [300, 500, 900];
    await home.global({ planning: { [key]: operator } });
    await home.project({ planning: { [key]: low } });
    expect((await home.load()).config.planning[key]).toBe(low);
    await home.project({ planning: { [key]: high } });
    const { config, warnings } = await home.load();
    expect(config.planning[key]).toBe(operator);
    expect(warnings[0]).toContain(`above the operator's ${operator}`);
  });
});

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embeddedConfig } from '../../../hosts/embed/config.ts';
import type { HostEnvironment } from '../../../hosts/environment.ts';
import { openSkillDesk } from '../../../hosts/skills/desk.ts';
import { createShelfStage, manifest } from '../bundles/stage.ts';

type Stage = Awaited<ReturnType<typeof createShelfStage>>;
const signal = new AbortController().signal;
let stage: Stage;
let warnings: string[] = [];
beforeEach(async () => {
  stage = await createShelfStage();
  warnings = [];
});
afterEach(() => stage.remove());

const text = (name: string, body = 'Text.\n'): string => `---\nname: ${name}\ndescription: Does it.\n---\n${body}`;

async function put(root: string, name: string, body?: string): Promise<void> {
  await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, name, 'SKILL.md'), text(name, body));
}

function open(document: object = {}, more: Partial<HostEnvironment> = {}) {
  const config = embeddedConfig({ ...document }, { stateDir: stage.home, workspace: stage.work }, () => {});
  const environment = { config, env: { HOME: stage.root, PATH: process.env.PATH }, workspace: stage.work, ...more } as HostEnvironment;
  const edges = { onEvent: () => {}, log: (_level: string, line: string) => void warnings.push(line) };
  return openSkillDesk(environment, edges, stage.hash);
}

async function names(desk: Awaited<ReturnType<typeof open>>) {
  return (await desk?.catalogue.list({ signal }))?.skills.map(({ name }) => name);
}

describe('the skills of a host', () => {
  it('are none where there is no folder and no plugin, and where neither tool is wanted', async () => {
    expect(await open()).toBeUndefined();
    expect(await open({ skills: { dirs: ['/nowhere/at/all'] } })).toBeUndefined();
    await put(join(stage.home, 'skills'), 'tidy');
    expect(await names(await open())).toEqual(['tidy']);
    expect(await open({}, { builtIns: ['files'] })).toBeUndefined();
    expect(await open({ tools: { disabled: ['skill_list', 'skill_load'] } })).toBeUndefined();
    expect(await open({ tools: { enabled: ['read_file'] } })).toBeUndefined();
  });

  it('are also those of folders that the operator names, from the home folder too', async () => {
    await put(join(stage.root, 'mine'), 'one');
    await put(join(stage.root, 'team'), 'two');
    expect(await names(await open({ skills: { dirs: ['~/mine', join(stage.root, 'team')] } }))).toEqual(['one', 'two']);
  });

  it('of the project need a review, unless the operator named their very folder', async () => {
    const folder = join(stage.work, '.odek/skills');
    await put(folder, 'deploy');
    expect(await names(await open())).toEqual(['project:deploy']);
    await symlink(folder, join(stage.root, 'same'));
    for (const dir of [folder, join(stage.root, 'same')]) {
      const desk = await open({ skills: { dirs: [dir] } });
      expect(await names(desk)).toEqual(['deploy']);
      expect((await desk?.catalogue.load('deploy', signal))?.body).toBe('Text.\n');
    }
  });

  it('of plugins are those of bundles that are on and unchanged, each by the name of its plugin', async () => {
    for (const name of ['kit', 'set']) {
      await stage.shelf.install(
        await stage.source({ 'plugin.json': manifest(name, {}), 'skills/greet/SKILL.md': text('greet', `${name}\n`) }, name),
        { replace: false },
      );
    }
    expect(await open()).toBeUndefined();
    await stage.turnOn('kit');
    await stage.turnOn('set');
    const desk = await open();
    expect(await names(desk)).toEqual(['kit/greet', 'set/greet']);
    expect((await desk?.catalogue.load('set/greet', signal))?.body).toBe('set\n');
    await writeFile(join(stage.home, 'plugins/set/skills/greet/SKILL.md'), text('greet', 'changed\n'));
    expect(await names(desk)).toEqual(['kit/greet']);
    await stage.shelf.enable('kit', undefined);
    expect(await names(desk)).toEqual([]);
    await expect(desk?.catalogue.load('kit/greet', signal)).rejects.toMatchObject({ code: 'skill_unknown' });
  });

  it('of the code of plugins are looked for where code runs and names the call, and count while the plugin is on', async () => {
    const code = (line: string) => `export const inject = ['skills'];\nexport function apply(ctx) { ${line} }\n`;
    const native = { native: { path: 'plugin.mjs' } };
    const bundle = (name: string, line: string) =>
      stage.source({ 'plugin.json': manifest(name, native), 'plugin.mjs': code(line), 'more/look/SKILL.md': text('look') }, name);
    await stage.shelf.install(await bundle('plain', ''), { replace: false });
    await stage.turnOn('plain');
    const running = { extension_host: { enabled: true } };
    expect(await open(running)).toBeUndefined();
    await stage.shelf.install(await bundle('kit', "ctx.skills.registerRoot({ path: 'more' });"), { replace: false });
    await stage.turnOn('kit');
    expect(await open()).toBeUndefined();
    const desk = await open(running);
    expect(await names(desk)).toEqual([]);
    const { bundles } = await stage.active();
    const source = bundles.find(({ name }) => name === 'kit')?.source ?? '';
    desk?.follow({ skillRoots: () => [{ plugin: 'kit', path: join(source, 'more') }] });
    expect(await names(desk)).toEqual(['kit/look']);
    await stage.shelf.enable('kit', undefined);
    expect(await names(desk)).toEqual([]);
  });

  it('stay when what people decided about plugins cannot be read', async () => {
    await put(join(stage.home, 'skills'), 'tidy');
    await mkdir(join(stage.home, 'plugins'), { recursive: true });
    await writeFile(join(stage.home, 'plugins/state.json'), '{');
    expect(await names(await open())).toEqual(['tidy']);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskSkills, type SkillRoot } from '../../../adapters/skills/disk.ts';
import { parseSkill } from '../../../core/bundles/skill-file.ts';

const MIB = 1024 * 1024;
const signal = new AbortController().signal;
let folder = '';
let warnings: string[] = [];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-skills-')));
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(path: string, body: string | Uint8Array = 'Text.\n', name = path.split('/').at(-1)): Promise<string> {
  const file = join(folder, path, 'SKILL.md');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof body === 'string' ? `---\nname: ${name}\ndescription: Does it.\n---\n${body}` : body);
  return file;
}

function catalogue(roots: readonly SkillRoot[] = [{ folder: join(folder, 'user'), origin: 'user' }]) {
  return createDiskSkills({ roots: async () => roots, parse: parseSkill, scan: () => [], warn: (text) => warnings.push(text) });
}

const names = async (skills = catalogue()) => (await skills.list({ signal })).skills.map(({ name }) => name);

describe('skills in folders', () => {
  it('are left out with a warning, told once, where something is wrong with them, and the others stay', async () => {
    await put('user/good');
    await put('user/other', 'Text.\n', 'another');
    await put('user/bare', new TextEncoder().encode('no front matter'));
    await put('user/binary', Uint8Array.of(0x2d, 0xff, 0xfe));
    await truncate(await put('user/large'), MIB + 1);
    await mkdir(join(folder, 'user/empty'));
    await mkdir(join(folder, 'user/folder/SKILL.md'), { recursive: true });
    await mkdir(join(folder, 'user/pipe'));
    execFileSync('mkfifo', [join(folder, 'user/pipe/SKILL.md')]);
    const skills = catalogue();
    expect(await names(skills)).toEqual(['good']);
    await names(skills);
    expect(warnings.map((text) => text.replaceAll(`${folder}/user/`, '')).sort()).toEqual([
      'skill bare is left out: it does not begin with front matter between two lines "---"',
      'skill binary is left out: SKILL.md is no UTF-8 text',
      'skill empty is left out: it has no SKILL.md',
      'skill folder is left out: SKILL.md is no regular file',
      `skill large is left out: SKILL.md has ${MIB + 1} bytes, the limit is ${MIB}`,
      'skill other is left out: its name "another" must be that of its folder, "other"',
      'skill pipe is left out: SKILL.md is no regular file',
    ]);
    await expect(skills.load('large', signal)).rejects.toMatchObject({
      code: 'skill_invalid',
      message: expect.stringContaining('the limit is'),
    });
  });

  it('are not reached over a link, to a file or to a folder', async () => {
    const outside = await put('outside/secret');
    await mkdir(join(folder, 'user/linked'), { recursive: true });
    await symlink(outside, join(folder, 'user/linked/SKILL.md'));
    await symlink(dirname(outside), join(folder, 'user/secret'));
    const skills = catalogue();
    expect(await names(skills)).toEqual([]);
    await expect(skills.load('linked', signal)).rejects.toMatchObject({ code: 'skill_invalid' });
    await expect(skills.load('secret', signal)).rejects.toMatchObject({ code: 'skill_unknown' });
    expect(warnings.join('\n')).toContain('linked is left out: SKILL.md is a link');
    expect(warnings.join('\n')).toContain('secret is left out: it is a link');
  });

  it('are found where the operator named a link to their folder, and not where the project made one', async () => {
    await put('elsewhere/tidy');
    await symlink(join(folder, 'elsewhere'), join(folder, 'user'));
    expect(await names()).toEqual(['tidy']);
    await mkdir(join(folder, 'work'));
    await symlink(folder, join(folder, 'work/.odek'));
    const project: SkillRoot = { folder: join(folder, 'work/.odek/elsewhere'), origin: 'project', within: join(folder, 'work') };
    expect(await names(catalogue([project]))).toEqual([]);
    expect(warnings.at(-1)).toContain('are left out: a link leads to it');
  });

  it('keep the first of two of the same name, unless there is something wrong with it', async () => {
    await put('user/same', 'First.\n');
    await put('more/same', 'Second.\n');
    await put('user/half', new TextEncoder().encode('nothing'));
    await put('more/half', 'Whole.\n');
    const skills = catalogue([
      { folder: join(folder, 'user'), origin: 'user' },
      { folder: join(folder, 'more'), origin: 'configured' },
    ]);
    expect(await names(skills)).toEqual(['half', 'same']);
    expect((await skills.load('same', signal)).body).toBe('First.\n');
    expect((await skills.load('half', signal)).body).toBe('Whole.\n');
    expect(warnings.some((text) => text.includes('an earlier folder has a skill "same"'))).toBe(true);
  });

  it('are given whole up to the limit, and listed also where a character lies across the part that is looked at', async () => {
    const body = 'ä'.repeat(MIB / 2 - 100);
    await put('user/long', body);
    await put('user/odd', `x${body}`);
    const skills = catalogue();
    expect(await names(skills)).toEqual(['long', 'odd']);
    expect((await skills.load('long', signal)).body).toBe(body);
  });

  it('say which one was meant where only the plugin is missing, and the way out of a review', async () => {
    await put('kit/greet');
    await put('work/.odek/skills/deploy');
    const skills = catalogue([
      { folder: join(folder, 'kit'), origin: 'plugin', plugin: 'kit' },
      { folder: join(folder, 'work/.odek/skills'), origin: 'project', within: join(folder, 'work') },
    ]);
    await expect(skills.load('greet', signal)).rejects.toThrow('there is no skill "greet"; there is "kit/greet"');
    await expect(skills.load('project:deploy', signal)).rejects.toThrow(/nobody has reviewed it.*deploy\/SKILL\.md.*skills\.dirs/);
  });

  it('are at most 128 of a folder, and none of a folder with more entries than anybody means', async () => {
    for (let at = 0; at < 130; at++) await put(`user/s${1000 + at}`);
    await mkdir(join(folder, 'many'));
    for (let at = 0; at < 4097; at++) await mkdir(join(folder, 'many', `d${at}`));
    const skills = catalogue([
      { folder: join(folder, 'user'), origin: 'user' },
      { folder: join(folder, 'many'), origin: 'configured' },
    ]);
    const { skills: listed, omitted } = await skills.list({ signal });
    expect([listed.length, omitted]).toEqual([100, 28]);
    expect(warnings).toEqual([expect.stringContaining('130 skills, the limit is 128'), expect.stringContaining('more than 4096 entries')]);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDiskSkills, type SkillRoot } from '../../adapters/skills/disk.ts';
import { parseSkill } from '../../core/bundles/skill-file.ts';
import { scanInjection } from '../../core/injection/scan.ts';
import type { HeldSkill } from '../fakes/skills.ts';
import { brokenSkillCatalogues, memorySkillsHarness } from './skill-catalogue.broken.ts';
import { type SkillCatalogueHarness, skillCatalogueSuite } from './skill-catalogue.suite.ts';

/** `a/b` lies in the folder of the plugin `a`, `project:b` in that of the project. */
function placeOf(name: string): readonly [root: string, own: string] {
  if (name.startsWith('project:')) return ['project', name.slice(8)];
  const [plugin = '', own] = name.split('/');
  return own === undefined ? ['user', name] : [`plugin-${plugin}`, own];
}

async function write(folder: string, skills: readonly HeldSkill[]): Promise<void> {
  for (const { name, description, version, body } of skills) {
    const [root, own] = placeOf(name);
    await mkdir(join(folder, root, own), { recursive: true });
    const more = version === undefined ? '' : `version: ${version}\n`;
    await writeFile(join(folder, root, own, 'SKILL.md'), `---\nname: ${own}\ndescription: ${description}\n${more}---\n${body}`);
  }
}

const onDisk: SkillCatalogueHarness = {
  async make(skills) {
    const folder = await mkdtemp(join(tmpdir(), 'odek-skills-'));
    await write(folder, skills);
    const roots: readonly SkillRoot[] = [
      { folder: join(folder, 'user'), origin: 'user' },
      { folder: join(folder, 'plugin-kit'), origin: 'plugin', plugin: 'kit' },
      { folder: join(folder, 'project'), origin: 'project', within: folder },
    ];
    return {
      catalogue: createDiskSkills({
        roots: async () => roots,
        parse: parseSkill,
        scan: (text) => scanInjection(text).map(({ rule }) => rule),
        warn: () => {},
      }),
      async replace(next) {
        for (const root of roots) await rm(root.folder, { recursive: true, force: true });
        await write(folder, next);
      },
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

const subjects = { 'the catalogue over folders': onDisk, 'the catalogue in memory': memorySkillsHarness() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a skill catalogue`, () => {
    for (const { id, sentence, run } of skillCatalogueSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a skill catalogue', () => {
  it.each(brokenSkillCatalogues)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = skillCatalogueSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken catalogue for each of its cases', () => {
    const caught = new Set(brokenSkillCatalogues.map(({ caughtBy }) => caughtBy));
    expect(skillCatalogueSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});

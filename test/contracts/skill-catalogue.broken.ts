import type { SkillCatalogue } from '../../ports/skill.ts';
import { createMemorySkills, type HeldSkill } from '../fakes/skills.ts';
import type { SkillCatalogueHarness } from './skill-catalogue.suite.ts';
import type { BrokenAdapter } from './suite.ts';

type Fault = (plain: SkillCatalogue, held: readonly HeldSkill[]) => Partial<SkillCatalogue>;

/** Skills in memory, with or without a fault. */
export function memorySkillsHarness(fault: Fault = () => ({}), looksOnce = false): SkillCatalogueHarness {
  return {
    async make(skills) {
      let now = skills;
      const current = (): SkillCatalogue => {
        const plain = createMemorySkills(now);
        return { ...plain, ...fault(plain, now) };
      };
      return {
        catalogue: { list: (request) => current().list(request), load: (name, signal) => current().load(name, signal) },
        replace: async (next) => {
          if (!looksOnce) now = next;
        },
        close: async () => {},
      };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: Fault, looksOnce = false): BrokenAdapter<SkillCatalogueHarness> => ({
  name,
  caughtBy: `skill-catalogue/${caughtBy}`,
  harness: memorySkillsHarness(fault, looksOnce),
});

const live = new AbortController().signal;

/** Catalogues that each break one sentence. */
export const brokenSkillCatalogues: readonly BrokenAdapter<SkillCatalogueHarness>[] = [
  broken('lists from the end', 'list', (plain) => ({
    list: async (request) => {
      const { skills, omitted } = await plain.list(request);
      return { skills: skills.toReversed(), omitted };
    },
  })),
  broken('looks at the case', 'filter', (plain) => ({
    list: async ({ filter = '', signal }) => {
      const { skills, omitted } = await plain.list({ signal });
      return { skills: skills.filter(({ name, description = '' }) => `${name}\n${description}`.includes(filter)), omitted };
    },
  })),
  broken('finds by words that it withholds', 'filter', (plain, held) => ({
    list: async (request) => {
      const { skills, omitted } = await plain.list({ signal: request.signal });
      const wanted = (request.filter ?? '').toLowerCase();
      const names = held.filter((each) => `${each.name}\n${each.description}`.toLowerCase().includes(wanted)).map(({ name }) => name);
      return { skills: skills.filter(({ name }) => names.includes(name)), omitted };
    },
  })),
  broken('shows every description', 'withheld', (plain, held) => ({
    list: async (request) => {
      const { skills, omitted } = await plain.list(request);
      return {
        skills: skills.map((each) => ({ ...each, description: held.find(({ name }) => name === each.name)?.description ?? '' })),
        omitted,
      };
    },
  })),
  broken('gives the description for the text', 'load', (plain, held) => ({
    load: async (name, signal) => {
      const { body, ...rest } = await plain.load(name, signal);
      return { ...rest, body: held.find((each) => each.name === name)?.description ?? body };
    },
  })),
  broken('gives out whatever a project brings', 'needs-review', (plain, held) => ({
    load: async (name, signal) => held.find((each) => each.name === name) ?? plain.load(name, signal),
  })),
  broken('takes the last part of a name for all of it', 'unknown', (plain, held) => ({
    load: async (name, signal) => {
      const last = held.find((each) => each.origin !== 'project' && each.name === name.split('/').at(-1));
      return last ?? plain.load(name, signal);
    },
  })),
  broken('remembers what it saw first', 'anew', () => ({}), true),
  broken('does not hear the signal', 'cancelled', (plain) => ({
    list: (request) => plain.list({ ...request, signal: live }),
    load: (name) => plain.load(name, live),
  })),
];

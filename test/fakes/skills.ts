import { CancelledError } from '../../ports/errors.ts';
import { MAX_LISTED_SKILLS, type SkillCatalogue, SkillError, type SkillOrigin, type SkillSummary } from '../../ports/skill.ts';

export interface HeldSkill {
  /** As it is shown. */
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly body: string;
  readonly origin: SkillOrigin;
}

/** Skills in memory. A description that says "ignore" reads like orders. */
export function createMemorySkills(held: readonly HeldSkill[]): SkillCatalogue {
  const live = (signal: AbortSignal): void => {
    if (signal.aborted) throw new CancelledError();
  };
  return {
    async list({ filter = '', signal }) {
      live(signal);
      const skills = held
        .map(
          ({ name, description, version, origin }): SkillSummary => ({
            name,
            ...(/ignore/i.test(description) ? { withheld: ['override'] } : { description }),
            ...(version !== undefined && { version }),
            origin,
            needsReview: origin === 'project',
          }),
        )
        .filter((skill) => `${skill.name}\n${skill.description ?? ''}`.toLowerCase().includes(filter.toLowerCase()))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      return { skills: skills.slice(0, MAX_LISTED_SKILLS), omitted: Math.max(0, skills.length - MAX_LISTED_SKILLS) };
    },
    async load(name, signal) {
      live(signal);
      const found = held.find((skill) => skill.name === name);
      if (found === undefined) throw new SkillError('skill_unknown', `there is no skill "${name}"`, { value: name });
      if (found.origin === 'project') throw new SkillError('skill_needs_review', `skill "${name}" was not reviewed`, { value: name });
      return { name, ...(found.version !== undefined && { version: found.version }), body: found.body };
    },
  };
}

import { OdekError } from './errors.ts';

/** Whose a skill is. `configured`: of a folder that the operator named. */
export type SkillOrigin = 'user' | 'configured' | 'plugin' | 'project';

export interface SkillSummary {
  /** `<skill>`, of a plugin `<plugin>/<skill>`, of a project `project:<skill>`. */
  readonly name: string;
  /** 1 to 1,024 characters. Absent where it reads like orders. */
  readonly description?: string;
  /** Rules that the description breaks; absent where it breaks none. */
  readonly withheld?: readonly string[];
  /** 1 to 64 of `A-Za-z0-9._+-`. */
  readonly version?: string;
  readonly origin: SkillOrigin;
  /** Nobody has looked at it: it is listed and not given out. */
  readonly needsReview: boolean;
}

export interface SkillListing {
  /** By name. */
  readonly skills: readonly SkillSummary[];
  /** How many more there are. */
  readonly omitted: number;
}

export interface LoadedSkill {
  readonly name: string;
  readonly version?: string;
  /** What stands behind the front matter. */
  readonly body: string;
}

/** Skills that one listing gives. */
export const MAX_LISTED_SKILLS = 100;

/**
 * Instructions that a model may read when a task asks for them.
 *
 * Contract (the `skill-catalogue` suite):
 * - `list` gives skills by name, at most 100, and how many more there are.
 * - `list` with a filter gives those whose name or shown description holds it, in any case.
 * - A description that reads like orders is not shown, and its skill is.
 * - `load` gives what stands behind the front matter of the skill with exactly that name.
 * - A skill that nobody has looked at is listed as such, and `load` refuses it: `skill_needs_review`.
 * - A name that does not exist is `skill_unknown`.
 * - What is there is looked at anew by each call.
 * - When `signal` fires, it rejects with `CancelledError`.
 */
export interface SkillCatalogue {
  list(request: { readonly filter?: string; readonly signal: AbortSignal }): Promise<SkillListing>;
  load(name: string, signal: AbortSignal): Promise<LoadedSkill>;
}

export type SkillErrorCode = 'skill_unknown' | 'skill_needs_review' | 'skill_invalid';

/** A skill cannot be given out. The message says why, and where it lies when a person can do something there. */
export class SkillError extends OdekError {
  constructor(code: SkillErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}

import { CancelledError } from '../../ports/errors.ts';
import {
  type LoadedSkill,
  MAX_LISTED_SKILLS,
  type SkillCatalogue,
  SkillError,
  type SkillListing,
  type SkillOrigin,
  type SkillSummary,
} from '../../ports/skill.ts';
import { readSkillFile, SKILL_BYTES, skillNames } from './files.ts';

/** A folder that holds skills at `<skill>/SKILL.md`. */
export interface SkillRoot {
  /** Absolute; need not exist. */
  readonly folder: string;
  readonly origin: SkillOrigin;
  /** Of a plugin's root. */
  readonly plugin?: string;
  /** The folder belongs to whoever wrote the project: links on the way to it below this folder are refused. */
  readonly within?: string;
}

interface ParsedSkill {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly body: string;
}

export interface DiskSkillsOptions {
  /** Asked by each call. Of two skills of the same name the one of the earlier root counts. */
  roots(signal: AbortSignal): Promise<readonly SkillRoot[]>;
  /** Reads a `SKILL.md` of the folder `own`, or says what is wrong with it. A text may end anywhere behind its front matter. */
  parse(own: string, text: string): ParsedSkill | { readonly fault: string };
  /** Names the rules that a text breaks. */
  scan(text: string): readonly string[];
  /** What is left out, and why; each text once. */
  warn(text: string): void;
}

/** Bytes that hold every front matter that is read. */
const HEAD_BYTES = 16 * 1024;
const MAX_SKILLS = 1024;

interface Place {
  readonly shown: string;
  readonly own: string;
  readonly root: SkillRoot;
}

function shownName({ origin, plugin }: SkillRoot, own: string): string {
  if (origin === 'plugin') return `${plugin ?? ''}/${own}`;
  return origin === 'project' ? `project:${own}` : own;
}

/** Skills in folders, read when they are asked for. */
export function createDiskSkills({ roots, parse, scan, warn }: DiskSkillsOptions): SkillCatalogue {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (told.has(text) || told.size >= MAX_SKILLS) return;
    told.add(text);
    warn(text);
  };

  const places = async (signal: AbortSignal): Promise<readonly Place[]> => {
    const found: Place[] = [];
    for (const root of await roots(signal)) {
      if (signal.aborted) throw new CancelledError();
      for (const own of await skillNames(root, tell)) found.push({ shown: shownName(root, own), own, root });
    }
    if (found.length > MAX_SKILLS) tell(`there are ${found.length} skills, the limit is ${MAX_SKILLS}: the last ones are left out`);
    return found.slice(0, MAX_SKILLS);
  };

  const read = async ({ own, root }: Place, bytes: number): Promise<ParsedSkill | { readonly fault: string }> => {
    const file = await readSkillFile(root, own, bytes);
    return 'fault' in file ? file : parse(own, file.text);
  };

  const summary = ({ shown: name, root }: Place, { description, version }: ParsedSkill): SkillSummary => {
    const withheld = scan(description);
    return {
      name,
      ...(withheld.length === 0 ? { description } : { withheld }),
      ...(version !== undefined && { version }),
      origin: root.origin,
      needsReview: root.origin === 'project',
    };
  };

  const list = async ({ filter = '', signal }: { readonly filter?: string; readonly signal: AbortSignal }): Promise<SkillListing> => {
    const found = new Map<string, SkillSummary>();
    for (const place of await places(signal)) {
      if (signal.aborted) throw new CancelledError();
      const where = `${place.root.folder}/${place.own}`;
      const skill = await read(place, HEAD_BYTES);
      if ('fault' in skill) tell(`skill ${where} is left out: ${skill.fault}`);
      else if (found.has(place.shown)) tell(`skill ${where} is left out: an earlier folder has a skill "${place.shown}"`);
      else found.set(place.shown, summary(place, skill));
    }
    const wanted = filter.trim().toLowerCase();
    const skills = [...found.values()]
      .filter(({ name, description = '' }) => `${name}\n${description}`.toLowerCase().includes(wanted))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return { skills: skills.slice(0, MAX_LISTED_SKILLS), omitted: Math.max(0, skills.length - MAX_LISTED_SKILLS) };
  };

  const load = async (name: string, signal: AbortSignal): Promise<LoadedSkill> => {
    const all = await places(signal);
    let fault: string | undefined;
    for (const place of all.filter(({ shown }) => shown === name)) {
      if (place.root.origin === 'project') throw unreviewed(place);
      const skill = await read(place, SKILL_BYTES);
      if (signal.aborted) throw new CancelledError();
      if (!('fault' in skill)) return { name, ...(skill.version !== undefined && { version: skill.version }), body: skill.body };
      fault ??= skill.fault;
    }
    if (fault !== undefined) throw new SkillError('skill_invalid', `skill "${name}" cannot be loaded: ${fault}`, { value: name });
    throw unknown(name, all);
  };

  return { list, load };
}

function unreviewed({ shown, own, root }: Place): SkillError {
  return new SkillError(
    'skill_needs_review',
    `skill "${shown}" came with the project and nobody has reviewed it: it is not loaded. Ask the user to read ${root.folder}/${own}/SKILL.md and, if they agree with it, to copy its folder to the skills of their own, or to name a folder of theirs in skills.dirs.`,
    { value: shown },
  );
}

function unknown(name: string, all: readonly Place[]): SkillError {
  const value = name.slice(0, 160);
  const near = all.filter(({ own }) => own === name).map(({ shown }) => JSON.stringify(shown));
  const hint = near.length > 0 ? `there is ${near.slice(0, 5).join(', ')}` : 'skill_list gives the names';
  return new SkillError('skill_unknown', `there is no skill ${JSON.stringify(value)}; ${hint}`, { value });
}

import { BUNDLE_LIMITS } from './limits.ts';
import { type BundleProblem, problemList, shown } from './problem.ts';

const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const VERSION = /^[A-Za-z0-9._+-]{1,64}$/;
const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*$/;

export interface BundleSkill {
  readonly name: string;
  readonly description: string;
  /** Folder of the skill in the bundle. */
  readonly folder: string;
}

/** Folders directly below a root of skills that hold a `SKILL.md`, sorted. */
export function skillFolders(files: readonly string[], root: string): readonly string[] {
  const found = files.filter((path) => path.startsWith(`${root}/`) && /^[^/]+\/SKILL\.md$/.test(path.slice(root.length + 1)));
  return found.map((path) => path.slice(0, -'/SKILL.md'.length)).sort();
}

/** What one `SKILL.md` says. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** 1 to 64 of `A-Za-z0-9._+-`; another one is left out. */
  readonly version?: string;
  /** What stands behind the front matter. */
  readonly body: string;
}

/** Reads front matter with a name that is its folder's, and a description; or says what is wrong with it. */
export function parseSkill(own: string, text: string): SkillText | { readonly fault: string } {
  const [front = '', block] = FRONT_MATTER.exec(text) ?? [];
  if (block === undefined) return { fault: 'it does not begin with front matter between two lines "---"' };
  const { name = '', description = '', version = '' } = readFields(block);
  if (name.length > MAX_NAME || !SKILL_NAME.test(name)) {
    return { fault: `name must be 1 to ${MAX_NAME} of a-z, 0-9 and "-", not ${shown(name)}` };
  }
  if (name !== own) return { fault: `its name ${shown(name)} must be that of its folder, ${shown(own)}` };
  if (description.trim() === '' || description.length > MAX_DESCRIPTION) {
    return { fault: `description must be a text of 1 to ${MAX_DESCRIPTION} characters` };
  }
  return { name, description: description.trim(), ...(VERSION.test(version) && { version }), body: text.slice(front.length) };
}

/** Checks one `SKILL.md` of a bundle. */
export function readSkill(folder: string, text: string): { readonly skill?: BundleSkill; readonly problems: readonly BundleProblem[] } {
  const { problems, report } = problemList();
  const isTooLarge = new TextEncoder().encode(text).length > BUNDLE_LIMITS.skillBytes;
  const read = isTooLarge
    ? { fault: `it is larger than ${BUNDLE_LIMITS.skillBytes} bytes` }
    : parseSkill(folder.slice(folder.lastIndexOf('/') + 1), text);
  if ('fault' in read) {
    report('disabled', `${folder}/SKILL.md`, `is left out: ${read.fault}`);
    return { problems };
  }
  return { skill: { name: read.name, description: read.description, folder }, problems };
}

/** The plain fields of front matter: one line each, quoted or not, or a block behind `>` or `|`. */
function readFields(block: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  const lines = block.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const [, key, value = ''] = FIELD.exec(lines[at] ?? '') ?? [];
    if (key === undefined) continue;
    const style = /^([>|])[+-]?$/.exec(value)?.[1];
    if (style === undefined) {
      fields[key] = unquoted(value);
      continue;
    }
    const inner: string[] = [];
    while (/^(?:[ \t]|$)/.test(lines[at + 1] ?? 'x')) inner.push((lines[++at] ?? '').trim());
    fields[key] = inner.join(style === '>' ? ' ' : '\n').trim();
  }
  return fields;
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value.replace(/\s+#.*$/, '');
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}

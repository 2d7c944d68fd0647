import { displayText } from '../approvals/display.ts';

/** Something that is wrong with a bundle, or worth knowing. */
export interface BundleProblem {
  /** `refused`: nothing of the bundle is used. `disabled`: one component is left out. `note`: all is used. */
  readonly severity: 'refused' | 'disabled' | 'note';
  /** A file, perhaps with a line or a key: `plugin.json: name`, `lib/a.mts:12`. */
  readonly where: string;
  readonly text: string;
}

export type Report = (severity: BundleProblem['severity'], where: string, text: string) => void;

const MAX_SHOWN = 80;
/** A bundle that is wrong everywhere is not told of for ever. */
const MAX_PROBLEMS = 200;

/** A list of problems and what adds to it. Beyond a bound only a `refused` is added. */
export function problemList(): { readonly problems: BundleProblem[]; readonly report: Report } {
  const problems: BundleProblem[] = [];
  const report: Report = (severity, where, text) => {
    if (problems.length < MAX_PROBLEMS || severity === 'refused') problems.push({ severity, where: displayText(where, 300), text });
  };
  return { problems, report };
}

/** A foreign value in a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return displayText(text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One line for each problem, as a person reads it. */
export function problemLine({ severity, where, text }: BundleProblem): string {
  return `${severity === 'note' ? 'note' : severity}: ${where}: ${text}`;
}

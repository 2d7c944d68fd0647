import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { type CommandVerdict, classifyCommand } from '../../../core/danger/classify.ts';
import type { Place } from '../../../core/danger/place.ts';
import { DANGER_CLASSES, type DangerClass } from '../../../ports/approval.ts';

/** Where the commands of these tests run. */
export const PLACE: Place = { workspace: '/work/project', home: '/home/me', tempDirs: ['/tmp', '/var/tmp'] };

const parse = await createShellGrammar().load();

export function verdictOf(line: string, place: Place = PLACE): CommandVerdict {
  return classifyCommand(line, parse, place);
}

export function classesOf(line: string, place: Place = PLACE): readonly DangerClass[] {
  return [...verdictOf(line, place).findings.keys()];
}

/** Rank of the worst class. */
export function rankOf(classes: readonly DangerClass[]): number {
  return Math.max(...classes.map((cls) => DANGER_CLASSES.indexOf(cls)));
}

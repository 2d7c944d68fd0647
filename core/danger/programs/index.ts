import { nameOf } from '../place.ts';
import type { ProgramRule } from '../rules.ts';
import { BUILDING } from './building.ts';
import { GIT } from './git.ts';
import { NETWORK } from './network.ts';
import { READING } from './reading.ts';
import { RUNNING, VERSIONED, WRAPPERS, type WrapperRule } from './running.ts';
import { SYSTEM } from './system.ts';
import { WRITING } from './writing.ts';

export type { WrapperRule } from './running.ts';

const PROGRAMS: ReadonlyMap<string, ProgramRule> = new Map(
  Object.entries({ ...READING, ...WRITING, ...NETWORK, ...SYSTEM, ...BUILDING, ...RUNNING, git: GIT }),
);

/** Folders that the system fills: a program there is what its name says. */
const SYSTEM_BINARIES = new Set([
  '/bin',
  '/usr/bin',
  '/usr/local/bin',
  '/sbin',
  '/usr/sbin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/snap/bin',
]);

const MAX_NAME = 64;

/** A program's name without folder, case and version. */
export function programName(text: string): string {
  const name = nameOf(text).toLowerCase();
  if (name.startsWith('mkfs.')) return 'mkfs';
  if (name.length > MAX_NAME) return name;
  const plain = name.replace(/-?\d[\d.]*$/, '');
  return VERSIONED.has(plain) ? plain : name;
}

export function ruleOf(name: string): ProgramRule | undefined {
  return PROGRAMS.get(name);
}

export function wrapperOf(name: string): WrapperRule | undefined {
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
}

/** Whether a program's text names a file rather than something to look up. */
export function isFile(text: string): boolean {
  return text.includes('/') && !SYSTEM_BINARIES.has(text.slice(0, text.lastIndexOf('/')));
}

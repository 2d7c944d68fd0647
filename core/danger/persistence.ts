import type { FileChange } from '../../ports/plugin.ts';
import { nameOf, type Place } from './place.ts';
import { isPersistent, isSniffed } from './sensitive.ts';

/** What a file holds before a change; undefined where that is not known. */
export type Before = () => Promise<string | undefined>;

/**
 * Whether a change of a file makes something run later. Most files say so by their place. In a
 * `package.json` the scripts that run by themselves must differ afterwards; in other files whose content
 * counts, what is there afterwards decides. What is not known counts as yes.
 */
export async function makesPersistent(path: string, place: Place, change: FileChange | undefined, before: Before): Promise<boolean> {
  if (!isSniffed(path)) return isPersistent(path, place, undefined);
  // Also where it lies in a place that counts whatever is written.
  if (isPersistent(path, place, '')) return true;
  if (change === undefined) return true;
  const held = await before();
  const after = 'content' in change ? change.content : held === undefined ? undefined : changed(held, change);
  if (after === undefined) return true;
  if (nameOf(path).toLowerCase() !== 'package.json') return isPersistent(path, place, after);
  const scripts = ownScripts(after);
  if (scripts === undefined) return isPersistent(path, place, after);
  return scripts !== '' && scripts !== ownScripts(held ?? '');
}

function changed(text: string, { old, replacement, all = false }: Extract<FileChange, { readonly old: string }>): string {
  const windows = !text.includes(old) && text.includes('\r\n');
  const [from, to] = windows ? [withWindowsEnds(old), withWindowsEnds(replacement)] : [old, replacement];
  if (from === '') return text;
  return all ? text.split(from).join(to) : text.replace(from, () => to);
}

function withWindowsEnds(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

/** Scripts that npm and its like run without being told to: at an install, before or after another script. */
const RUNS_BY_ITSELF = /^(?:(?:pre|post).+|install|prepare|prepublish|prepublishonly|prepack|dependencies|uninstall)$/i;

/** Those scripts of a package file, in one text; undefined when it is no object in JSON. */
function ownScripts(text: string): string | undefined {
  if (text.trim() === '') return '';
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const { scripts } = value as { readonly scripts?: unknown };
    if (typeof scripts !== 'object' || scripts === null) return '';
    const own = Object.entries(scripts).filter(([name]) => RUNS_BY_ITSELF.test(name));
    return own.length === 0 ? '' : JSON.stringify(own.sort(([a], [b]) => (a < b ? -1 : 1)));
  } catch {
    return undefined;
  }
}

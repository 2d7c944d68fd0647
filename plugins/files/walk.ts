/** Levels below the start of a search. */
export const MAX_DEPTH = 32;
/** Entries looked at in one search. */
export const MAX_ENTRIES = 200_000;

const SKIPPED_FOLDERS = new Set(['node_modules', 'vendor', '__pycache__', 'target', 'dist', 'build']);

/** Folders that hold other people's or generated files, and hidden ones (`.next`, `.venv`, `.git`, …). */
export function isSkippedFolder(name: string): boolean {
  return name.startsWith('.') || SKIPPED_FOLDERS.has(name);
}

/** An entry's path as the next call can use it. */
export function joined(start: string, entry: string): string {
  const base = start.replace(/\/+$/, '');
  if (start.startsWith('/') && base === '') return `/${entry}`;
  const clean = base.replace(/^(?:\.\/+)+/, '');
  return clean === '' || clean === '.' ? entry : `${clean}/${entry}`;
}

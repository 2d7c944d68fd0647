/** Where a command runs. All paths are absolute, without links and without a slash at the end. */
export interface Place {
  readonly workspace: string;
  /** The user's home; absent when nobody knows it. */
  readonly home?: string | undefined;
  readonly tempDirs: readonly string[];
  /** `host:port` entries on this machine or in its network that the operator admitted. */
  readonly reachable?: readonly string[] | undefined;
}

/** Stands in a text for what is only known at run time. No path, word or program contains it. */
export const RUN_TIME = '\0';

/** Absolute and without `.`, `..` and repeated slashes; macOS's `/private` is taken off where it only doubles a folder. */
export function absolute(text: string, folder: string): string {
  const joined = text.startsWith('/') ? text : `${folder}/${text}`;
  const segments: string[] = [];
  for (const segment of joined.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  if (segments[0]?.toLowerCase() === 'private' && /^(?:tmp|var|etc)$/i.test(segments[1] ?? '')) segments.shift();
  return `/${segments.join('/')}`;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '/';
}

export type Zone = 'root' | 'workspace' | 'temp' | 'harmless' | 'disk' | 'wrecking' | 'outside';

const HARMLESS = new Set([
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/stdin',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/tty',
]);
const WRECKING = ['/boot', '/dev', '/proc', '/sys', '/mnt', '/media'];
const DISK_NAMES = ['sd', 'hd', 'vd', 'xvd', 'nvme', 'mmcblk', 'disk', 'rdisk', 'dm-', 'md', 'loop', 'mapper'];
const SHARED_TEMP = ['/dev/shm'];

/** Only an exact match is inside; only a loose one is dangerous: case counts for the first, not for the second. */
export function zoneOf(path: string, place: Place): Zone {
  if (path === '/') return 'root';
  if (isWithin(path, absolute(place.workspace, '/'))) return 'workspace';
  const lower = path.toLowerCase();
  if (HARMLESS.has(lower) || /^\/dev\/fd\/\d+$/.test(lower)) return 'harmless';
  if ([...place.tempDirs.map((folder) => absolute(folder, '/')), ...SHARED_TEMP].some((folder) => isWithin(path, folder))) return 'temp';
  if (lower.startsWith('/dev/') && DISK_NAMES.some((name) => lower.startsWith(`/dev/${name}`))) return 'disk';
  return WRECKING.some((folder) => isWithin(lower, folder)) ? 'wrecking' : 'outside';
}

import { hasCode } from '../../ports/errors.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { folderOf, isWithin } from './place.ts';

const MAX_CONFIG_BYTES = 64 * 1024;

/** Sections and keys of a repository's configuration that name nothing to run. */
const PLAIN_SECTIONS = new Set([
  'remote',
  'branch',
  'user',
  'color',
  'init',
  'advice',
  'push',
  'pull',
  'fetch',

  'index',
  'pack',
  'merge',
  'rebase',
  'commit',
  'log',
  'status',
  'tag',
  'rerere',
  'submodule',

  'safe',
  'column',
]);
const PLAIN_CORE = new Set([
  'repositoryformatversion',
  'filemode',
  'bare',
  'logallrefupdates',
  'ignorecase',
  'precomposeunicode',
  'symlinks',
  'autocrlf',
  'eol',
  'safecrlf',
  'quotepath',
  'abbrev',
  'longpaths',
  'compression',
  'preloadindex',
  'untrackedcache',
  'sparsecheckout',
  'sparsecheckoutcone',
  'excludesfile',
  'whitespace',
  'bigfilethreshold',
  'sharedrepository',
  'trustctime',
  'checkstat',
]);
const RUNNING_KEYS = new Set([
  'uploadpack',
  'receivepack',
  'vcs',
  'proxy',
  'driver',
  'update',
  'tool',
  'program',
  'template',
  'templatedir',
  'promisor',
  'partialclonefilter',
  'gpgsign',
  'showsignature',
  'forcesignannotated',
  'gpgsigned',
]);

/**
 * Why git would run something that the repository around `folder` names: a hook, or a setting that is
 * not known to be harmless. Undefined when it would not. What cannot be looked at counts as armed: a
 * repository that begins above `workspace`, a linked working tree, an unreadable configuration.
 */
export async function armedBecause(folder: string, workspace: string, fs: FileSystem): Promise<string | undefined> {
  try {
    for (let at = folder; isWithin(at, workspace); at = folderOf(at)) {
      if (await exists(`${at}/.git`, fs)) return await armedAt(at, fs);
      // A folder can be a repository without a working tree.
      if (await exists(`${at}/HEAD`, fs)) return `${at} looks like a repository itself`;
      if (at === '/') break;
    }
    return 'no repository begins in the working directory';
  } catch {
    return 'it cannot be looked at';
  }
}

async function exists(path: string, fs: FileSystem): Promise<boolean> {
  try {
    await fs.stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'not_found') || hasCode(error, 'not_directory')) return false;
    throw error;
  }
}

async function armedAt(folder: string, fs: FileSystem): Promise<string | undefined> {
  const { kind } = await fs.stat(`${folder}/.git`);
  if (kind !== 'directory') return 'its .git is no folder';
  const config = await fs.read(`${folder}/.git/config`, { maxBytes: MAX_CONFIG_BYTES });
  if (config.size > config.bytes.length) return 'its configuration is too long';
  return settingThatRuns(new TextDecoder().decode(config.bytes)) ?? (await hookIn(folder, fs));
}

async function hookIn(folder: string, fs: FileSystem): Promise<string | undefined> {
  try {
    for await (const { path, kind } of fs.list(`${folder}/.git/hooks`, { depth: 1 })) {
      if (!path.endsWith('.sample') && kind !== 'directory') return `it has the hook ${path}`;
    }
    return undefined;
  } catch (error) {
    return hasCode(error, 'not_found') ? undefined : 'its hooks cannot be looked at';
  }
}

function settingThatRuns(config: string): string | undefined {
  // A line that goes on in the next one could hide a key.
  if (config.includes('\\\n')) return 'its configuration has continued lines';
  let section = '';
  for (const line of config.split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\\]]|\\.)*")?\s*\](.*)$/.exec(line);
    if (header === null && /^\s*\[/.test(line)) return 'its configuration cannot be read';
    if (header) section = (header[1] ?? '').toLowerCase().split('.')[0] ?? '';
    const key = /^\s*([a-z][\w-]*)/i.exec(header ? (header[2] ?? '') : line)?.[1]?.toLowerCase();
    if (key !== undefined && !isPlain(section, key)) return `its configuration sets ${section}.${key}`;
    if (/^(?:!|ext::)/.test(line.slice(line.indexOf('=') + 1).replace(/["'\s]/g, '')))
      return `its configuration names a command in ${section}`;
  }
  return undefined;
}

function isPlain(section: string, key: string): boolean {
  if (section === 'core') return PLAIN_CORE.has(key);
  return PLAIN_SECTIONS.has(section) && !RUNNING_KEYS.has(key);
}

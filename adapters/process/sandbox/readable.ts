import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve, sep } from 'node:path';

/** Whole folders of the system that programs are made of. */
const SYSTEM = ['/usr', '/opt', '/nix'];
/** Folders of the system or links to them, whichever the machine has. */
const LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Of `/etc` what programs look up; nothing that holds passwords or keys. */
const ETC = [
  ...['passwd', 'group', 'nsswitch.conf', 'hosts', 'host.conf', 'resolv.conf', 'gai.conf', 'services', 'protocols', 'networks'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'localtime', 'timezone', 'locale.alias', 'locale.conf'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/ct_log_list.cnf', 'ca-certificates', 'ca-certificates.conf', 'pki/tls/certs', 'pki/ca-trust'],
  ...['crypto-policies', 'os-release', 'lsb-release', 'debian_version', 'redhat-release', 'alpine-release', 'issue', 'shells', 'profile'],
  ...['mime.types', 'magic', 'magic.mime', 'fonts', 'python3', 'python3.11', 'python3.12', 'perl', 'java', 'maven', 'inputrc', 'terminfo'],
].map((name) => `/etc/${name}`);

/** Folders of a home that hold a whole set of tools; one of them on the search path makes all of it readable. */
const TOOL_SETS = [
  ...['.nvm', '.fnm', '.volta', '.nodenv', '.pyenv', '.rbenv', '.asdf', '.sdkman', '.rustup', '.bun/bin', '.deno/bin', '.pnpm-store'],
  ...['.local/share/mise', '.local/share/fnm', '.local/share/nvm', '.local/share/pnpm', '.local/share/uv', '.n'],
];
/** A place for keys and settings otherwise, where nvm puts itself on some machines. */
const NVM_IN_CONFIG = '.config/nvm';
/** On the search path for its programs, which look for the rest in the second. */
const COMPANIONS: readonly (readonly [string, string])[] = [['.cargo/bin', '.rustup']];

/** Folders and files of a home that hold secrets. */
export const SECRET_FOLDERS = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.config', '.password-store', '.local/share/keyrings', '.mozilla'],
  ...['.thunderbird', '.gcloud', '.terraform.d', '.m2', '.gradle', '.pki', '.cache/huggingface', '.huggingface'],
];
export const SECRET_FILES = [
  ...['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass', '.my.cnf', '.vault-token', '.bash_history', '.zsh_history'],
  ...['.python_history', '.node_repl_history', '.psql_history', '.cargo/credentials', '.cargo/credentials.toml', '.env'],
];

/** Whether `path` is `folder` or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** What of the machine's own folders is readable, as far as it exists. */
export function systemFolders(): { readonly readable: readonly string[]; readonly links: readonly (readonly [string, string])[] } {
  const found = LINKS.filter((path) => existsSync(path));
  const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink();
  return {
    readable: [...SYSTEM, ...ETC, ...found.filter((path) => !isLink(path))].filter((path) => existsSync(path)),
    links: found.filter(isLink).map((path) => [path, readlinkSync(path)] as const),
  };
}

export interface ToolPlaces {
  /** The search path for programs. */
  readonly path: string;
  readonly home: string | undefined;
  /** Folders that stay out of reach with all that is in them. */
  readonly closed: readonly string[];
}

/**
 * Folders outside the system that the search path for programs leads to, with what belongs to their
 * programs. A folder that holds the home folder or one of `closed` is left out, and so is one inside
 * of those.
 */
export function toolFolders({ path, home, closed }: ToolPlaces): readonly string[] {
  const isOpen = (folder: string): boolean =>
    !closed.some((each) => isWithin(folder, each) || isWithin(each, folder)) && (home === undefined || !isWithin(home, folder));
  const exempt = home === undefined ? '' : join(home, NVM_IN_CONFIG);
  const found = path
    .split(':')
    .filter((folder) => isAbsolute(folder) && existsSync(folder))
    .map((folder) => resolve(normalize(folder)))
    .filter((folder) => ![...SYSTEM, ...LINKS].some((each) => isWithin(folder, each)))
    .flatMap((folder) => belongings(folder, home))
    .filter((folder) => existsSync(folder) && [folder, realpathSync(folder)].every((each) => isOpen(each) || each === exempt));
  return [...new Set(found)];
}

/** The folder and what its programs need beside it. */
function belongings(folder: string, home: string | undefined): readonly string[] {
  const set =
    home === undefined ? undefined : [...TOOL_SETS, NVM_IN_CONFIG].map((name) => join(home, name)).find((each) => isWithin(folder, each));
  if (set !== undefined) return [set];
  if (folder.endsWith('/node_modules/.bin')) return [dirname(folder)];
  const companions = COMPANIONS.filter(([bin]) => home !== undefined && folder === join(home, bin)).map(([, other]) =>
    join(home ?? '', other),
  );
  const prefix = dirname(folder);
  if (!folder.endsWith('/bin')) return [folder, ...companions];
  if (existsSync(join(prefix, 'pyvenv.cfg'))) return [prefix];
  return [folder, join(prefix, 'lib'), join(prefix, 'libexec'), ...companions];
}

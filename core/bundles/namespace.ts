import { type BundleCapabilities, HOST_SERVICES, type HostServiceName } from '../../ports/bundle.ts';
import { BUNDLE_LIMITS } from './limits.ts';
import { bundlePath, extensionOf } from './paths.ts';
import { isObject, type Report, shown } from './problem.ts';

/** Systems by the names that node has for them. */
const SYSTEMS: Readonly<Record<string, string>> = {
  linux: 'linux',
  macos: 'darwin',
  darwin: 'darwin',
  windows: 'win32',
  win32: 'win32',
  freebsd: 'freebsd',
  openbsd: 'openbsd',
};

/** What our part of `extensions` says. */
export interface BundleNamespace {
  /** Paths of modules, in the order in which they are activated, each once. */
  readonly native: readonly string[];
  /** Folders of skills beside `skills/`. */
  readonly skills: readonly string[];
  readonly capabilities: BundleCapabilities;
  readonly when: {
    /** As `process.platform` has them. Empty: every one. */
    readonly os: readonly string[];
    /** Programs that must be found. */
    readonly binaries: readonly string[];
  };
}

export const NO_CAPABILITIES: BundleCapabilities = { hostServices: [], networkHosts: [], filesystemRoots: [], lifecycleMutation: false };

export const ENTRY_EXTENSIONS: readonly string[] = ['.mjs', '.js', '.mts'];

interface Place {
  readonly where: string;
  readonly report: Report;
}

export interface NamespacePlace extends Place {
  /** The namespace is the one that is read in place of ours. */
  readonly foreign: boolean;
}

const KEYS = ['native', 'skills', 'capabilities', 'when'];
/** Parts of the other namespace that are for show, or that odek has nothing for. */
const SHOW_KEYS = ['display_name', 'icon'];
const UNSUPPORTED_KEYS = ['commands', 'agents', 'hooks', 'lsp', 'providers'];
const CAPABILITY_KEYS = ['filesystem_roots', 'network_hosts', 'lifecycle_mutation', 'host_services'];

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
const MAX_HOST = 253;
const PROGRAM = /^[A-Za-z0-9._+-]{1,128}$/;

/** Reads our part of `extensions`: a closed object of closed objects. What is wrong refuses the bundle. */
export function readNamespace(value: unknown, { where, foreign, report }: NamespacePlace): BundleNamespace {
  const place: Place = { where, report };
  const known = foreign ? [...KEYS, ...SHOW_KEYS, ...UNSUPPORTED_KEYS] : KEYS;
  const object = closed(value, known, place);
  if (foreign) {
    for (const key of UNSUPPORTED_KEYS) {
      if (object[key] !== undefined) report('disabled', `${where}.${key}`, 'is left out: odek loads no such component');
    }
  }
  return {
    native: readComponent(object.native, { where: `${where}.native`, report }).filter((path) => isEntry(path, place)),
    skills: readComponent(object.skills, { where: `${where}.skills`, report }),
    capabilities: readCapabilities(object.capabilities, { where: `${where}.capabilities`, report }),
    when: readWhen(object.when, { where: `${where}.when`, report }),
  };
}

function isEntry(path: string, { where, report }: Place): boolean {
  if (ENTRY_EXTENSIONS.includes(extensionOf(path)) && !path.endsWith('.d.mts')) return true;
  report('refused', `${where}.native`, `${shown(path)} must be one file that ends with ${ENTRY_EXTENSIONS.join(', ')}`);
  return false;
}

/** The members of an object that may hold nothing but `keys`. An absent one is empty. */
function closed(value: unknown, keys: readonly string[], { where, report }: Place): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (!isObject(value)) {
    report('refused', where, `must be an object, not ${shown(value)}`);
    return {};
  }
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) report('refused', where, `has the key ${shown(key)}; it may have ${keys.join(', ')}`);
  }
  return value;
}

/** `path` first, then `paths`; the same path twice is one. */
function readComponent(value: unknown, place: Place): readonly string[] {
  const { path, paths = [] } = closed(value, ['path', 'paths'], place);
  const { where, report } = place;
  if (value !== undefined && isObject(value) && path === undefined && value.paths === undefined) {
    report('refused', where, 'names neither path nor paths');
  }
  if (!Array.isArray(paths)) {
    report('refused', `${where}.paths`, `must be a list, not ${shown(paths)}`);
    return [];
  }
  const given: readonly unknown[] = path === undefined ? paths : [path, ...paths];
  if (given.length > BUNDLE_LIMITS.componentPaths) {
    report('refused', where, `names ${given.length} paths, the limit is ${BUNDLE_LIMITS.componentPaths}`);
    return [];
  }
  const found = new Set<string>();
  for (const each of given) {
    const checked = typeof each === 'string' ? bundlePath(each) : { refused: 'it is no text' };
    if ('path' in checked) found.add(checked.path);
    else report('refused', where, `${shown(each)} is no path of the bundle: ${checked.refused}`);
  }
  return [...found];
}

function readCapabilities(value: unknown, place: Place): BundleCapabilities {
  const given = closed(value, CAPABILITY_KEYS, place);
  const { where, report } = place;
  const services = texts(given.host_services, { where: `${where}.host_services`, report });
  for (const name of services) {
    if (!isService(name))
      report('refused', `${where}.host_services`, `${shown(name)} is no service; there are ${HOST_SERVICES.join(', ')}`);
  }
  const hosts = texts(given.network_hosts, { where: `${where}.network_hosts`, report });
  for (const host of hosts) {
    if (host.length > MAX_HOST || !HOST.test(host) || Number(/:(\d+)$/.exec(host)?.[1] ?? 1) > 65_535) {
      report('refused', `${where}.network_hosts`, `${shown(host)} must be a host in lower case, or host:port, without "*", path or scheme`);
    }
  }
  const roots = texts(given.filesystem_roots, { where: `${where}.filesystem_roots`, report });
  for (const root of roots) {
    const why = rootProblem(root);
    if (why !== undefined) report('refused', `${where}.filesystem_roots`, `${shown(root)} is no folder that can be granted: ${why}`);
  }
  const { lifecycle_mutation: mutation = false } = given;
  if (typeof mutation !== 'boolean') report('refused', `${where}.lifecycle_mutation`, `must be true or false, not ${shown(mutation)}`);
  return {
    hostServices: sorted(services.filter(isService)),
    networkHosts: sorted(hosts),
    filesystemRoots: sorted(roots),
    lifecycleMutation: mutation === true,
  };
}

function isService(name: string): name is HostServiceName {
  return (HOST_SERVICES as readonly string[]).includes(name);
}

/** `.` is the workspace; other relative folders lie in it. */
function rootProblem(root: string): string | undefined {
  if (root === '.') return undefined;
  const checked = bundlePath(root.startsWith('/') ? root.slice(1) : root);
  if ('path' in checked) return undefined;
  return root === '/' ? 'it is everything' : checked.refused;
}

function readWhen(value: unknown, place: Place): BundleNamespace['when'] {
  const given = closed(value, ['os', 'binaries'], place);
  const { where, report } = place;
  const os = texts(given.os, { where: `${where}.os`, report });
  for (const name of os) {
    if (!Object.hasOwn(SYSTEMS, name)) report('refused', `${where}.os`, `${shown(name)} must be one of ${Object.keys(SYSTEMS).join(', ')}`);
  }
  const binaries = texts(given.binaries, { where: `${where}.binaries`, report });
  for (const name of binaries) {
    if (!PROGRAM.test(name)) report('refused', `${where}.binaries`, `${shown(name)} must be the name of a program, without a path`);
  }
  return { os: sorted(os.map((name) => SYSTEMS[name] ?? name)), binaries: sorted(binaries) };
}

function texts(value: unknown, { where, report }: Place): readonly string[] {
  if (value === undefined) return [];
  const limit = BUNDLE_LIMITS.capabilityEntries;
  if (Array.isArray(value) && value.length <= limit && value.every((each) => typeof each === 'string')) return value;
  report('refused', where, `must be a list of at most ${limit} texts, not ${shown(value)}`);
  return [];
}

function sorted<Text extends string>(values: readonly Text[]): readonly Text[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : 1));
}

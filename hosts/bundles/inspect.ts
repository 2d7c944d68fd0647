import { readModule } from '../../adapters/bundles/read-module.ts';
import { type WalkedFile, type WalkOptions, walkBundle } from '../../adapters/bundles/walk.ts';
import { type BundleAsks, capabilityHash, contentHash } from '../../core/bundles/hashes.ts';
import { BUNDLE_LIMITS } from '../../core/bundles/limits.ts';
import { type BundleManifest, parseManifest } from '../../core/bundles/manifest.ts';
import { type BundleMcpDefinition, parseMcpFile } from '../../core/bundles/mcp-file.ts';
import { type ModuleFacts, moduleClosure } from '../../core/bundles/modules.ts';
import { bundlePath } from '../../core/bundles/paths.ts';
import { type BundleProblem, problemList, type Report } from '../../core/bundles/problem.ts';
import { type BundleSkill, readSkill, skillFolders } from '../../core/bundles/skill-file.ts';
import type { BundleScope } from '../../ports/bundle.ts';
import type { Hash } from '../../ports/hash.ts';

/** A bundle as it is on disk at this moment. Nothing of it was run. */
export interface Inspection {
  readonly folder: string;
  /** Undefined: it is no bundle that could be used; `problems` says why. */
  readonly manifest: BundleManifest | undefined;
  readonly files: readonly WalkedFile[];
  readonly bytes: number;
  readonly content: string;
  readonly capability: string;
  readonly asks: BundleAsks | undefined;
  readonly mcpServers: readonly BundleMcpDefinition[];
  readonly skills: readonly BundleSkill[];
  /** Folders of skills, relative to the bundle. */
  readonly skillRoots: readonly string[];
  readonly computed: readonly string[];
  readonly problems: readonly BundleProblem[];
}

export interface InspectPlace {
  readonly scope: BundleScope;
  readonly workspace?: string;
  /** What the bundle must be called: its folder's name. Absent: it is not at its place yet. */
  readonly name?: string;
}

const KEPT = /(?:^(?:plugin|mcp)\.json$|(?:^|\/)SKILL\.md$|\.(?:mjs|js|mts)$)/;
const SKILLS = 'skills';

/** How a bundle's folder is read, wherever it is. */
export function walkOptions(hash: Hash, signal?: AbortSignal): Omit<WalkOptions, 'onFile'> {
  return {
    hash,
    limits: BUNDLE_LIMITS,
    nameProblem: (path) => {
      const checked = bundlePath(path);
      return 'refused' in checked ? checked.refused : undefined;
    },
    ...(signal !== undefined && { signal }),
  };
}

/** True where nothing is wrong that keeps all of it from being used. */
export function isUsable(found: Inspection): found is Inspection & { readonly manifest: BundleManifest; readonly asks: BundleAsks } {
  return found.asks !== undefined && !found.problems.some(({ severity }) => severity === 'refused');
}

/** Reads and judges a bundle. Rejects with `BundleError` for a folder that is none, or holds what no bundle may hold. */
export async function inspectBundle(folder: string, place: InspectPlace, hash: Hash, signal?: AbortSignal): Promise<Inspection> {
  const kept = new Map<string, Uint8Array>();
  const files = await walkBundle(folder, {
    ...walkOptions(hash, signal),
    onFile: ({ path }, bytes) => {
      if (KEPT.test(path)) kept.set(path, bytes);
    },
  });
  const { problems, report } = problemList();
  const base = {
    folder,
    files,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    content: contentHash(files, hash),
    problems,
  };
  const manifest = readManifest(kept.get('plugin.json'), place, problems, report);
  if (manifest === undefined) {
    return { ...base, manifest, capability: '', asks: undefined, mcpServers: [], skills: [], skillRoots: [], computed: [] };
  }
  const paths = files.map(({ path }) => path);
  const mcpServers = readServers(manifest, paths, kept, problems, report);
  const { skills, roots } = readSkills(manifest, paths, kept, problems, report);
  const closure = moduleClosure({ entries: manifest.native, files: paths, factsOf: factsReader(kept) });
  problems.push(...closure.problems);
  const asks: BundleAsks = {
    name: manifest.name,
    scope: place.scope,
    ...(place.workspace !== undefined && { workspace: place.workspace }),
    native: manifest.native,
    imports: closure.imports,
    capabilities: manifest.capabilities,
    mcpServers,
    skills: skills.map(({ folder: path }) => path),
  };
  return {
    ...base,
    manifest,
    capability: capabilityHash(asks, hash),
    asks,
    mcpServers,
    skills,
    skillRoots: roots,
    computed: closure.computed,
  };
}

/** Text of a file; undefined for bytes that are no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readManifest(
  bytes: Uint8Array | undefined,
  place: InspectPlace,
  problems: BundleProblem[],
  report: Report,
): BundleManifest | undefined {
  if (bytes === undefined) {
    report('refused', 'plugin.json', 'is missing: it makes a folder a plugin');
    return undefined;
  }
  if (bytes.length > BUNDLE_LIMITS.manifestBytes) {
    report('refused', 'plugin.json', `has ${bytes.length} bytes, the limit is ${BUNDLE_LIMITS.manifestBytes}`);
    return undefined;
  }
  const text = textOf(bytes);
  if (text === undefined) {
    report('refused', 'plugin.json', 'is not UTF-8');
    return undefined;
  }
  const parsed = parseManifest(text);
  problems.push(...parsed.problems);
  const name = parsed.manifest?.name;
  if (name !== undefined && place.name !== undefined && name !== place.name) {
    report('refused', 'plugin.json: name', `is "${name}", and its folder is called otherwise; they must be the same`);
    return undefined;
  }
  return parsed.manifest;
}

function factsReader(kept: ReadonlyMap<string, Uint8Array>): (path: string) => ModuleFacts | undefined {
  const known = new Map<string, ModuleFacts>();
  return (path) => {
    const bytes = kept.get(path);
    if (bytes === undefined || path === 'plugin.json' || path === 'mcp.json') return undefined;
    const found = known.get(path) ?? factsOf(path, textOf(bytes));
    known.set(path, found);
    return found;
  };
}

function factsOf(path: string, text: string | undefined): ModuleFacts {
  if (text !== undefined) return readModule(path, text);
  return { imports: [], exports: [], starExports: [], broken: { line: 1, text: 'is not UTF-8' } };
}

function readServers(
  manifest: BundleManifest,
  paths: readonly string[],
  kept: ReadonlyMap<string, Uint8Array>,
  problems: BundleProblem[],
  report: Report,
): readonly BundleMcpDefinition[] {
  const bytes = kept.get('mcp.json');
  if (bytes === undefined) {
    if (paths.some((path) => path.startsWith('mcp.json/'))) report('disabled', 'mcp.json', 'is left out: it is a folder');
    return [];
  }
  const text = bytes.length > BUNDLE_LIMITS.manifestBytes ? undefined : textOf(bytes);
  if (text === undefined) {
    report('disabled', 'mcp.json', `is left out: it is no UTF-8 text of at most ${BUNDLE_LIMITS.manifestBytes} bytes`);
    return [];
  }
  const known = new Set(paths);
  const parsed = parseMcpFile(text, { ...manifest, hasFile: (path) => known.has(path) });
  problems.push(...parsed.problems);
  return parsed.servers;
}

function readSkills(
  manifest: BundleManifest,
  paths: readonly string[],
  kept: ReadonlyMap<string, Uint8Array>,
  problems: BundleProblem[],
  report: Report,
): { readonly skills: readonly BundleSkill[]; readonly roots: readonly string[] } {
  if (paths.includes(SKILLS)) report('disabled', SKILLS, 'is left out: it is no folder');
  const skills: BundleSkill[] = [];
  const roots: string[] = [];
  for (const root of new Set([SKILLS, ...manifest.skills])) {
    const folders = skillFolders(paths, root);
    if (root !== SKILLS && folders.length === 0) report('disabled', root, 'is left out: it holds no <folder>/SKILL.md');
    const before = skills.length;
    for (const folder of folders) {
      const text = textOf(kept.get(`${folder}/SKILL.md`) ?? new Uint8Array());
      const read = text === undefined ? undefined : readSkill(folder, text);
      if (read === undefined) report('disabled', `${folder}/SKILL.md`, 'is left out: it is not UTF-8');
      else problems.push(...read.problems);
      if (read?.skill === undefined) continue;
      if (skills.length < BUNDLE_LIMITS.skills) skills.push(read.skill);
      else report('disabled', folder, `is left out: a plugin has at most ${BUNDLE_LIMITS.skills} skills`);
    }
    if (skills.length > before) roots.push(root);
  }
  return { skills, roots };
}

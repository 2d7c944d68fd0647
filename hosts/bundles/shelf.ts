import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  bundleFolders,
  differingPath,
  installCopy,
  openSnapshot,
  pruneSnapshots,
  readText,
  removeTree,
  stageBundle,
} from '../../adapters/bundles/snapshot.ts';
import { type BundleState, createBundleState } from '../../adapters/bundles/state.ts';
import { bundleChanges } from '../../core/bundles/changes.ts';
import { parseToken } from '../../core/bundles/hashes.ts';
import { problemLine } from '../../core/bundles/problem.ts';
import { type BundleRecord, newRecord, parseRecord, withEnabled, withoutTrust, withReview, withTrust } from '../../core/bundles/record.ts';
import { reviewLines } from '../../core/bundles/review.ts';
import { grantKey } from '../../core/extensions/groups.ts';
import { type BundleActor, BundleError, type BundleScope } from '../../ports/bundle.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';
import { nearest } from '../cli/nearest.ts';
import { type Inspection, inspectBundle, isUsable, walkOptions } from './inspect.ts';
import { type BundlePlaces, bundleId, dataDirOf } from './places.ts';
import { type BundleStatus, standingOf } from './standing.ts';

export interface ShelfOptions {
  readonly places: BundlePlaces;
  readonly hash: Hash;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (text: string) => void;
  /** `extension_host.allow_unsandboxed`; a review says so. Default: false. */
  readonly unsandboxed?: boolean;
}

/** The bundles that are there, and what people decided about them. */
export interface Shelf {
  /** The user's first, then the workspace's, by name. */
  list(): Promise<readonly BundleStatus[]>;
  /** By name, or `user:name`, `workspace:name`. Rejects with `plugin_not_found`, which names the nearest. */
  find(name: string): Promise<BundleStatus>;
  /** Looks at a folder that is not installed. */
  validate(folder: string): Promise<Inspection>;
  /** Copies a folder to the user's plugins and runs nothing. */
  install(folder: string, options: { readonly replace: boolean }): Promise<BundleStatus>;
  /** The review of a bundle; that it was shown is kept. */
  review(name: string, by: BundleActor): Promise<readonly string[]>;
  /** Takes the token that a review printed. Runs nothing and switches nothing on. */
  trust(token: string, by: BundleActor): Promise<BundleStatus>;
  /** `undefined` switches off. Rejects with `plugin_not_trusted` where nothing, or something else, was trusted. */
  enable(name: string, by: BundleActor | undefined): Promise<BundleStatus>;
  revoke(name: string): Promise<BundleStatus>;
  /** Removes a user's bundle and what was decided about it. What it keeps in its data folder stays. */
  remove(name: string): Promise<BundleStatus>;
  /** Changes after each decision, by whichever process. */
  stamp(): string;
}

const MAX_BUNDLES = 256;
const MAX_SHOWN_TEXT = 256 * 1024;
const SNAPSHOT_AGE_MS = 60 * 60_000;
const SCOPES: readonly BundleScope[] = ['user', 'workspace'];

export function openShelf(options: ShelfOptions): Shelf {
  const { places, hash, env } = options;
  const state = createBundleState({ file: places.stateFile, warn: options.warn });

  const statusOf = async (scope: BundleScope, name: string, records: Readonly<Record<string, unknown>>): Promise<BundleStatus> => {
    const where = { scope, ...(scope === 'workspace' && { workspace: places.workspace }) };
    const folder = join(places.folders[scope], name);
    const id = bundleId({ ...where, name }, hash);
    let unreadable = '';
    const inspection = await inspectBundle(folder, { ...where, name }, hash).catch((error: unknown) => {
      unreadable = (error as Error).message;
      return undefined;
    });
    return standingOf({ ...where, id, name, folder, record: parseRecord(records[id]) }, inspection, unreadable, env);
  };

  const list = async (): Promise<readonly BundleStatus[]> => {
    const records = await state.read();
    const found: BundleStatus[] = [];
    for (const scope of SCOPES) {
      for (const name of await bundleFolders(places.folders[scope], MAX_BUNDLES)) found.push(await statusOf(scope, name, records));
    }
    return found;
  };

  const find = async (given: string): Promise<BundleStatus> => {
    const [, scope, name = given] = /^(user|workspace):(.*)$/.exec(given) ?? [];
    const names: string[] = [];
    const found: [BundleScope, string][] = [];
    for (const each of SCOPES) {
      const all = await bundleFolders(places.folders[each], MAX_BUNDLES);
      names.push(...all);
      if (all.includes(name) && (scope === undefined || scope === each)) found.push([each, name]);
    }
    const [first, second] = found;
    if (first === undefined) throw notFound(name, names);
    if (second !== undefined) {
      throw new BundleError('plugin_not_found', `there are two plugins "${name}"; say user:${name} or workspace:${name}`, { value: name });
    }
    return statusOf(...first, await state.read());
  };

  const change = (status: BundleStatus, next: (record: BundleRecord) => BundleRecord): Promise<BundleRecord> =>
    state.change((held) => {
      const result = next(parseRecord(held[status.id]) ?? newRecord(status));
      return { records: { ...held, [status.id]: result }, result };
    });

  const again = (status: BundleStatus): Promise<BundleStatus> => find(`${status.scope}:${status.name}`);
  const prune = (): Promise<void> => pruneUnused(state, places);

  return {
    list,
    find,
    validate: (folder) => inspectBundle(folder, { scope: 'user' }, hash),
    async install(folder, { replace }) {
      const target = await installCopy(folder, {
        ...walkOptions(hash),
        into: places.folders.user,
        replace,
        nameOf: (copy) => checkedName(copy, places.folders.user, hash),
      });
      return find(`user:${target.slice(places.folders.user.length + 1)}`);
    },
    async review(name, by) {
      const status = await find(name);
      const found = usable(status);
      const { version } = found.manifest;
      const lines = reviewLines({
        ...found,
        files: found.files.length,
        unsandboxed: options.unsandboxed === true,
        shares: (await list()).filter((each) => sharesProcess(each, status)).map((each) => each.name),
        dataDir: dataDirOf(places, status.name, status.id),
        ...(await sinceTrust(status, found)),
      });
      const review = { content: found.content, capability: found.capability, ...(version !== undefined && { version }), by };
      await change(status, (record) => withReview(record, review));
      return lines;
    },
    async trust(token, by) {
      const status = await reviewed(token);
      const found = usable(status);
      const parsed = parseToken(token);
      if (found.content !== parsed?.content || found.capability !== parsed.capability) {
        throw new BundleError(
          'plugin_changed',
          `the plugin "${status.name}" changed since that review; run: odek plugin review ${status.name}`,
          {
            value: token,
          },
        );
      }
      await ensureStaged(places, hash, found, 'again');
      await change(status, (record) => withTrust(record, { ...parsed, asks: found.asks, by }));
      await prune();
      return again(status);
    },
    async enable(name, by) {
      const status = await find(name);
      if (by !== undefined && !['trusted', 'on', 'elsewhere'].includes(status.standing)) {
        throw new BundleError('plugin_not_trusted', `the plugin "${status.name}" cannot be switched on: ${status.why}`, {
          value: status.name,
        });
      }
      const { inspection } = status;
      await change(status, (record) => {
        const same = record.trust?.content === inspection?.content && record.trust?.capability === inspection?.capability;
        if (by !== undefined && !same)
          throw new BundleError('plugin_changed', `the plugin "${status.name}" changed just now`, { value: status.name });
        return withEnabled(record, by);
      });
      return again(status);
    },
    async revoke(name) {
      const status = await find(name);
      await change(status, withoutTrust);
      await prune();
      return again(status);
    },
    async remove(name) {
      const status = await find(name);
      if (status.scope === 'workspace') {
        throw new BundleError(
          'plugin_unsupported',
          `"${status.name}" belongs to the project; delete ${status.folder} yourself, or: odek plugin revoke ${status.name}`,
          {
            value: status.name,
          },
        );
      }
      await state.change((held) => {
        const { [status.id]: _gone, ...records } = held;
        return { records, result: undefined };
      });
      await removeTree(status.folder);
      await prune();
      return status;
    },
    stamp: state.stamp,
  };

  /** The bundle whose review printed the token. */
  async function reviewed(token: string): Promise<BundleStatus> {
    const parsed = parseToken(token);
    if (parsed === undefined) {
      throw new BundleError(
        'plugin_token_mismatch',
        'a trust token is two hashes of 64 hex digits with a dot between; "odek plugin review <name>" prints it',
        {
          value: token.slice(0, 140),
        },
      );
    }
    const records = Object.values(await state.read())
      .map(parseRecord)
      .filter(
        (record) =>
          record?.reviews.some(({ content, capability }) => content === parsed.content && capability === parsed.capability) === true,
      );
    const here = records.find((record) => record?.scope === 'user' || record?.workspace === places.workspace);
    if (here !== undefined) return find(`${here.scope}:${here.name}`);
    const [elsewhere] = records;
    const why =
      elsewhere === undefined
        ? 'no review printed this token; run: odek plugin review <name>'
        : `this token is of a plugin of the project ${elsewhere.workspace}; trust it there`;
    throw new BundleError('plugin_token_mismatch', why, { value: token });
  }

  async function sinceTrust(status: BundleStatus, found: Inspection): Promise<object> {
    const trust = status.record?.trust;
    if (trust === undefined) return {};
    const into = join(places.snapshots, trust.content);
    const old = await openSnapshot(into, walkOptions(hash)).catch(() => undefined);
    if (old === undefined)
      return { before: { asks: trust.asks, changes: ['(the copy of what was trusted is gone, so that files cannot be compared)'] } };
    const texts = async (folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> =>
      new Map(await Promise.all(paths.map(async (path) => [path, await readText(join(folder, path), MAX_SHOWN_TEXT)] as const)));
    const was = new Map(old.files.map(({ path, sha256 }) => [path, sha256]));
    const is = new Map(found.files.map(({ path, sha256 }) => [path, sha256]));
    const differing = [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path));
    const [before, after] = [await texts(old.source, differing), await texts(found.folder, differing)];
    const changes = bundleChanges({
      before: old.files,
      after: found.files,
      textBefore: (path) => before.get(path),
      textAfter: (path) => after.get(path),
    });
    return { before: { asks: trust.asks, changes } };
  }
}

/**
 * The staged copy of a bundle whose bytes were just compared with what is trusted; made anew where it is not there
 * or another version made it. A copy that is not whole rejects with `plugin_changed`, or with `again` is made anew.
 */
export async function ensureStaged(places: BundlePlaces, hash: Hash, found: Inspection, damaged: 'refuse' | 'again') {
  const into = join(places.snapshots, found.content);
  const open = async () => {
    const snapshot = await openSnapshot(into, walkOptions(hash));
    const path = snapshot === undefined ? undefined : differingPath(snapshot.files, found.files);
    if (path !== undefined)
      throw new BundleError('plugin_changed', `${path} changed in the copy of what was reviewed, ${into}`, { value: path });
    return snapshot;
  };
  const there = await open().catch((error: unknown) => {
    if (damaged === 'again') return undefined;
    throw error;
  });
  if (there !== undefined) return there;
  await stageBundle({ ...walkOptions(hash), folder: found.folder, into, reviewed: found.files });
  const made = await open();
  if (made === undefined) throw new BundleError('plugin_changed', `${into} went away while it was made`, { value: into });
  return made;
}

async function pruneUnused(state: BundleState, { snapshots }: BundlePlaces): Promise<void> {
  const trusted = Object.values(await state.read()).map((record) => parseRecord(record)?.trust?.content);
  await pruneSnapshots(snapshots, new Set(trusted.filter((content) => content !== undefined)), SNAPSHOT_AGE_MS);
}

function usable(status: BundleStatus) {
  const { inspection, name, why } = status;
  if (inspection !== undefined && isUsable(inspection)) return inspection;
  const problems = inspection?.problems.map(problemLine) ?? [why];
  throw new BundleError('plugin_invalid', [`the plugin "${name}" cannot be used:`, ...problems].join('\n  '), { value: name });
}

function notFound(name: string, names: readonly string[]): BundleError {
  const near = nearest(name, names);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return new BundleError('plugin_not_found', `there is no plugin "${name.slice(0, 80)}"${hint} (odek plugin list shows them)`, {
    value: name,
  });
}

/** Whether the code of both would run in one process, were both on. `other` is. */
function sharesProcess(other: BundleStatus, status: BundleStatus): boolean {
  const [theirs, ours] = [other.inspection?.asks, status.inspection?.asks];
  if (other.standing !== 'on' || other.id === status.id || theirs === undefined || ours === undefined || theirs.native.length === 0)
    return false;
  return grantKey(theirs) === grantKey(ours);
}

/** The name of a copy that may take its place among the user's plugins. */
async function checkedName(copy: string, into: string, hash: Hash): Promise<string> {
  const found = await inspectBundle(copy, { scope: 'user' }, hash);
  if (!isUsable(found)) {
    throw new BundleError('plugin_invalid', ['it cannot be installed:', ...found.problems.map(problemLine)].join('\n  '), { value: copy });
  }
  const { name } = found.manifest;
  if (/^state\.json/.test(name)) throw new BundleError('plugin_refused', `the name "${name}" is taken by odek`, { value: name });
  const target = join(into, name);
  const isTaken = (await lstat(target).catch(() => undefined)) !== undefined;
  const isBundle = (await lstat(join(target, 'plugin.json')).catch(() => undefined)) !== undefined;
  if (isTaken && !isBundle)
    throw new BundleError('plugin_exists', `${target} is there and is no plugin that was installed; give yours another name`, {
      value: name,
    });
  return name;
}

/** Whether an error is about one bundle, so that the others go on. */
export function isBundleTrouble(error: unknown): error is Error {
  return isOdekError(error) && error.code.startsWith('plugin_');
}

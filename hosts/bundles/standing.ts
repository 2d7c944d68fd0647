import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { BundleManifest } from '../../core/bundles/manifest.ts';
import { problemLine } from '../../core/bundles/problem.ts';
import type { BundleRecord } from '../../core/bundles/record.ts';
import type { BundleScope } from '../../ports/bundle.ts';
import { type Inspection, isUsable } from './inspect.ts';

/**
 * `invalid`: it cannot be used. `untrusted`: nobody agreed to it. `changed`: somebody agreed to something else.
 * `trusted`: it may be switched on. `on`: it is. `elsewhere`: it is, and asks for another machine.
 */
export type Standing = 'invalid' | 'untrusted' | 'changed' | 'trusted' | 'on' | 'elsewhere';

/** One bundle at its place, with what is known of it. */
export interface BundleStatus {
  readonly id: string;
  /** The name of its folder. */
  readonly name: string;
  readonly scope: BundleScope;
  readonly workspace?: string;
  readonly folder: string;
  /** Undefined where its folder could not be read. */
  readonly inspection: Inspection | undefined;
  readonly record: BundleRecord | undefined;
  readonly standing: Standing;
  /** Why it is not on, as one line; empty where it is. */
  readonly why: string;
}

type Place = Omit<BundleStatus, 'standing' | 'why' | 'inspection'>;

/** Judges a bundle that was looked at. `unreadable` is why its folder could not be read. */
export async function standingOf(
  place: Place,
  inspection: Inspection | undefined,
  unreadable: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BundleStatus> {
  const { record, name } = place;
  const be = (standing: Standing, why: string): BundleStatus => ({ ...place, inspection, standing, why });
  if (inspection === undefined) return be('invalid', unreadable);
  if (!isUsable(inspection)) {
    const [first] = inspection.problems.filter(({ severity }) => severity === 'refused').map(problemLine);
    return be('invalid', first ?? 'it cannot be used');
  }
  if (record?.trust === undefined) return be('untrusted', `nobody trusted it yet; run: odek plugin review ${name}`);
  if (record.trust.content !== inspection.content) {
    return be('changed', `its files are not those that were trusted; run: odek plugin review ${name}`);
  }
  if (record.trust.capability !== inspection.capability) {
    return be('changed', `what it may do is not what was trusted; run: odek plugin review ${name}`);
  }
  if (record.enabled === undefined) return be('trusted', `it is trusted and off; run: odek plugin enable ${name}`);
  const lacking = await whatIsLacking(inspection.manifest, env);
  return lacking === undefined ? be('on', '') : be('elsewhere', lacking);
}

/** What the machine lacks that the bundle asks for under `when`. */
async function whatIsLacking({ when }: BundleManifest, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  if (when.os.length > 0 && !when.os.includes(process.platform)) return `it is for ${when.os.join(', ')}, and this is ${process.platform}`;
  for (const name of when.binaries) {
    if (!(await isOnPath(name, env.PATH ?? ''))) return `it needs the program ${name}, which is not on the PATH`;
  }
  return undefined;
}

async function isOnPath(name: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter).filter((each) => each !== '')) {
    const found = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

import type { ActiveBundle } from '../../ports/bundle.ts';
import type { HostService } from '../../ports/extension-host.ts';

/** Services that core can give today. */
const OFFERED: readonly HostService[] = ['files', 'network', 'model'];

/** What a review granted: all that it showed, or nothing where one of it cannot be given. */
export function grantsOf({ capabilities }: Pick<ActiveBundle, 'capabilities'>): readonly HostService[] {
  const { hostServices } = capabilities;
  const isWhole = hostServices.every((service) => OFFERED.some((each) => each === service));
  return isWhole ? OFFERED.filter((service) => hostServices.includes(service)) : [];
}

/** The same for bundles that may share a process: everything that one of them was granted, all of them were. */
export function grantKey(bundle: Pick<ActiveBundle, 'capabilities' | 'scope' | 'workspace'>): string {
  const { networkHosts, filesystemRoots } = bundle.capabilities;
  const grants = grantsOf(bundle);
  return JSON.stringify([
    grants,
    grants.includes('network') ? networkHosts : [],
    grants.includes('files') ? filesystemRoots : [],
    bundle.scope === 'workspace' ? bundle.workspace : null,
  ]);
}

/** Bundles with code, one group for each distinct set of grants, in the order in which they came. */
export function groupBundles(bundles: readonly ActiveBundle[]): ReadonlyMap<string, readonly ActiveBundle[]> {
  const groups = new Map<string, ActiveBundle[]>();
  for (const bundle of bundles) {
    if (bundle.entries.length === 0) continue;
    const key = grantKey(bundle);
    groups.set(key, [...(groups.get(key) ?? []), bundle]);
  }
  return groups;
}

/** What discovery and OpenAPI speak of: the resources of the core and the virtual ones, by group and version. */
import type { ResourceInfo } from '../types.ts';
import { virtualResources } from './virtual-resources.ts';

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly ResourceInfo[];
}

export interface ServedGroup {
  readonly group: string;
  /** The preferred one first. */
  readonly versions: readonly ServedVersion[];
}

function rankOf(version: string): readonly [stability: number, major: number, minor: number] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [3, 0, 0];
  return [match[2] === undefined ? 0 : match[2] === 'beta' ? 1 : 2, -Number(match[1]), -Number(match[3] ?? 0)];
}

/** Sorts GA before beta before alpha, then the higher number first, then names that are no versions by the alphabet. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2] || (a < b ? -1 : a > b ? 1 : 0);
}

/** All groups, the core group first, the rest by name; versions and resources in discovery order. */
export function servedGroups(resources: readonly ResourceInfo[]): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceInfo[]>>();
  const own = new Set(resources.map(({ group, version, resource }) => `${group}/${version}/${resource}`));
  const virtual = virtualResources.filter(
    ({ group, version, resource }) => !own.has(`${group}/${version}/${resource}`),
  );
  for (const resource of [...resources, ...virtual]) {
    const versions = groups.get(resource.group) ?? new Map<string, ResourceInfo[]>();
    groups.set(resource.group, versions);
    versions.set(resource.version, [...(versions.get(resource.version) ?? []), resource]);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, versions]) => ({
      group,
      versions: [...versions]
        .toSorted(([a], [b]) => compareVersions(a, b))
        .map(([version, served]) => ({
          version,
          resources: served.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
        })),
    }));
}

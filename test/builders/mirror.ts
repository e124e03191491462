/** What the checks see of a cluster, for tests. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { configurationOf } from '../../simulator/invariants/configuration.ts';
import type { Mirror, Mirrored } from '../../simulator/invariants/mirror.ts';
import { ownershipOf } from '../../simulator/invariants/repair-ownership.ts';

/** A mirror of these objects, read anew at each question. Followers hear of no change. */
export function mirrorOf(objects: Partial<Record<Mirrored, readonly KubernetesObject[]>>): Mirror {
  const all: Mirror['all'] = resource =>
    new Map((objects[resource] ?? []).map(object => [object.metadata.uid, object]));
  return {
    all,
    ...foundIn(all),
    lastPools: () => new Map(),
    validConfiguration: () => [...all('configmaps').values()].findLast(each => configurationOf(each) !== undefined),
    changes: () => 0,
    follow: () => {},
  };
}

/** What a mirror finds by name and instance, by looking through all. */
export const foundIn = (all: Mirror['all']): Pick<Mirror, 'named' | 'claimOfInstance' | 'podsOn' | 'ownership'> => ({
  named: (resource, name) => [...all(resource).values()].find(({ metadata }) => metadata.name === name),
  claimOfInstance: instance =>
    [...all('nodeclaims').values()].find(({ status }) => status?.['providerID'] === instance),
  podsOn: node => [...all('pods').values()].filter(({ spec }) => spec?.['nodeName'] === node),
  ownership: () => ownershipOf([...all('nodes').values()], [...all('nodeclaims').values()]),
});

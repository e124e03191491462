/** A copy of what is in the cluster, kept by watches, so that checks cost nothing while nothing changes. */
import type { KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { followKind } from '../followed-kind.ts';
import { groupObjects, type Grouping } from '../grouping.ts';
import { configurationOf } from './configuration.ts';
import { dig, instanceOfClaim, instanceOfNode, poolNameOf, textOf } from './reading.ts';
import { ownershipIn, type Ownership } from './repair-ownership.ts';

const TYPES = {
  nodes: { group: '', version: 'v1', resource: 'nodes' },
  pods: { group: '', version: 'v1', resource: 'pods' },
  configmaps: { group: '', version: 'v1', resource: 'configmaps' },
  nodeclaims: { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' },
  nodepools: { group: 'karpenter.sh', version: 'v1', resource: 'nodepools' },
  poddisruptionbudgets: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  volumeattachments: { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' },
  finalizerrules: { group: 'curfew.dev', version: 'v1alpha1', resource: 'finalizerrules' },
  nodelifecyclepolicies: { group: 'curfew.dev', version: 'v1alpha1', resource: 'nodelifecyclepolicies' },
} as const satisfies Readonly<Record<string, ResourceType>>;

export type Mirrored = keyof typeof TYPES;

/** Those that are asked for by their name. */
export type Named = 'nodes' | 'nodeclaims' | 'nodepools';

export interface Mirror {
  /** By UID. */
  all(resource: Mirrored): ReadonlyMap<string, KubernetesObject>;
  /** The object of this name. */
  named(resource: Named, name: string | undefined): KubernetesObject | undefined;
  /** The NodeClaim of this instance, the first of several. */
  claimOfInstance(instance: string): KubernetesObject | undefined;
  /** The pods on the Node of this name. */
  podsOn(node: string | undefined): readonly KubernetesObject[];
  /** Who shares which instance, and whose pool a node is in. */
  ownership(): Ownership;
  /** The NodePools of these names as they are, or as they were before they went. */
  lastPools(): ReadonlyMap<string, KubernetesObject>;
  /** The configuration that is in force: the last one that is valid. */
  validConfiguration(): KubernetesObject | undefined;
  /** Another number after each change. */
  changes(): number;
  /** Tells of all that is there, then of every change; `object` is undefined when it is gone. */
  follow(listener: (resource: Mirrored, uid: string, object: KubernetesObject | undefined) => void): void;
}

export function createMirror(core: ApiServerCore): Mirror {
  let changes = 0;
  let validConfiguration: KubernetesObject | undefined;
  const pools = new Map<string, KubernetesObject>();
  const listeners: ((resource: Mirrored, uid: string, object: KubernetesObject | undefined) => void)[] = [];
  const watch = (resource: Mirrored): Map<string, KubernetesObject> => {
    const objects = new Map<string, KubernetesObject>();
    followKind(core, TYPES[resource], ({ type, object }) => {
      changes += 1;
      const { uid } = object.metadata;
      const isGone = type === 'DELETED';
      if (resource === 'nodepools' && !isGone) pools.set(object.metadata.name, object);
      if (resource === 'configmaps' && !isGone && isConfiguration(object) && configurationOf(object) !== undefined)
        validConfiguration = object;
      if (isGone) objects.delete(uid);
      else objects.set(uid, object);
      for (const listener of listeners) listener(resource, uid, isGone ? undefined : object);
    });
    return objects;
  };
  const objects: Readonly<Record<Mirrored, Map<string, KubernetesObject>>> = {
    nodes: watch('nodes'),
    pods: watch('pods'),
    configmaps: watch('configmaps'),
    nodeclaims: watch('nodeclaims'),
    nodepools: watch('nodepools'),
    poddisruptionbudgets: watch('poddisruptionbudgets'),
    volumeattachments: watch('volumeattachments'),
    finalizerrules: watch('finalizerrules'),
    nodelifecyclepolicies: watch('nodelifecyclepolicies'),
  };
  const follow: Mirror['follow'] = listener => {
    for (const [resource, known] of Object.entries(objects)) {
      if (isMirrored(resource)) for (const [uid, object] of known) listener(resource, uid, object);
    }
    listeners.push(listener);
  };
  const group = (resource: Mirrored, keyOf: (object: KubernetesObject) => string | undefined): Grouping =>
    groupObjects({ follow }, resource, keyOf);
  const names: Readonly<Record<Named, Grouping>> = {
    nodes: group('nodes', ({ metadata }) => metadata.name),
    nodeclaims: group('nodeclaims', ({ metadata }) => metadata.name),
    nodepools: group('nodepools', ({ metadata }) => metadata.name),
  };
  const claims = group('nodeclaims', instanceOfClaim);
  const ownership = ownershipIn({
    nodes: () => [...objects.nodes.values()],
    nodesOf: group('nodes', instanceOfNode).get,
    claimsOf: claims.get,
    nodesLabelled: group('nodes', poolNameOf).get,
    claimsLabelled: group('nodeclaims', poolNameOf).get,
  });
  const podsByNode = group('pods', ({ spec }) => textOf(dig(spec, 'nodeName')));
  return {
    all: resource => objects[resource],
    named: (resource, name) => (name === undefined ? undefined : names[resource].first(name)),
    claimOfInstance: claims.first,
    podsOn: node => (node === undefined ? [] : podsByNode.get(node)),
    ownership: () => ownership,
    lastPools: () => pools,
    validConfiguration: () => validConfiguration,
    changes: () => changes,
    follow,
  };
}

const isMirrored = (resource: string): resource is Mirrored => resource in TYPES;

/** The ConfigMap with the configuration of Curfew; undefined: there is none. */
export const configurationIn = (mirror: Mirror): KubernetesObject | undefined =>
  [...mirror.all('configmaps').values()].find(isConfiguration);

function isConfiguration({ metadata }: KubernetesObject): boolean {
  return metadata.namespace === 'curfew' && metadata.name === 'curfew-config';
}

/** The nodes that fail, one after the other: half of them Curfew's to repair, half the bare loop's. Pure. */
import { KARPENTER } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { CLAIM_SPEC, configMap } from '../objects.ts';

/** Who is to react to a node. */
export const REACTORS = ['curfew', 'bare'] as const;
export type Reactor = (typeof REACTORS)[number];

/** Nodes with it are the bare loop's. Curfew's are in the NodePools that its policy selects by this label. */
export const REACTOR_LABEL = 'bench.curfew.dev/reactor';

/** In turns: a pool is looked at once a second at most, and another node of it would wait for that. */
const POOLS = ['bench-0', 'bench-1', 'bench-2', 'bench-3'] as const;
const poolOf = (index: number): string => POOLS[index % POOLS.length] ?? POOLS[0];

/** What lets Curfew act at once: the gate open, no toleration, no threshold. */
export function settingsObjects(): KubernetesManifest[] {
  return [
    configMap(),
    ...POOLS.map(name => ({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name, labels: { [REACTOR_LABEL]: 'curfew' } },
      spec: { template: { spec: CLAIM_SPEC } },
    })),
    {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'bench' },
      spec: {
        // An empty one would also reach the nodes without a NodePool, which are the bare loop's.
        nodePoolSelector: { matchLabels: { [REACTOR_LABEL]: 'curfew' } },
        repair: { defaultTolerationDuration: '0s', maxUnhealthy: '100%' },
      },
    },
  ];
}

export const nodeNameFor = (reactor: Reactor, index: number): string => `${reactor}-${index}`;

const labelsFor = (reactor: Reactor, index: number): Readonly<Record<string, string>> =>
  reactor === 'curfew' ? { [KARPENTER.nodePoolLabel]: poolOf(index) } : { [REACTOR_LABEL]: reactor };

const providerIDFor = (reactor: Reactor, index: number): string =>
  `aws:///us-west-2a/i-${reactor === 'curfew' ? 'c' : 'b'}${index.toString(16).padStart(16, '0')}`;

export function nodeFor(reactor: Reactor, index: number): KubernetesManifest {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeNameFor(reactor, index), labels: labelsFor(reactor, index) },
    spec: { providerID: providerIDFor(reactor, index) },
  };
}

/** Without a finalizer: the deletion that is accepted is the end of it. */
export function nodeClaimFor(reactor: Reactor, index: number): KubernetesManifest {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: nodeNameFor(reactor, index), labels: labelsFor(reactor, index) },
    spec: CLAIM_SPEC,
  };
}

export function nodeClaimStatus(reactor: Reactor, index: number): JsonObject {
  return { nodeName: nodeNameFor(reactor, index), providerID: providerIDFor(reactor, index) };
}

export function nodeStatus(ready: 'True' | 'Unknown', since: EpochMs): JsonObject {
  return { conditions: [{ type: 'Ready', status: ready, reason: 'Bench', lastTransitionTime: toTimestamp(since) }] };
}

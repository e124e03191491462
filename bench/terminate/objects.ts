/** A node with its NodeClaim and its pods, for Curfew or for the bare loop to terminate. Pure. */
import { KARPENTER } from '../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { CREATION_TIME, nodeConditions } from '../node-objects.ts';
import { CLAIM_SPEC } from '../objects.ts';

/** Who terminates a node. */
export const TERMINATORS = ['curfew', 'bare'] as const;
export type Terminator = (typeof TERMINATORS)[number];

/** The finalizer of each. */
export const FINALIZERS: Readonly<Record<Terminator, string>> = {
  curfew: 'bench.curfew.dev/curfew',
  bare: 'bench.curfew.dev/bare',
};
export const NAMESPACE = 'default';
const POOL = 'bench';

/** The pool whose nodes Curfew terminates. The bare loop's are in none. */
export const SETTINGS: readonly KubernetesManifest[] = [
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: POOL, labels: { bench: POOL } },
    spec: { template: { spec: CLAIM_SPEC } },
  },
  {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: POOL },
    spec: {
      nodePoolSelector: { matchLabels: { bench: POOL } },
      termination: { finalizerName: FINALIZERS.curfew },
    },
  },
];

export const nodeNameOf = (terminator: Terminator, index: number): string => `${terminator}-${index}`;

export const instanceIdOf = (terminator: Terminator, index: number): string =>
  `i-${terminator === 'curfew' ? 'c' : 'b'}${index.toString(16).padStart(16, '0')}`;

const providerIDOf = (terminator: Terminator, index: number): string =>
  `aws:///us-east-1a/${instanceIdOf(terminator, index)}`;

/** Curfew puts its finalizer on by itself. */
const metadataOf = (terminator: Terminator, index: number) => ({
  name: nodeNameOf(terminator, index),
  ...(terminator === 'curfew'
    ? { labels: { [KARPENTER.nodePoolLabel]: POOL } }
    : { finalizers: [FINALIZERS[terminator]] }),
});

export function claimFor(terminator: Terminator, index: number): KubernetesManifest {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: metadataOf(terminator, index),
    spec: CLAIM_SPEC,
    status: { nodeName: nodeNameOf(terminator, index), providerID: providerIDOf(terminator, index) },
  };
}

export function nodeFor(terminator: Terminator, index: number): KubernetesManifest {
  const ready = { ready: 'True', heartbeatTime: CREATION_TIME, transitionTime: CREATION_TIME } as const;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: metadataOf(terminator, index),
    spec: { providerID: providerIDOf(terminator, index) },
    status: { conditions: [...nodeConditions(ready)] },
  };
}

export function podFor(terminator: Terminator, index: number, pod: number): KubernetesManifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name: `${nodeNameOf(terminator, index)}-${pod}` },
    spec: { nodeName: nodeNameOf(terminator, index), containers: [{ name: 'main', image: 'main' }] },
    status: { phase: 'Running' },
  };
}

/** What happens in a world, and the objects that most worlds have. */
import type { JsonObject, KubernetesManifest, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { invariant } from '../../../shared/domain/invariant.ts';
import { unlessRefused } from '../../actors/actor.ts';
import { WORLD } from '../explored-cluster.ts';
import type { Change, Earlier } from '../situation.ts';

type Tells = NonNullable<Change['tells']>;

function instant(text: string): EpochMs {
  const time = parseTimestamp(text);
  invariant(time !== undefined, `${text} is a timestamp`);
  return time;
}

/** When all situations begin. */
export const START = instant('2024-11-01T15:00:00Z');

/** So many minutes pass, with all their consequences. */
export const wait = (count: number): Earlier => ({ kind: 'wait', duration: minutes(count) });
/** So many minutes pass, in which no run gets to its first call. */
export const unattended = (count: number): Earlier => ({ kind: 'wait', duration: minutes(count), unattended: true });

export const nodeRef = (name: string): ObjectRef => ({ type: RESOURCES.Node, name });
export const nodeClaimRef = (name: string): ObjectRef => ({ type: RESOURCES.NodeClaim, name });
export const nodePoolRef = (name: string): ObjectRef => ({ type: RESOURCES.NodePool, name });
export const policyRef = (name: string): ObjectRef => ({ type: RESOURCES.NodeLifecyclePolicy, name });
export const podRef = (name: string): ObjectRef => ({ type: RESOURCES.Pod, namespace: 'prod', name });

export const PROD: KubernetesManifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } };

export const nodePool = (spec: JsonObject = {}): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default', uid: 'uid-default' },
  spec,
});

/** Selects every pool, unless its spec says otherwise. */
export const policy = (spec: JsonObject): KubernetesManifest => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name: 'all', uid: 'uid-all' },
  spec,
});

const LABELS = { 'karpenter.sh/nodepool': 'default' };

/** A node of NodePool `default`; its UID is `uid-<name>`, and its NodeClaim's `uid-claim-<name>`. */
export function node(
  name: string,
  { uid = `uid-${name}`, conditions = [], annotations = {} }: NodeOptions = {},
): KubernetesManifest {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, labels: LABELS, annotations },
    spec: { providerID: `aws:///us-west-2a/i-${name}` },
    status: { conditions: [...conditions] },
  };
}

export interface NodeOptions {
  readonly uid?: string;
  readonly conditions?: readonly JsonObject[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export const ready = (status: 'True' | 'False' | 'Unknown', since: EpochMs = START): JsonObject => ({
  type: 'Ready',
  status,
  reason: 'Test',
  message: '',
  lastTransitionTime: toTimestamp(since),
});

export const nodeClaim = (nodeName: string, uid = `uid-claim-${nodeName}`): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: `claim-${nodeName}`, uid, labels: LABELS, finalizers: ['karpenter.sh/termination'] },
  status: { providerID: `aws:///us-west-2a/i-${nodeName}`, nodeName },
});

/** A running pod on node n1, in namespace `prod`, with that `karpenter.sh/do-not-disrupt`; created when the situation begins. */
export const pod = (name: string, doNotDisrupt: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'prod',
    uid: `uid-${name}`,
    creationTimestamp: toTimestamp(START),
    annotations: { 'karpenter.sh/do-not-disrupt': doNotDisrupt },
  },
  spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] },
  status: { phase: 'Running', startTime: toTimestamp(START) },
});

const change = (name: string, apply: Change['apply'], tells: Tells | undefined): Change => ({
  name,
  apply,
  ...(tells !== undefined && { tells }),
});

/** Its UID is as written: seeded, past admission. */
export const created = (name: string, object: KubernetesManifest, tells?: Tells): Change =>
  change(name, core => core.seed(object), tells);

/** RFC 7386 on the whole object, status included. */
export const patched = (name: string, ref: ObjectRef, body: JsonObject, tells?: Tells): Change =>
  change(
    name,
    core => {
      core.patch(ref, { type: 'merge', body }, { user: WORLD });
      if ('status' in body) core.patch(ref, { type: 'merge', body }, { user: WORLD, subresource: 'status' });
    },
    tells,
  );

/** Gone at once, whatever holds it. */
export const removed = (name: string, ref: ObjectRef, tells?: Tells): Change =>
  change(
    name,
    core => {
      // One that is being deleted goes with its last finalizer.
      unlessRefused(() =>
        core.patch(ref, { type: 'merge', body: { metadata: { finalizers: null } } }, { user: WORLD }),
      );
      unlessRefused(() => core.delete(ref, { user: WORLD, gracePeriodSeconds: 0 }));
    },
    tells,
  );

/** Gone, and another object of that name is there. */
export const replaced = (name: string, ref: ObjectRef, by: KubernetesManifest, tells?: Tells): Change =>
  change(
    name,
    core => {
      removed('', ref).apply(core);
      core.seed(by);
    },
    tells,
  );

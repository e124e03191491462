/** The parts of NodeClaims and Nodes that terminations look at. Pure. */
import { deletionTimeOf, type KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { readNodeClaim, TERMINATION_TIMESTAMP_ANNOTATION } from '../../../../shared/domain/node-claim.ts';
import { readConditions } from '../../../../shared/domain/node.ts';
import { parseTimestamp, type DurationMs, type EpochMs } from '../../../../shared/domain/time.ts';
import {
  DEFAULT_TERMINATION_FINALIZER,
  KARPENTER_FINALIZER,
  TERMINATION_FINALIZER_ANNOTATION,
} from '../../../../shared/domain/termination.ts';

/**
 * Time when its instance was launched, as far as NodeClaim and Nodes say: the NodeClaim's condition `Launched`, else the creation of the
 * NodeClaim, or of the first Node; undefined: nobody says.
 */
export function launchTimeOf({
  claim,
  nodes,
}: {
  readonly claim: KubernetesObject | undefined;
  readonly nodes: readonly KubernetesObject[];
}): EpochMs | undefined {
  const launched = readConditions(claim?.status?.['conditions']).find(
    ({ type, status }) => type === 'Launched' && status === 'True',
  );
  const [first] = claim === undefined ? nodes : [claim];
  return launched?.lastTransitionTime ?? parseTimestamp(first?.metadata.creationTimestamp ?? '');
}

/** Whether it is not being deleted. */
export const isLive = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp === undefined;

/** Whether the NodeClaim has registered its Node: Nodes of one that has not are left alone. */
export function isRegistered({ status }: KubernetesObject): boolean {
  const registered = readConditions(status?.['conditions']).find(({ type }) => type === 'Registered');
  return registered === undefined ? typeof status?.['nodeName'] === 'string' : registered.status === 'True';
}

/** Whether a finalizer of ours is on it, or was: where there is no record and no block, its mark or the default name tells. */
export function isManaged(object: KubernetesObject): boolean {
  const { finalizerMark, finalizers } = toTerminatedObject(object);
  return finalizerMark !== undefined || finalizers.includes(DEFAULT_TERMINATION_FINALIZER);
}

/** Whether Karpenter's own finalizer is on it: then Karpenter terminates it, too. */
export const isKarpenters = ({ metadata }: KubernetesObject): boolean =>
  metadata.finalizers?.includes(KARPENTER_FINALIZER) === true;

/** Fields of a NodeClaim or Node that the rule reads. */
export interface TerminatedObject {
  readonly kind: 'NodeClaim' | 'Node';
  readonly name: string;
  readonly uid: string;
  readonly finalizers: readonly string[];
  /** The name that we noted on the object when we put our finalizer on (annotation `curfew.dev/termination-finalizer`). */
  readonly finalizerMark: string | undefined;
  readonly deletionTime: EpochMs | undefined;
}

/** Fields of a NodeClaim that the rule reads. */
export interface TerminatedClaim extends TerminatedObject {
  /** It has registered its Node: a Node of one that has not stays when the NodeClaim is deleted. */
  readonly isRegistered: boolean;
  readonly gracePeriod: DurationMs | undefined;
  /** Value of Karpenter's deadline annotation. */
  readonly terminationTimestamp: string | undefined;
}

export function toTerminatedClaim(claim: KubernetesObject): TerminatedClaim {
  return {
    ...toTerminatedObject(claim),
    isRegistered: isRegistered(claim),
    gracePeriod: readNodeClaim(claim).terminationGracePeriod,
    terminationTimestamp: claim.metadata.annotations?.[TERMINATION_TIMESTAMP_ANNOTATION],
  };
}

export function toTerminatedObject(object: KubernetesObject): TerminatedObject {
  const { name, uid, finalizers = [], annotations } = object.metadata;
  return {
    kind: object.kind === 'Node' ? 'Node' : 'NodeClaim',
    name,
    uid,
    finalizers,
    finalizerMark: annotations?.[TERMINATION_FINALIZER_ANNOTATION],
    deletionTime: deletionTimeOf(object),
  };
}

/**
 * ReplaceThenTerminate: launches a NodeClaim of our own before the unhealthy one goes. The record has its name before
 * it is created, and its UID before anything follows. Once it is ready we remove its taint, the point of no return,
 * and at the end its marks. A replacement that does not become ready is deleted.
 */
import {
  type ActionContext,
  type ActionDeps,
  type ActionOutcome,
  CHANGED,
  type ObjectChanged,
  ACTED,
} from './action.ts';
import { replacementClaim, launchCapacityFault, launchCapacityOf } from '../node/rule/replacement.ts';
import type { Replacement } from '../node/attempt-record.ts';
import { getNode, getNodeClaim } from '../../../shared/cluster/lists.ts';
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { deleteExactly } from '../../../shared/custom-resource/delete.ts';
import { fieldsOf, listIn } from '../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readNodeClaim } from '../../../shared/domain/node-claim.ts';
import {
  isReserved,
  POOL_HOLD_ANNOTATION,
  readNode,
  REPLACES_ANNOTATION,
  RESERVED_TAINT,
} from '../../../shared/domain/node.ts';
import { DO_NOT_DISRUPT_ANNOTATION } from '../../../shared/domain/pod.ts';
import { changeExactly, throwConflict } from '../../../shared/ports/exact-change.ts';

const unavailable = (message: string): ActionOutcome => ({ kind: 'failed', reason: 'ReplacementUnavailable', message });

export async function launchReplacement({
  deps,
  attempt,
  claim,
  node,
  nodePool,
  recordMade,
  leftovers,
  launchCapacity,
}: ActionContext<'Replace'>): Promise<ActionOutcome> {
  const { kubernetes } = deps;
  const { name } = attempt.replacement;
  if (claim === undefined || nodePool === undefined)
    return unavailable(`Node ${node.name} has no NodeClaim of a NodePool`);
  if (leftovers?.replacement?.name !== name) return { kind: 'notYet', on: `NodeClaim ${name} has yet to be recorded` };
  const existingClaim = await getNodeClaim(deps, name);
  if (existingClaim !== undefined) return adopt(deps, existingClaim, node.uid, recordMade);
  const unhealthyClaim = await getNodeClaim(deps, claim.name);
  if (unhealthyClaim?.metadata.uid !== claim.uid) return { kind: 'notYet', on: `NodeClaim ${claim.name} is gone` };
  const fault = launchCapacityFault(nodePool, { unhealthyClaim, ...launchCapacityOf(launchCapacity) });
  if (fault !== undefined) return unavailable(fault);
  const outcome = await kubernetes.create(
    RESOURCES.NodeClaim,
    replacementClaim({ name, pool: nodePool, unhealthyClaim, node }),
  );
  switch (outcome.kind) {
    case 'ok':
      recordMade({ replacement: { name, uid: outcome.object.metadata.uid } });
      return ACTED;
    case 'exists':
    case 'notFound':
      return { kind: 'notYet', on: `NodeClaim ${name} was not made` };
    case 'invalid':
      return unavailable(`the API server refuses NodeClaim ${name}: ${outcome.message}`);
  }
}

/** Takes the NodeClaim that an earlier try made as the replacement. One that is being deleted is never taken over. */
async function adopt(
  deps: Pick<ActionDeps, 'kubernetes'>,
  claim: KubernetesObject,
  nodeUid: string,
  recordMade: ActionContext['recordMade'],
): Promise<ActionOutcome> {
  const { name, uid, annotations, deletionTimestamp } = claim.metadata;
  if (annotations?.[REPLACES_ANNOTATION] !== nodeUid || deletionTimestamp !== undefined)
    return unavailable(`NodeClaim ${name} is there, and is not to be used`);
  const node = await nodeOf(deps, claim);
  recordMade({ replacement: { name, uid } });
  return { kind: 'done', foundReplacement: node === undefined || isReserved(readNode(node)) ? 'reserved' : 'inUse' };
}

/**
 * Takes the taint off the replacement's Node, so that pods may come. undefined: it is off. `changed`: the replacement
 * or its Node is gone; another Node of that name is none of ours (I10).
 */
export async function openReplacement(
  deps: Pick<ActionDeps, 'kubernetes'>,
  { name, uid }: Replacement,
): Promise<ObjectChanged | undefined> {
  const claim = await getNodeClaim(deps, name);
  if (claim === undefined || claim.metadata.uid !== uid || claim.metadata.deletionTimestamp !== undefined)
    return CHANGED;
  const node = await nodeOf(deps, claim);
  if (node === undefined) return CHANGED;
  const taints = listIn(node.spec, 'taints');
  const otherTaints = taints.filter(taint => fieldsOf(taint)['key'] !== RESERVED_TAINT);
  if (otherTaints.length === taints.length) return undefined;
  const ref = { type: RESOURCES.Node, name: node.metadata.name };
  const outcome = await changeExactly(deps.kubernetes, ref, node.metadata, { spec: { taints: otherTaints } });
  return outcome.kind === 'ok' ? undefined : CHANGED;
}

/** The Node of this NodeClaim; undefined: there is none. A Node with its name and another instance does not count. */
async function nodeOf(
  deps: Pick<ActionDeps, 'kubernetes'>,
  claim: KubernetesObject,
): Promise<KubernetesObject | undefined> {
  const { nodeName, providerID } = readNodeClaim(claim);
  if (nodeName === undefined || providerID === undefined) return undefined;
  const object = await getNode(deps, nodeName);
  return object && readNode(object).providerID === providerID ? object : undefined;
}

export type End = 'deleted' | 'kept' | 'gone';

/**
 * Ends the role of a replacement. While its taint is on, its NodeClaim is deleted. Without the taint it stays, and only
 * loses its marks. Only the NodeClaim with its UID counts, since one of that name may be another's by now (I10). An
 * annotation that grace-period needs stays. undefined: there is none of ours, or it was never made.
 */
export async function endReplacement(
  deps: Pick<ActionDeps, 'kubernetes'>,
  { name, uid }: Replacement,
  nodeUid: string,
): Promise<End | undefined> {
  const claim = await getNodeClaim(deps, name);
  if (claim === undefined) return uid === undefined ? undefined : 'gone';
  const { uid: found, annotations, deletionTimestamp } = claim.metadata;
  if (annotations?.[REPLACES_ANNOTATION] !== nodeUid || (uid !== undefined && uid !== found)) return undefined;
  const node = await nodeOf(deps, claim);
  if (node === undefined || isReserved(readNode(node))) {
    if (deletionTimestamp !== undefined) return 'gone';
    await deleteExactly(deps.kubernetes, { type: RESOURCES.NodeClaim, name }, found);
    return 'deleted';
  }
  await unmark(deps, node, { type: RESOURCES.Node, name: node.metadata.name }, nodeUid);
  await unmark(deps, claim, { type: RESOURCES.NodeClaim, name }, nodeUid);
  return 'kept';
}

async function unmark(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { metadata }: KubernetesObject,
  ref: { readonly type: (typeof RESOURCES)['Node' | 'NodeClaim']; readonly name: string },
  nodeUid: string,
): Promise<void> {
  const { annotations = {} } = metadata;
  if (annotations[REPLACES_ANNOTATION] !== nodeUid) return;
  const isHeld = annotations[ANNOTATIONS.protectedUntil] !== undefined;
  const isOurs = annotations[DO_NOT_DISRUPT_ANNOTATION] === 'true' && !isHeld;
  const marks = {
    [REPLACES_ANNOTATION]: null,
    [POOL_HOLD_ANNOTATION]: null,
    ...(isOurs && { [DO_NOT_DISRUPT_ANNOTATION]: annotations[POOL_HOLD_ANNOTATION] ?? null }),
  };
  const outcome = await changeExactly(kubernetes, ref, metadata, { annotations: marks });
  throwConflict(`taking the marks off ${ref.name}`, outcome);
}

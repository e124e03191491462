/**
 * What a termination looks at: the NodeClaim, its Nodes, what is in force for its pool, and the record. A Node that no NodeClaim
 * stands for, or several do, is a subject of its own (reference on Karpenter, §2.8). Always live reads.
 */
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import { openRecord, openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { effectiveProtection, type EffectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { ClaimHints } from './claim-hints.ts';
import { providerIDOf } from './objects.ts';
import { loadPool } from './pools.ts';
import { EMPTY_TERMINATION, TERMINATION_CODEC, type TerminationRecord } from './record.ts';
import { effectiveTermination, takesBackDeadline, type EffectiveTermination } from './settings.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Which object a termination is about: a NodeClaim, or a Node that has none. */
export interface Target {
  readonly kind: 'NodeClaim' | 'Node';
  readonly name: string;
  readonly uid: string | undefined;
  /** The Node whose event led here. */
  readonly viaNode?: string | undefined;
}

export interface Look {
  readonly now: EpochMs;
  readonly target: Target;
  readonly object: KubernetesObject;
  readonly claim: KubernetesObject | undefined;
  /** Those with the NodeClaim's providerID; the Node itself where there is no NodeClaim. */
  readonly nodes: readonly KubernetesObject[];
  /** Other NodeClaims with that providerID: the instance is not this one's alone. */
  readonly sharedWith: readonly string[];
  readonly providerID: string | undefined;
  readonly pool: string | undefined;
  /** As it is, or as it was before it went. */
  readonly nodePool: KubernetesObject | undefined;
  readonly termination: EffectiveTermination;
  /** What set the deadline so far was edited and sets none any more. */
  readonly takesBackDeadline: boolean;
  readonly protection: EffectiveProtection;
  readonly record: TimedRecord<TerminationRecord>;
  /** undefined: no termination is under way. */
  readonly stored: TerminationRecord | undefined;
  /** When the record's timer comes. */
  readonly armed: EpochMs | undefined;
}

export type Seen =
  | { readonly kind: 'here'; readonly look: Look }
  /** Gone, and a termination of it was not closed. */
  | {
      readonly kind: 'gone';
      readonly record: TimedRecord<TerminationRecord>;
      readonly value: TerminationRecord;
      readonly subject: Subject;
    }
  | { readonly kind: 'nothing' };

const TYPES = { NodeClaim: RESOURCES.NodeClaim, Node: RESOURCES.Node } as const satisfies Record<string, ResourceType>;

/** One for each run. @param wakeUp the one that the run is about */
export function createObserver(deps: Deps, wakeUp: UsedWakeUp | undefined) {
  const records = openRecords(deps, TERMINATION_CODEC, wakeUp);
  const recordOf = (kind: Target['kind']) => (uid: string) => records(`${kind.toLowerCase()}/${uid}`);

  return async (target: Target): Promise<Seen> => {
    const { kind, name, uid } = target;
    const found = await findSubject(deps, { ref: { type: TYPES[kind], name }, uid, recordOf: recordOf(kind) });
    if (found.kind === 'notOurs') return { kind: 'nothing' };
    if (found.kind === 'gone') {
      const { value, stored } = found.held;
      return { kind: 'gone', record: found.record, value, subject: stored.subject };
    }
    const { object, record, held } = found;
    const stored = held.kind === 'held' ? held.value : undefined;
    const providerID = providerIDOf(object);
    const pool = object.metadata.labels?.[KARPENTER.nodePoolLabel];
    const [itsNodes, poolObject, policies] = await inParallel([
      kind === 'Node' ? [object] : nodesOf(deps, object, { stored, viaNode: target.viaNode }),
      loadPool(deps, pool),
      loadPolicies(deps),
    ]);
    const sharedWith = kind === 'Node' ? [] : await claimsBeside(deps, object, itsNodes, pool);
    // A Node that several NodeClaims name is a subject of its own: its deletion is that of none of them.
    const isLive = object.metadata.deletionTimestamp === undefined;
    const nodes = isLive && sharedWith.length > 0 ? [] : itsNodes;
    const look: Look = {
      now: deps.clock.now(),
      target,
      object,
      claim: kind === 'NodeClaim' ? object : undefined,
      nodes,
      sharedWith,
      providerID,
      pool,
      nodePool: poolObject,
      termination: effectiveTermination(poolObject, policies),
      takesBackDeadline:
        stored?.deadline !== undefined && takesBackDeadline(stored.deadline.source, poolObject, policies),
      protection: effectiveProtection(poolObject, policies),
      record,
      stored,
      armed: held.kind === 'held' ? held.stored.nextWakeTime : undefined,
    };
    return { kind: 'here', look };
  };
}

/** The record of a Node that has no NodeClaim. */
export function openNodeRecord(deps: Deps, uid: string): TimedRecord<TerminationRecord> {
  return openRecord(deps, TERMINATION_CODEC, `node/${uid}`);
}

/** The NodeClaim or Node that a termination of this Node is about; undefined: there is no such Node. */
export async function targetOfNode(
  deps: Pick<Deps, 'kubernetes' | 'clock'>,
  hints: ClaimHints,
  name: string,
): Promise<Target | undefined> {
  const node = await deps.kubernetes.get({ type: RESOURCES.Node, name });
  if (node === undefined) return undefined;
  const claims = await claimsOf(deps, hints, node);
  const [claim] = claims;
  if (claim !== undefined && claims.length === 1) {
    return { kind: 'NodeClaim', name: claim.metadata.name, uid: claim.metadata.uid, viaNode: name };
  }
  return { kind: 'Node', name, uid: node.metadata.uid };
}

/** The NodeClaims with a Node's providerID. Its owner, or a hint, spares the list; a Node that is deleted is looked at with care. */
async function claimsOf(
  deps: Pick<Deps, 'kubernetes' | 'clock'>,
  hints: ClaimHints,
  node: KubernetesObject,
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(node);
  if (providerID === undefined) return [];
  const owner = node.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeClaim');
  const likely = owner?.name ?? hints.nameOf(providerID);
  const now = deps.clock.now();
  const isLive = node.metadata.deletionTimestamp === undefined;
  if (likely !== undefined && isLive) {
    const claim = await deps.kubernetes.get({ type: RESOURCES.NodeClaim, name: likely });
    if (claim !== undefined && providerIDOf(claim) === providerID) return [claim];
  } else if (isLive && hints.isBare(providerID, now)) return [];
  const claims = await listNodeClaims(deps);
  hints.seenAll(claims, now);
  return claims.filter(claim => providerIDOf(claim) === providerID);
}

/** Other NodeClaims with the same providerID: the living ones; of one that lives itself, all. Read once something is being deleted. */
async function claimsBeside(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
  pool: string | undefined,
): Promise<readonly string[]> {
  const providerID = providerIDOf(claim);
  const isLive = claim.metadata.deletionTimestamp === undefined;
  const isEnding = !isLive || nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (providerID === undefined || !isEnding) return [];
  const query = pool === undefined ? {} : { labelSelector: `${KARPENTER.nodePoolLabel}=${pool}` };
  const claims = await listNodeClaims(deps, query);
  return claims
    .filter(other => other.metadata.uid !== claim.metadata.uid && providerIDOf(other) === providerID)
    .filter(({ metadata }) => isLive || metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);
}

/** The Nodes with the NodeClaim's providerID: by name where names are known; by a list when a deletion begins. */
async function nodesOf(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  { stored, viaNode }: { readonly stored: TerminationRecord | undefined; readonly viaNode: string | undefined },
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(claim);
  if (providerID === undefined) return [];
  const isIts = (node: KubernetesObject | undefined): node is KubernetesObject =>
    node !== undefined && providerIDOf(node) === providerID;
  const known = Object.values(stored?.nodes ?? {}).map(({ name }) => name);
  if (known.length === 0 && claim.metadata.deletionTimestamp !== undefined) {
    return (await listNodes(deps)).filter(isIts);
  }
  const nodeName = claim.status?.['nodeName'];
  const names = new Set([...known, ...(typeof nodeName === 'string' ? [nodeName] : []), ...(viaNode ? [viaNode] : [])]);
  return (await inParallel([...names].map(name => deps.kubernetes.get({ type: RESOURCES.Node, name })))).filter(isIts);
}

/** The record of a termination under way, or that of one which begins. */
export const storedOrEmpty = ({ stored }: Pick<Look, 'stored'>): TerminationRecord => stored ?? EMPTY_TERMINATION;

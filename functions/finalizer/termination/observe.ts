/**
 * Input of a termination: the NodeClaim, its Nodes, the settings in force for its pool, and the record. A Node that no NodeClaim stands for, or
 * several that live, is a subject of its own, as in Karpenter. Always live reads.
 */
import { OWNER } from '../common/context.ts';
import { providerIDOf } from '../common/instances.ts';
import { getNode } from '../../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../../shared/cluster/node-pool.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { withoutRefusedRead } from '../../../shared/lifecycle/refusals.ts';
import { findSubject, type Lookup } from '../../../shared/lifecycle/subject.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../../shared/cluster/kept-policies.ts';
import {
  effectiveProtection,
  PROTECTION,
  type EffectiveProtection,
} from '../../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { ClaimCache } from './claim-cache.ts';
import { endingClaim, withoutMismatched } from './rule/instance.ts';
import type { TerminationObservation } from './decide.ts';
import { type UnreadableSettingsObservation, whileSettingsUnreadable } from './rule/settings-in-force.ts';
import { nodesAndSharing, claimsOf, isMismatched, namedNodesOf } from './instance-sharing.ts';
import { isManaged, toTerminatedClaim, toTerminatedObject } from './rule/objects.ts';
import { loadPool } from '../../../shared/cluster/known-pool.ts';
import { hasBegun } from './rule/turn.ts';
import { EMPTY_TERMINATION, isOfEarlierDeletion, waitOf, type TerminationRecord } from './record.ts';
import type { PolicySet } from '../../../shared/policies/policy-set.ts';
import { effectiveTermination, takesBackDeadline, TERMINATION_BLOCK, type EffectiveTermination } from './settings.ts';
import { KindNotServed, valueOrUnavailable, type Unavailable } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** The object that a termination is about: a NodeClaim, or a Node that has none. */
export interface TerminationSubject {
  readonly kind: 'NodeClaim' | 'Node';
  readonly name: string;
  readonly uid: string | undefined;
  /** The Node whose event led here. */
  readonly viaNode?: string | undefined;
  /** The event says that it is gone: without a record there is nothing to close. */
  readonly onlyIfKnown?: boolean | undefined;
}

export interface ObservedTermination {
  readonly now: EpochMs;
  readonly target: TerminationSubject;
  readonly object: KubernetesObject;
  readonly claim: KubernetesObject | undefined;
  /** Nodes with the NodeClaim's providerID; the Node itself where there is no NodeClaim. */
  readonly nodes: readonly KubernetesObject[];
  /** Other NodeClaims with that providerID: the instance is not this one's alone. */
  readonly sharedWith: readonly string[];
  /** The instance ends in the termination of another NodeClaim, which is being deleted, too. */
  readonly endedWith: { readonly name: string; readonly nodes: readonly KubernetesObject[] } | undefined;
  readonly providerID: string | undefined;
  readonly pool: string | undefined;
  /** The NodePool as it is, or as it was before it went. */
  readonly nodePool: KubernetesObject | undefined;
  readonly termination: EffectiveTermination;
  /** The error by which NodePool or policies could not be read. Only what the deadline asks for goes on. */
  readonly settingsError: Error | undefined;
  /** The NodePool or policy that set the deadline so far was edited, and sets none any more. */
  readonly isDeadlineTakenBack: boolean;
  readonly protection: EffectiveProtection;
  readonly timedRecord: TimedRecord<TerminationRecord>;
  /** The record; undefined: no termination is under way. */
  readonly stored: TerminationRecord | undefined;
  /** Time when the record's timer comes. */
  readonly nextWakeTime: EpochMs | undefined;
  /** That timer has a message of its own; else it is the sweep's. */
  readonly hasOwnMessage: boolean;
}

const TYPES = { NodeClaim: RESOURCES.NodeClaim, Node: RESOURCES.Node } as const satisfies Record<string, ResourceType>;

/** State that all looks of one run share. */
export interface TerminationObserverContext {
  /** The record of a NodeClaim or Node, by its UID. */
  readonly timedRecordOf: (uid: string) => TimedRecord<TerminationRecord>;
  /** Callback for the object that was found, before anything is read that may not be served. */
  readonly onFound: (timedRecord: TimedRecord<TerminationRecord>, object: KubernetesObject) => void;
}

/** Looks once. */
export async function observe(
  deps: Deps,
  { timedRecordOf, onFound }: TerminationObserverContext,
  target: TerminationSubject,
): Promise<Lookup<ObservedTermination, TerminationRecord>> {
  const { kind, name, uid, onlyIfKnown } = target;
  const ref = { type: TYPES[kind], name };
  const sought = await findSubject(deps, { ref, uid, onlyIfKnown, timedRecordOf });
  if (sought.kind !== 'here') return sought;
  const { object, timedRecord, loaded } = sought;
  onFound(timedRecord, object);
  const storedRecord = loaded.kind === 'known' ? loaded.value : undefined;
  const providerID = providerIDOf(object);
  const pool = nodePoolOf(object.metadata);
  const named = { record: storedRecord, viaNode: target.viaNode };
  const [namedNodes, ofPool, ofPolicies] = await inParallel([
    kind === 'Node' ? [object] : namedNodesOf(deps, object, named),
    valueOrUnavailable(loadPool(deps, pool)),
    valueOrUnavailable(loadPolicySets(deps, OWNER, BLOCKS)),
  ]);
  const stored = storedRecord && isOfEarlierDeletion(storedRecord, [object, ...namedNodes]) ? undefined : storedRecord;
  const failure = [ofPool, ofPolicies].find(answer => answer.kind === 'unavailable');
  const poolObject = ofPool.kind === 'known' ? ofPool.value : undefined;
  const [policies, protections] = ofPolicies.kind === 'known' ? ofPolicies.value : [NO_POLICIES, NO_POLICIES];
  const unread = failure && settingsWhileUnread(failure, stored, { now: deps.clock.now(), object, nodes: namedNodes });
  const settingsError = stored !== undefined && hasBegun(stored) ? failure?.error : undefined;
  const termination = unread ?? effectiveTermination(poolObject, policies);
  // Where nothing is ours, others with its instance change nothing: a storm of deletions must not cost a list each.
  const isOurs = termination.kind !== 'none' || stored !== undefined || [object, ...namedNodes].some(isManaged);
  const sharing =
    kind === 'Node' || !isOurs
      ? { nodes: namedNodes, sharedWith: [], endedWith: undefined }
      : await nodesAndSharing(deps, object, { ...named, namedNodes, pool });
  const { sharedWith, endedWith } = sharing;
  // A Node that several NodeClaims name is terminated only with the claim that ends the instance.
  const nodes = sharedWith.length > 0 || endedWith !== undefined ? [] : withoutMismatched(object, sharing.nodes);
  const observed: ObservedTermination = {
    now: deps.clock.now(),
    target,
    object,
    claim: kind === 'NodeClaim' ? object : undefined,
    nodes,
    sharedWith,
    endedWith: endedWith === undefined ? undefined : { name: endedWith, nodes: sharing.nodes },
    providerID,
    pool,
    nodePool: poolObject,
    termination,
    settingsError,
    isDeadlineTakenBack: stored?.deadline !== undefined && takesBackDeadline(stored.deadline, poolObject, policies),
    protection: effectiveProtection(poolObject, protections),
    timedRecord,
    stored: settingsError === undefined && stored !== undefined ? withoutRefusedRead(stored) : stored,
    nextWakeTime: loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined,
    hasOwnMessage: loaded.kind === 'known' && loaded.stored.hasOwnMessage === true,
  };
  return { kind: 'here', observation: observed };
}

/** The input of the rule. */
export function toObservation({
  now,
  claim,
  nodes,
  termination,
  isDeadlineTakenBack,
  stored,
}: ObservedTermination): TerminationObservation {
  return {
    now,
    claim: claim && toTerminatedClaim(claim),
    nodes: nodes.map(toTerminatedObject),
    settings: termination,
    storedDeadline: stored?.deadline,
    isDeadlineTakenBack,
    isStartReported: stored?.reportState.kind === 'reported',
    storedNames: stored?.finalizerNames ?? [],
  };
}

/**
 * The settings while those of NodePool or policies cannot be read: the deadline and whatever else the record keeps. The one that can be read
 * counts for nothing without the other. A termination in mode Observe stays in it. Throws the error if the message goes back to the queue.
 */
function settingsWhileUnread(
  { error }: Unavailable,
  stored: TerminationRecord | undefined,
  unread: Pick<UnreadableSettingsObservation, 'now' | 'object' | 'nodes'>,
): EffectiveTermination {
  const next = whileSettingsUnreadable({
    ...unread,
    isUnderWay: stored !== undefined && hasBegun(stored),
    isNotServed: error instanceof KindNotServed,
  });
  if (next === 'tryAgain') throw error;
  return {
    kind: 'invalid',
    message: error.message,
    source: '',
    gracePeriod: undefined,
    // What was only observed is not forced because nobody can say whether that is still so.
    mode: waitOf(stored, 'observed') === undefined ? 'Enforce' : 'Observe',
    isBraked: false,
  };
}

const BLOCKS = [TERMINATION_BLOCK, PROTECTION] as const;
const NO_POLICIES: PolicySet = { policies: [], faults: [] };

/**
 * The NodeClaim or Node that a termination of this Node is about; undefined: there is no such Node, or it is not being deleted while
 * only one that is matters.
 */
export async function targetOfNode(
  deps: Pick<Deps, 'kubernetes' | 'clock'>,
  claimCache: ClaimCache,
  { name, onlyIfTerminating }: { readonly name: string; readonly onlyIfTerminating: boolean },
): Promise<TerminationSubject | undefined> {
  const node = await getNode(deps, name);
  if (node === undefined || (onlyIfTerminating && node.metadata.deletionTimestamp === undefined)) return undefined;
  const claims = await claimsOf(deps, claimCache, node);
  const claim = claims.length === 1 ? claims[0] : endingClaim(claims);
  const isIts = claim !== undefined && !(await isMismatched(deps, claim, node));
  return isIts
    ? { kind: 'NodeClaim', name: claim.metadata.name, uid: claim.metadata.uid, viaNode: name }
    : { kind: 'Node', name, uid: node.metadata.uid };
}

/** The record of a termination under way, or an empty one. */
export const storedOrEmpty = ({ stored }: Pick<ObservedTermination, 'stored'>): TerminationRecord =>
  stored ?? EMPTY_TERMINATION;

/**
 * Input for an instance that may have been left behind: its state, its entry in the ledger, and the object of the cluster that has it. Always
 * live reads.
 */
import { providerIDOf, isGone, isUnknownYet } from '../common/instances.ts';
import type { FinalizerDeps } from '../common/context.ts';
import { projectNode, projectNodeClaim } from '../../../shared/cluster/lists.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { Observed } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { InstanceState } from '../../../shared/ports/instances.ts';
import { orUnavailable, orRejected } from '../../../shared/ports/read-answer.ts';
import type { FoundInstance, InstanceOwner, OrphanObservation } from './decide.ts';
import type { OrphanEntry } from './record.ts';

/** The object that went in the middle of its termination and left the instance. */
export type FormerOwner = NonNullable<OrphanEntry['object']>;

/** The object that left the instance, and since when; known where an object's termination has found it. */
export interface OrphanOrigin {
  readonly object: FormerOwner;
  readonly since: EpochMs;
  readonly launchTime?: EpochMs | undefined;
}

/** State of an instance; undefined: there is no such instance. */
type StateOrUnknown = InstanceState | 'unknown' | undefined;

export interface ObservedInstance extends OrphanObservation {
  readonly providerID: string;
  readonly object: FormerOwner | undefined;
  readonly timedRecord: TimedRecord<OrphanEntry>;
  readonly entry: OrphanEntry | undefined;
}

/** Looks at an instance once. `over`: the entry is a newer version's. Throws the failure of EC2 or the API server where the instance has no entry. */
export async function observe(
  deps: FinalizerDeps,
  timedRecord: TimedRecord<OrphanEntry>,
  { providerID, origin }: { readonly providerID: string; readonly origin: OrphanOrigin | undefined },
): Promise<Observed<ObservedInstance>> {
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return { kind: 'over' };
  const entry = loaded.kind === 'known' ? loaded.value : undefined;
  const found = await orUnavailable(lookAt(deps, providerID, origin?.launchTime));
  // An entry has a timer. Left as it is, the sweep would send one more message each minute.
  if ('error' in found && entry === undefined) throw found.error;
  const instance: FoundInstance = 'error' in found ? { kind: 'unavailable' } : found;
  const object = entry === undefined ? origin?.object : entry.object;
  const hasFormerOwner = object !== undefined;
  const now = deps.clock.now();
  return {
    kind: 'here',
    observation: { instance, now, providerID, object, hasFormerOwner, leftTime: origin?.since, timedRecord, entry },
  };
}

async function lookAt(
  deps: FinalizerDeps,
  providerID: string,
  launchTime: EpochMs | undefined,
): Promise<FoundInstance> {
  const instanceState = await stateOf(deps, providerID, launchTime);
  if (instanceState !== 'unknown' && (isGone(instanceState) || instanceState === 'shutting-down'))
    return { kind: 'ending', instanceState };
  return { kind: 'present', instanceState, owner: await instanceOwnerOf(deps, providerID) };
}

/**
 * The state of an instance. One that EC2 refuses to look at, such as a providerID that is none of its own, may run on (I6); so may one that is
 * too young to be known.
 */
async function stateOf(
  { instances, clock }: FinalizerDeps,
  providerID: string,
  launchTime: EpochMs | undefined,
): Promise<StateOrUnknown> {
  const instance = await orRejected(instances.describe(providerID));
  if (instance === undefined) return isUnknownYet(launchTime, clock.now()) ? 'unknown' : undefined;
  return 'cause' in instance ? 'unknown' : instance.state;
}

async function instanceOwnerOf(deps: FinalizerDeps, providerID: string): Promise<InstanceOwner> {
  const owned = await listOwnedInstances(deps);
  if (owned === undefined) return 'unknown';
  if (owned.byClaims.has(providerID)) return 'NodeClaim';
  return owned.byNodes.has(providerID) ? 'Node' : 'nothing';
}

export interface OwnedInstances {
  readonly byClaims: ReadonlySet<string | undefined>;
  readonly byNodes: ReadonlySet<string | undefined>;
}

/**
 * The instances that NodeClaims and Nodes have, by providerID. Undefined: NodeClaims are not served, so nobody can say whose an instance is
 * (I6). Throws as `list` does.
 */
export async function listOwnedInstances({
  kubernetes,
}: Pick<FinalizerDeps, 'kubernetes'>): Promise<OwnedInstances | undefined> {
  const claimsAnswer = await kubernetes.list(RESOURCES.NodeClaim, {}, { project: projectNodeClaim });
  const nodesAnswer = await kubernetes.list(RESOURCES.Node, {}, { project: projectNode });
  if (claimsAnswer.kind === 'notServed' || nodesAnswer.kind === 'notServed') return undefined;
  return {
    byClaims: new Set(claimsAnswer.objects.map(providerIDOf)),
    byNodes: new Set(nodesAnswer.objects.map(providerIDOf)),
  };
}

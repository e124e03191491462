/** Since when a node could be repaired (I5), by the cluster as it is. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, PortCall } from './invariant.ts';
import type { InstanceEndings } from './instance-endings.ts';
import { configurationIn } from './mirror.ts';
import { wasDone } from './ladder-acts.ts';
import type { ConditionHistory } from './condition-history.ts';
import { isSurelyDoubted } from './confirmed.ts';
import { censusOf, heldBy, isOfClaim, isOthersWork, isStopped } from './repair-census.ts';
import { profileOf, type RepairCondition } from './repair-conditions.ts';
import {
  annotationOf,
  dig,
  instanceOfNode,
  instantOf,
  isUnusedReplacement,
  poolNameOf,
  TERMINATION_TIMESTAMP,
  textOf,
} from './reading.ts';
import { countAround, mostRepairs } from './repair-limits.ts';
import { isGateOpen, repairAnswer, type Past, type RepairAnswer } from './repair-oracle.ts';
import type { Ownership } from './repair-ownership.ts';
import type { RepairPast } from './repair-past.ts';

/** Others may settle for as long. */
const LONGEST_SETTLING = 5 * 60_000;

/** UIDs of the nodes of a pool whose repair may be under way. */
export type UnderWay = (poolName: string | undefined) => ReadonlySet<string>;

interface JudgedFacts {
  readonly nodes: readonly KubernetesObject[];
  readonly ownership: Ownership;
  readonly everReadable: ReadonlySet<string>;
  readonly gateOpen: boolean;
  readonly profile: string | undefined;
  readonly policies: readonly KubernetesObject[];
  readonly pools: ReadonlyMap<string, KubernetesObject>;
  /** What was done to end a node, by its UID. */
  readonly repaired: ReadonlyMap<string, Pick<Ending, 'call' | 'claimUid'>>;
  readonly endings: Pick<InstanceEndings, 'endedSince'>;
  /** UIDs of NodeClaims that repair has deleted. */
  readonly ended: ReadonlySet<string>;
  readonly mirror: CheckContext['mirror'];
  /** Whether EC2 has not confirmed what the node is unhealthy with, where that is asked. */
  readonly isDoubted: (node: KubernetesObject) => boolean;
  readonly history: ConditionHistory;
  /** Nodes that repair has acted on: they do not come back by themselves. */
  readonly wasActedOn: (node: KubernetesObject) => boolean;
}

interface ClusterFacts extends JudgedFacts {
  /** Nodes whose repair may be under way. */
  readonly busy: readonly KubernetesObject[];
  readonly instanceState: CheckContext['instanceState'];
  readonly past: RepairPast;
}

/** How a node is brought to its end. */
export interface Ending {
  readonly pool: string | undefined;
  readonly claimUid: string;
  /** When it was asked for. */
  readonly time: number;
  /** What ends its instance where no NodeClaim stands for it. */
  readonly call?: PortCall;
}

/** Karpenter has nothing to do with it. */
const isUnmanaged = (node: KubernetesObject): boolean => poolNameOf(node) === undefined && !isOfClaim(node);

export function factsOf(
  context: CheckContext,
  everReadable: ReadonlySet<string>,
  history: ConditionHistory,
): Omit<ClusterFacts, 'busy' | 'repaired' | 'endings' | 'ended' | 'past' | 'wasActedOn'> {
  const { mirror, instanceState } = context;
  const nodes = [...mirror.all('nodes').values()];
  const config = configurationIn(mirror);
  return {
    mirror,
    isDoubted: node => isSurelyDoubted(node, context),
    history,
    nodes,
    instanceState,
    ownership: mirror.ownership(),
    everReadable,
    gateOpen: isGateOpen(config) === true,
    profile: profileOf(config),
    policies: [...mirror.all('nodelifecyclepolicies').values()],
    pools: new Map([...mirror.all('nodepools').values()].map(pool => [pool.metadata.name, pool])),
  };
}

interface Judged {
  readonly answer: RepairAnswer;
  readonly poolName: string | undefined;
  readonly pool: KubernetesObject | undefined;
}

/** What holds for the node; undefined when it is nobody's to repair, or is being terminated forcefully already. */
function judge(node: KubernetesObject, facts: JudgedFacts, now: number, isSettled: boolean): Judged | undefined {
  if (!facts.gateOpen) return undefined;
  const { ownership, policies, everReadable, mirror, history, wasActedOn } = facts;
  const instance = instanceOfNode(node);
  if (instance === undefined || ownership.nodesOf(instance).length > 1) return undefined;
  const [claim, ...others] = ownership.claimsOf(instance);
  if (others.length > 0) return undefined;
  const ending = facts.repaired.get(node.metadata.uid);
  if (claim === undefined && (ending !== undefined || !isUnmanaged(node))) return undefined;
  // Its Auto Scaling group ends the instance: a NodeClaim that comes later is no second repair (I4).
  if (ending?.call !== undefined && wasDone(ending.call)) return undefined;
  // One that names no Node yet may be of a pool whose list the Node is not in: both must agree.
  if (claim !== undefined && textOf(dig(claim, 'status', 'nodeName')) !== node.metadata.name) return undefined;
  // Who takes the deadline off it afterwards, or brings another NodeClaim, asks for no second deletion (I4).
  if ([claim?.metadata.uid, ending?.claimUid].some(uid => facts.ended.has(uid ?? ''))) return undefined;
  if (isStopped(node) || isUnusedReplacement(node) || isOthersWork(node, claim, now)) return undefined;
  if (claim !== undefined && mayEndAnyway(claim, facts)) return undefined;
  const poolName = claim && poolNameOf(claim);
  const pool = poolName === undefined ? undefined : facts.pools.get(poolName);
  const neighbours = ownership.neighboursIn(poolName);
  const sinceOf = (...of: Parameters<ConditionHistory['startOf']>): number | undefined =>
    history.startOf(...of)?.latest;
  const { endedSince } = facts.endings;
  const heldByCounts = (block: unknown): string | undefined => {
    const counted = { now, mirror, node, poolName, neighbours, endedSince };
    return (
      heldBy(block, censusOf(counted)) ?? (isSettled ? undefined : heldBy(block, censusOf({ ...counted, settling })))
    );
  };
  const settling = {
    window: LONGEST_SETTLING,
    wasIll: (other: KubernetesObject, { type, status }: RepairCondition) =>
      history.statusBefore(other.metadata.uid, type) === status,
    wasActedOn,
  };
  const members = ownership.membersOf(poolName);
  const asked = { profile: facts.profile, now, node, claim, pool, policies, everReadable, members, sinceOf };
  const unheld = repairAnswer({ ...asked, heldBy: () => undefined });
  // To count the cluster for every node that is unhealthy takes long; a node that is not due is held by nobody.
  const isDue = unheld.kind === 'from' && (unheld.time <= now || unheld.past.flapping !== undefined);
  return { answer: isDue ? repairAnswer({ ...asked, heldBy: heldByCounts }) : unheld, poolName, pool };
}

/** It is being deleted, and by its deadline or its own terms a repair may have nothing to add. */
function mayEndAnyway(claim: KubernetesObject, { pools, policies }: Pick<JudgedFacts, 'pools' | 'policies'>): boolean {
  if (claim.metadata.deletionTimestamp === undefined) return false;
  if (instantOf(annotationOf(claim, TERMINATION_TIMESTAMP)) !== undefined) return true;
  const isBounded = dig(claim, 'spec', 'terminationGracePeriod') !== undefined;
  return !isBounded && JSON.stringify([...pools.values(), ...policies]).includes('"Inherit"');
}

/** Since when the node could be repaired; undefined when it cannot be. */
export function overdueSince(
  node: KubernetesObject,
  facts: ClusterFacts,
  now: number,
  underWay: UnderWay,
): number | undefined {
  const judged = judge(node, facts, now, false);
  if (judged?.answer.kind !== 'from' || isOver(node, facts)) return undefined;
  const { answer, pool, poolName } = judged;
  const { futility } = answer.past;
  if (futility !== undefined && facts.past.tried(poolName) >= futility.repairs) return undefined;
  const dueTime = answer.time > now && isFlapping(node, answer.past, facts.past) ? now : answer.time;
  if (dueTime > now) return undefined;
  const most = mostRepairs(node, pool, facts.policies, facts.nodes);
  const around = countAround(node, facts.busy);
  if (around.zone >= most.zone || around.cluster >= most.cluster) return undefined;
  return answer.budget !== undefined && underWay(poolName).size >= answer.budget ? undefined : dueTime;
}

/** Without a NodeClaim the instance is all there is to end, and somebody else has ended it. */
function isOver(node: KubernetesObject, { ownership, instanceState }: ClusterFacts): boolean {
  const instance = instanceOfNode(node) ?? '';
  return ownership.claimsOf(instance).length === 0 && ['terminated', undefined].includes(instanceState(instance));
}

/** Whether the node was certainly unhealthy for long enough in all. */
const isFlapping = (node: KubernetesObject, { flapping, isPlain }: Past, past: RepairPast): boolean =>
  flapping !== undefined && isPlain && past.illFor(node, flapping.window) >= flapping.unhealthyFor;

/** What holds a repair that is due for certain; undefined when nothing does. */
export function holdOf(node: KubernetesObject, facts: JudgedFacts, now: number): string | undefined {
  const answer = judge(node, facts, now, true)?.answer;
  if (answer?.kind === 'from' && answer.time <= now && facts.isDoubted(node)) return 'EC2 has not confirmed it';
  return answer?.kind === 'blocked' && answer.time <= now ? answer.why : undefined;
}

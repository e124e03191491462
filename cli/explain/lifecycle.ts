/**
 * Explains repair, termination and drain of one node, before guards and budgets, and which policies say so. Reads the
 * cluster only, and changes nothing.
 */
import { activity } from '../../shared/contract/budget-schedule.ts';
import { type ConfigFault, parseConfig } from '../../shared/contract/config-schema.ts';
import { ANNOTATIONS, CONFIG_MAP, NVSENTINEL } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import { type NodeView, readNode } from '../../shared/domain/node.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { lastGoodConfiguration } from '../../shared/cluster/configuration.ts';
import { readPolicies, type PolicySet } from '../../shared/policies/policy-set.ts';
import type { Cluster } from '../cluster.ts';
import { type Answer, readAnswer, requestedId } from '../../functions/drain/explain.ts';
import { type DrainPlan, NO_CONFIGURATION, type PlannedPod } from '../drain/plan.ts';
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import {
  type ExplainedNode,
  explainNode,
  poolOf,
  readLaunchPauses,
  REPAIR_OWNER,
  type SeenCluster,
} from '../../functions/repair/explain.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { TerminationSettings } from '../../shared/domain/termination.ts';
import { termsText } from './ladder-text.ts';
import { drainsHeld, heldByMode, observedBy } from './modes.ts';
import { isHeldByCurfew, isLeft, isOnlyObserved, progressOf } from './observation.ts';
import {
  loadSettingsInForce,
  type SettingsInForce,
  unreadFor,
  type UnreadPolicy,
  withUnread,
} from './settings-in-force.ts';
import { statedPolicies, type StatedPolicy } from './stated-policies.ts';
import type { HookAtWork } from './termination-record.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export interface RepairExplanation {
  /**
   * As the rule of repair decides it (`functions/repair/node/decide.ts`), `blocked` also by what a whole pool allows; `underWay` and `stuck` as
   * Curfew has said it.
   */
  readonly kind: string;
  readonly message: string;
  /** From when on the node may be repaired. */
  readonly dueTime: EpochMs | undefined;
  /** Act that follows then; undefined: nothing is wrong, or nobody can tell. */
  readonly does?: string | undefined;
  /** Reason why no act begins now, although it may be its time: it holds what follows an act under way, too. */
  readonly heldBy?: string | undefined;
  /** Pods have no time to leave. */
  readonly isForceful?: boolean | undefined;
  /** Since when the act is under way. */
  readonly since?: EpochMs | undefined;
  /** The entry that decides; undefined: the provider's default. */
  readonly field: string | undefined;
  readonly source: string | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Policy that sets the mode `Observe`. */
  readonly observedBy: string;
}

export interface DrainExplanation {
  /** The reason why a drain that is asked for now does not begin. */
  readonly held: string | undefined;
  /** The drain that has cordoned the node. */
  readonly cordonedBy: string | undefined;
  /** A person asks for a drain with this id. */
  readonly requested: string | undefined;
  /** The answer to that request. */
  readonly answer: Answer | undefined;
  /** NVSentinel's state label. */
  readonly state: string | undefined;
  /** Policies whose limits of drains cannot be read as they are. */
  readonly unread: readonly UnreadPolicy[];
  readonly underWay:
    | {
        readonly id: string;
        readonly since: EpochMs;
        /** Requester, where its id says so. */
        readonly askedBy: string | undefined;
        /** As many nodes of its pool are drained as a policy allows. */
        readonly waits: boolean;
        /** Its end, where its Node must not be changed and still shows it. Only the table knows. */
        readonly over?: { readonly status: string; readonly message: string } | undefined;
        readonly plan: DrainPlan;
      }
    | undefined;
}

export interface LifecycleExplanation {
  readonly nodePool: string | undefined;
  readonly repair: RepairExplanation;
  readonly termination: {
    readonly source: string | undefined;
    readonly message: string;
    readonly since: EpochMs | undefined;
    /** The reason why nothing is done although it is being deleted. */
    readonly held: string | undefined;
    /** Reason of its wait, as the Node's condition says. */
    readonly waitsFor: string | undefined;
    /** It goes on, although neither NodePool nor policy asks for it any more. */
    readonly isLeft: boolean;
    /** Hooks at work; undefined: only Curfew's table knows them, and it is not read. */
    readonly hooks: readonly HookAtWork[] | undefined;
    /** Fate of each pod, while a drain that Curfew carries out is under way. */
    readonly pods: readonly PlannedPod[] | undefined;
  };
  readonly drain: DrainExplanation;
  /** Owner of the mark of work on the node, if it is somebody else's. */
  readonly worker: string | undefined;
  /** Policies that apply, in order of precedence. */
  readonly policies: readonly StatedPolicy[];
}

/** Facts that decide over all nodes, read once. */
export interface LifecycleCluster extends SeenCluster {
  /** The policies as they stand in the cluster. */
  readonly stated: PolicySet;
  /** The policies as each function goes by them; `policies` are those of repair. */
  readonly inForce: SettingsInForce;
  /** The configuration says how nodes are drained, or cannot be read. */
  readonly hasDrainConfiguration: boolean;
  /** Words about a configuration that cannot be read, and what is in force in its place; undefined: it can be read. */
  readonly configurationFault: string | undefined;
}

/**
 * Lists of the whole cluster; a kind that is not served is as if empty. Where the configuration cannot be read and the table is not, gates
 * count as open: who asks wants to know what else there is.
 */
export async function observeLifecycle({
  kubernetes,
  records,
}: Pick<Cluster, 'kubernetes' | 'records'>): Promise<LifecycleCluster> {
  const { namespace, name } = CONFIG_MAP;
  const [nodes, claims, policyList, poolList, answer] = await Promise.all([
    kubernetes.list(RESOURCES.Node),
    kubernetes.list(RESOURCES.NodeClaim),
    kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    kubernetes.list(RESOURCES.NodePool),
    kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
  ]);
  const configMap = objectOf(answer, { ifNotServed: 'throw' });
  const policies = objectsOf(policyList, { ifNotServed: 'empty' });
  const pools = objectsOf(poolList, { ifNotServed: 'empty' });
  const data = configMap?.['data'];
  const text: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, CONFIG_MAP.key) : undefined;
  const config = parseConfig(typeof text === 'string' ? text : '');
  const [fault] = config.ok ? [] : config.faults;
  const inForce = await loadSettingsInForce(records, policies);
  const kept = config.ok || records === undefined ? undefined : await lastGoodConfiguration({ records }, REPAIR_OWNER);
  const known = config.ok ? config.value : kept;
  const isKnown = records !== undefined;
  const claimObjects = objectsOf(claims, { ifNotServed: 'empty' });
  const poolNames = pools.map(pool => pool.metadata.name);
  return {
    nodes: objectsOf(nodes, { ifNotServed: 'throw' }).map(readNode),
    claims: claimObjects.map(readNodeClaim),
    claimObjects: new Map(claimObjects.map(each => [each.metadata.uid, each])),
    launchPauses: records === undefined ? new Map() : await readLaunchPauses(records, poolNames),
    stated: readPolicies(policies),
    inForce,
    policies: inForce.repair.set,
    activity,
    gateOpen: known?.featureGates.nodeRepair ?? (!config.ok && !isKnown),
    providerPolicies: known?.providerPolicies,
    hasDrainConfiguration: known === undefined ? !isKnown : known.drain !== undefined,
    configurationFault:
      fault && configurationText(fault, kept === undefined ? (isKnown ? 'none' : 'notKnown') : 'kept'),
    pools: new Map(pools.map(pool => [pool.metadata.name, pool])),
  };
}

/** Words about a configuration that cannot be read. @param inForce whether the last good one is known, and is there */
function configurationText({ line, key, message }: ConfigFault, inForce: 'kept' | 'none' | 'notKnown'): string {
  const what = `config.toml of ConfigMap curfew/curfew-config is not valid (line ${line}: ${key === '' ? '' : `${key}: `}${message})`;
  switch (inForce) {
    case 'kept':
      return `${what}: the last good configuration is in force`;
    case 'none':
      return `${what}, and none was valid before: every feature gate is off and drains are held`;
    case 'notKnown':
      return `${what}: the last good configuration stays in force, and is not known here (--stack NAME reads it)`;
  }
}

/** Explains by the very rules of the functions, without what only Curfew's table knows. */
export function explainLifecycle(cluster: LifecycleCluster, node: NodeView, now: EpochMs): LifecycleExplanation {
  const owner = ownerOf(node, indexOwners(cluster.nodes, cluster.claims));
  const explained = explainNode(cluster, node, now);
  const nodePool = explained.pool;
  const pool = nodePool === undefined ? undefined : cluster.pools.get(nodePool);
  const { termination: terminations, drain: drains } = cluster.inForce;
  const termination = effectiveTermination(pool, terminations.set);
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const since = claim?.deletionTime ?? node.deletionTime;
  const progress = progressOf(node);
  const isLeftOver = since !== undefined && isLeft(termination, node);
  const isAsked = since !== undefined && termination.kind !== 'none';
  const isOurs = isHeldByCurfew(termination, [node, claim]);
  const isObserved = isAsked && isOnlyObserved(termination, node);
  const requested = node.annotations[ANNOTATIONS.drainRequested];
  const answer = readAnswer(node.annotations[ANNOTATIONS.drainAnswer]);
  const isAnswered = answer !== undefined && answer.id === requestedId(requested);
  const isOpen = requested !== undefined && !isAnswered;
  return {
    nodePool,
    repair: repairOf(cluster, explained),
    termination: {
      source: termination.kind === 'none' ? undefined : termination.source,
      message: isLeftOver ? LEFT : withUnread(terminationText(termination), unreadFor(pool, terminations)),
      since,
      held: isObserved
        ? `${heldByMode(pool, 'termination', terminations.set) ?? ''}: nothing is done${isOurs ? ', the deletion waits' : ', and the deletion waits for nothing of Curfew'}`
        : since !== undefined && termination.kind === 'invalid'
          ? UNREADABLE
          : undefined,
      waitsFor: since === undefined || isObserved ? undefined : progress?.message,
      isLeft: isLeftOver,
      hooks: undefined,
      pods: undefined,
    },
    drain: {
      held: drainsHeld(pool, drains.set) ?? (isOpen && !cluster.hasDrainConfiguration ? NO_CONFIGURATION : undefined),
      cordonedBy: node.annotations[ANNOTATIONS.cordonedByDrain],
      requested,
      answer: isAnswered ? answer : undefined,
      state: node.labels[NVSENTINEL.stateLabel],
      unread: unreadFor(pool, drains),
      underWay: undefined,
    },
    worker: explained.worker,
    policies: statedPolicies(cluster, pool),
  };
}

/** Text where settings cannot be read: those that were in force before stand in Curfew's table. */
const UNREADABLE =
  'the deletion waits until that can be read or its deadline comes, unless it had begun or an earlier version could be read, which is in force then and is not known here';

/**
 * Words for what repair says of the node. Attempts and unhealthy times of the past stand in Curfew's table, which is not read:
 * `repair-events.ts` has what was said of them.
 */
function repairOf(cluster: LifecycleCluster, explained: ExplainedNode): RepairExplanation {
  const { pool: name, repair, kind, message, dueCondition, terms, rank, blockedBy } = explained;
  const pool = name === undefined ? undefined : cluster.pools.get(name);
  const unread = unreadFor(pool, cluster.inForce.repair);
  const { source, mode } = repair;
  const { dueTime, field } = dueCondition ?? {};
  const flapping = field === FLAPPING ? '' : flappingText(explained);
  const place =
    rank === undefined || rank.of === 1
      ? ''
      : `; number ${rank.order} of ${rank.of} nodes that are due, its score is ${rank.score}`;
  const held = blockedBy === undefined ? '' : `; held: ${blockedBy}`;
  return {
    kind: blockedBy !== undefined ? 'blocked' : kind === 'unclaimed' ? 'ignore' : kind,
    message: `${withUnread(message, unread)}${flapping}${place}${held}${elsewhere(cluster, explained, unread)}`,
    dueTime,
    field,
    source,
    mode,
    observedBy: observedBy(pool, 'repair', cluster.policies),
    heldBy: explained.obstacle ?? heldByMode(pool, 'repair', cluster.policies) ?? blockedBy,
    does: terms && termsText(terms, explained),
    isForceful: terms?.drainBound === 0,
  };
}

const FLAPPING = 'spec.repair.flapping';

/** Words about flapping: the times of before stand in Curfew's table. */
function flappingText({ kind, repair: { settings } }: ExplainedNode): string {
  if (kind !== 'tolerate' || settings === undefined || 'invalid' in settings || settings.flapping === undefined)
    return '';
  const { window, unhealthyFor } = settings.flapping;
  return `; sooner with earlier unhealthy times: ${formatDuration(unhealthyFor)} in all within ${formatDuration(window)} (flapping)`;
}

/** Words about settings that nothing stands in for, and about the configuration. Said where it matters. */
function elsewhere(
  { configurationFault, gateOpen }: LifecycleCluster,
  { kind }: ExplainedNode,
  unread: readonly UnreadPolicy[],
): string {
  const held = kind === 'refuse' && unread.length === 0 ? '; nothing is repaired until it is valid' : '';
  const isSilent = configurationFault === undefined || (kind === 'ignore' && gateOpen);
  return isSilent ? held : `${held}; ${configurationFault}`;
}

/** Settings that a termination goes by. */
export const inForceOf = ({ finalizerName, scope }: Pick<TerminationSettings, 'finalizerName' | 'scope'>): string =>
  `finalizer ${finalizerName}, scope ${scope}`;

const LEFT =
  "goes on as it began, although neither the NodePool nor a policy asks for it any more; its settings stand in Curfew's table (--stack NAME reads it)";

/** Settings in force, whether the node is being terminated or not. */
export function terminationText(termination: ReturnType<typeof effectiveTermination>): string {
  switch (termination.kind) {
    case 'none':
      return 'not by Curfew: neither the NodePool nor a policy asks for it';
    case 'invalid':
      return termination.message;
    case 'custom':
      return `${inForceOf(termination.settings)}, mode ${termination.mode}`;
  }
}

/** The nodes of a pool, by their NodeClaims. */
export function nodesOfPool({ nodes, claims }: LifecycleCluster, pool: string): readonly NodeView[] {
  const index = indexOwners(nodes, claims);
  return nodes.filter(node => poolOf(node, ownerOf(node, index)) === pool);
}

/** The nodes that no NodePool of the cluster has, as those of managed node groups: only a policy with an empty selector reaches them. */
export function nodesWithoutPool({ nodes, claims, pools }: LifecycleCluster): readonly NodeView[] {
  const index = indexOwners(nodes, claims);
  return nodes.filter(node => !pools.has(poolOf(node, ownerOf(node, index)) ?? ''));
}

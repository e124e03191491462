/** What becomes of a node by itself: repair, termination, drain, and which policies say so. Reads the cluster only, changes nothing. */
import { activity } from '../../shared/contract/budget-schedule.ts';
import { parseConfig } from '../../shared/contract/config-schema.ts';
import { ANNOTATIONS, CONFIG_MAP, NVSENTINEL } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { type NodeClaimView, readNodeClaim } from '../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView, readConditions, readNode } from '../../shared/domain/node.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { policiesFor, type PolicySet, readPolicies } from '../../shared/policies/policy-set.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { type Answer, readAnswer, requestedId } from '../../functions/drain/explain.ts';
import { type DrainPlan, NO_CONFIGURATION, type PlannedPod } from '../drain/plan.ts';
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import {
  CONFIRMED,
  decide,
  decideNode,
  dueClause,
  effectiveRepair,
  type JudgeContext,
  judgeHealth,
  judgeNode,
  NEW_POOL,
  otherWorkOn,
  poolOf,
  readableSettings,
  type RepairRules,
  surroundingsOf,
  unhealthyStatementsOf,
} from '../../functions/repair/explain.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { ProviderPolicies } from '../../shared/domain/provider-policies.ts';
import {
  AWS_REPAIR_STATEMENTS,
  type RepairSettings,
  statementsOf,
  termsOf,
} from '../../shared/domain/repair-policy.ts';
import type { TerminationSettings } from '../../shared/domain/termination.ts';
import { termsText } from './ladder-text.ts';
import { drainsHeld, heldByMode, observedBy } from './modes.ts';
import { progressOf } from './observation.ts';
import type { HookAtWork } from './termination-record.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export interface RepairExplanation {
  /**
   * As the rule of repair decides it (`functions/repair/rule/node-verdict.ts`), `blocked` also by what a whole pool allows; `underWay` and `stuck` as
   * Curfew has said it.
   */
  readonly kind: string;
  readonly message: string;
  /** From when on the node may be repaired. */
  readonly dueTime: EpochMs | undefined;
  /** What is done about it then; undefined: nothing is wrong, or nobody can tell. */
  readonly does?: string | undefined;
  /** Pods have no time to leave. */
  readonly isForceful?: boolean | undefined;
  /** Since when the act is under way. */
  readonly since?: EpochMs | undefined;
  /** The entry that decides; undefined: the provider's default. */
  readonly field: string | undefined;
  readonly source: string | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Behind the mode `Observe`: whose it is. */
  readonly observedBy: string;
}

export interface DrainExplanation {
  /** Why a drain that is asked for now does not begin. */
  readonly held: string | undefined;
  /** The drain that has cordoned the node. */
  readonly cordonedBy: string | undefined;
  /** A person asks for a drain with this id. */
  readonly requested: string | undefined;
  /** How that one ended. */
  readonly answer: Answer | undefined;
  /** NVSentinel's state label. */
  readonly state: string | undefined;
  readonly underWay:
    | {
        readonly id: string;
        readonly since: EpochMs;
        /** Who asked for it, where its id says so. */
        readonly askedBy: string | undefined;
        /** As many nodes of its pool are drained as a policy allows. */
        readonly waits: boolean;
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
    /** Why nothing is done although it is being deleted. */
    readonly held: string | undefined;
    /** What it waits for, as the Node's condition says. */
    readonly waitsFor: string | undefined;
    /** It goes on, although neither NodePool nor policy asks for it any more. */
    readonly isLeft: boolean;
    /** That are at work; undefined: only Curfew's table knows, which is not read. */
    readonly hooks: readonly HookAtWork[] | undefined;
    /** Of one that Curfew carries out, while it is under way: what becomes of each pod. */
    readonly pods: readonly PlannedPod[] | undefined;
  };
  readonly drain: DrainExplanation;
  /** Whose mark of work stands on the node, if it is somebody else's. */
  readonly worker: string | undefined;
  /** That apply, in order of precedence. */
  readonly policies: readonly { readonly name: string; readonly mode: 'Enforce' | 'Observe' }[];
}

/** What decides over all nodes, read once. */
export interface LifecycleCluster {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  readonly policies: PolicySet;
  readonly policyObjects: readonly KubernetesObject[];
  readonly gateOpen: boolean;
  readonly providerPolicies?: ProviderPolicies | undefined;
  /** The configuration says how nodes are drained, or cannot be read. */
  readonly hasDrainRules: boolean;
  /** What is wrong with the configuration: another one is in force, which stands in Curfew's table and is not read. */
  readonly configurationFault: string | undefined;
  readonly pools: ReadonlyMap<string, KubernetesObject>;
}

/**
 * Lists of the whole cluster; a kind that is not served is as if empty. With a configuration that cannot be read, gates
 * count as open and the fault is answered.
 */
export async function observeLifecycle(kubernetes: KubernetesApi): Promise<LifecycleCluster> {
  const { namespace, name } = CONFIG_MAP;
  const [nodes, claims, policyList, poolList, answer] = await Promise.all([
    kubernetes.list(RESOURCES.Node),
    kubernetes.list(RESOURCES.NodeClaim),
    kubernetes.list(RESOURCES.NodeLifecyclePolicy),
    kubernetes.list(RESOURCES.NodePool),
    kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }),
  ]);
  const configMap = objectOf(answer, { notServed: 'notKnown' });
  const policies = objectsOf(policyList, { notServed: 'none' });
  const pools = objectsOf(poolList, { notServed: 'none' });
  const data = configMap?.['data'];
  const text: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, CONFIG_MAP.key) : undefined;
  const config = parseConfig(typeof text === 'string' ? text : '');
  const [fault] = config.ok ? [] : config.faults;
  return {
    nodes: objectsOf(nodes, { notServed: 'notKnown' }).map(readNode),
    claims: objectsOf(claims, { notServed: 'none' }).map(readNodeClaim),
    policies: readPolicies(policies),
    policyObjects: policies,
    // Of a configuration that is not valid nobody can tell here; who asks wants to know what else there is.
    gateOpen: config.ok ? config.value.featureGates.nodeRepair : true,
    providerPolicies: config.ok ? config.value.providerPolicies : undefined,
    hasDrainRules: !config.ok || config.value.drain !== undefined,
    configurationFault: fault && `line ${fault.line}: ${fault.key === '' ? '' : `${fault.key}: `}${fault.message}`,
    pools: new Map(pools.map(pool => [pool.metadata.name, pool])),
  };
}

/** By the very rules of the functions, without what only Curfew's table knows: see `withHold`. */
export function explainLifecycle(cluster: LifecycleCluster, node: NodeView, now: EpochMs): LifecycleExplanation {
  const owner = ownerOf(node, indexOwners(cluster.nodes, cluster.claims));
  const nodePool = poolOf(node, owner);
  const pool = nodePool === undefined ? undefined : cluster.pools.get(nodePool);
  const rules = rulesOf(cluster, pool);
  const termination = effectiveTermination(pool, cluster.policies);
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const since = claim?.deletionTime ?? node.deletionTime;
  const progress = progressOf(node);
  const goesOn = termination.isBraked && progress !== undefined;
  const isLeft = since !== undefined && progress !== undefined && termination.kind === 'none';
  const isAsked = since !== undefined && termination.kind !== 'none';
  const isObserved = isAsked && termination.mode === 'Observe' && !goesOn;
  const requested = node.annotations[ANNOTATIONS.drainRequested];
  const answer = readAnswer(node.annotations[ANNOTATIONS.drainAnswer]);
  const isAnswered = answer !== undefined && answer.id === requestedId(requested);
  const isOpen = requested !== undefined && !isAnswered;
  return {
    nodePool,
    repair: explainRepair(cluster, node, { pool: nodePool, rules, now }),
    termination: {
      source: termination.kind === 'none' ? undefined : termination.source,
      message: isLeft ? LEFT : terminationText(termination),
      since,
      held: isObserved
        ? `${heldByMode(pool, 'termination', cluster.policies) ?? ''}: nothing is done, the deletion waits`
        : since !== undefined && termination.kind === 'invalid'
          ? UNREADABLE
          : undefined,
      waitsFor: since === undefined || isObserved ? undefined : progress?.message,
      isLeft,
      hooks: undefined,
      pods: undefined,
    },
    drain: {
      held: drainsHeld(pool, cluster.policies) ?? (isOpen && !cluster.hasDrainRules ? NO_CONFIGURATION : undefined),
      cordonedBy: node.annotations[ANNOTATIONS.cordonedByDrain],
      requested,
      answer: isAnswered ? answer : undefined,
      state: node.labels[NVSENTINEL.stateLabel],
      underWay: undefined,
    },
    worker: otherWorkOn(node, claim, undefined, now)?.what,
    policies: policiesFor(pool, cluster.policies).map(({ object, mode }) => ({ name: object.metadata.name, mode })),
  };
}

/** What was in force before stands in Curfew's table. */
const UNREADABLE =
  'the deletion waits until that can be read or its deadline comes, unless it had begun or an earlier version could be read, which is in force then and is not known here';

function rulesOf(
  { gateOpen, policies, providerPolicies }: LifecycleCluster,
  pool: KubernetesObject | undefined,
): RepairRules {
  const value = pool?.metadata.annotations?.[DO_NOT_REPAIR_ANNOTATION];
  const poolVeto = pool && { kind: 'NodePool' as const, name: pool.metadata.name, uid: pool.metadata.uid, value };
  return { ...effectiveRepair(pool, policies, providerPolicies), gateOpen, poolVeto };
}

/** Attempts and unhealthy times of the past stand in Curfew's table, which is not read: `repair-events.ts` has what was said of them. */
function explainRepair(
  cluster: LifecycleCluster,
  node: NodeView,
  { pool, rules, now }: { readonly pool: string | undefined; readonly rules: RepairRules; readonly now: EpochMs },
): RepairExplanation {
  const { nodes, claims } = cluster;
  const { source, mode } = rules;
  const owners = indexOwners(nodes, claims);
  const owner = ownerOf(node, owners);
  const settings = readableSettings(rules);
  const unhealthy = settings === undefined ? [] : unhealthyStatementsOf(node, { now, settings, record: undefined });
  const decision = decideNode({ now, node, owner, rules, unhealthy, episodes: [] });
  const dueTime = 'dueCondition' in decision ? decision.dueCondition.dueTime : undefined;
  const field = 'dueCondition' in decision ? decision.dueCondition.field : undefined;
  const message = `${withoutDueTime(decision.message, dueTime)}${field === FLAPPING ? '' : flappingText(decision.kind, settings)}`;
  const aside = elsewhere(cluster, decision.kind, source);
  const health = settings && judgeHealth(unhealthy, { now, settings, episodes: [] });
  const isUnhealthy = health?.kind === 'unhealthy' && ['tolerate', 'due', 'blocked', 'vetoed'].includes(decision.kind);
  const entryPolicy = isUnhealthy && settings ? termsOf(settings, health.entry) : undefined;
  const observed = observedBy(pool === undefined ? undefined : cluster.pools.get(pool), 'repair', cluster.policies);
  const own = {
    kind: decision.kind === 'unclaimed' ? 'ignore' : decision.kind,
    message: `${message}${aside}`,
    dueTime,
    field,
    source,
    mode,
    observedBy: observed,
    does: entryPolicy && termsText(entryPolicy),
    isForceful: entryPolicy?.drainBound === 0,
  };
  if (decision.kind !== 'due' || settings === undefined) return own;
  const context: JudgeContext = {
    ...NOTHING_KNOWN,
    now,
    pool,
    rules,
    owners,
    claims: new Map(claims.map(each => [each.uid, each])),
    nodesByName: new Map(nodes.map(each => [each.name, each])),
  };
  const members = nodes.filter(each => poolOf(each, ownerOf(each, owners)) === pool);
  const findings = members.map(each => judgeNode(context, each, undefined));
  const statements = (each: NodeView) => {
    const name = poolOf(each, ownerOf(each, owners));
    const found = readableSettings(rulesOf(cluster, name === undefined ? undefined : cluster.pools.get(name)));
    return found === undefined ? AWS_REPAIR_STATEMENTS : statementsOf(found);
  };
  const all = { nodes, statementsOf: statements, pools: [] };
  const surroundings = surroundingsOf({
    pool,
    settings,
    own: members,
    claims,
    cluster: all,
    state: NEW_POOL,
    now,
    nodePool: pool === undefined ? undefined : cluster.pools.get(pool),
    findings,
    activity,
  });
  // EC2 is not asked here: what it has said is in Events.
  const answers = new Map(nodes.map(({ uid }) => [uid, CONFIRMED]));
  const decided = decide({ now, pool, rules, findings, state: NEW_POOL, surroundings, answers });
  const verdict = decided.findings.find(each => each.node.uid === node.uid)?.verdict;
  const held = verdict?.kind === 'blocked' || verdict?.kind === 'notAllowed' ? verdict : undefined;
  const rank =
    verdict?.kind === 'notAllowed'
      ? verdict.rank
      : decided.granted.find(({ finding }) => finding.node.uid === node.uid)?.rank;
  const place =
    rank === undefined || rank.of === 1
      ? ''
      : `; number ${rank.place} of ${rank.of} nodes that are due, its score is ${rank.score}`;
  if (held === undefined) return { ...own, message: `${message}${place}${aside}` };
  return { ...own, kind: 'blocked', message: `${message}${place}; held: ${held.message}${aside}` };
}

const FLAPPING = 'spec.repair.flapping';

/** What flapping adds: the times of before stand in Curfew's table. */
function flappingText(kind: string, settings: RepairSettings | undefined): string {
  if (kind !== 'tolerate' || settings?.flapping === undefined) return '';
  const { window, unhealthyFor } = settings.flapping;
  return `; sooner with earlier unhealthy times: ${formatDuration(unhealthyFor)} in all within ${formatDuration(window)} (flapping)`;
}

/** What stands in Curfew's table is not read. */
const NOTHING_KNOWN = {
  observedTimes: new Map(),
  changesTime: undefined,
  drainEnds: new Map(),
  otherRequests: new Map(),
  basisOf: () => '',
} as const;

/** What is in force in place of what cannot be read stands in Curfew's table: said where it matters. */
function elsewhere(
  { configurationFault, policyObjects }: LifecycleCluster,
  kind: string,
  source: string | undefined,
): string {
  const broken = policyObjects.find(({ kind: type, metadata }) => `${type} ${metadata.name}` === source);
  const kept = kind === 'refuse' && broken !== undefined ? KEPT.exec(acceptedMessage(broken))?.[0] : undefined;
  const held = kind === 'refuse' ? '; nothing is repaired until it is valid' : '';
  const policy = kept === undefined ? held : `; ${kept}, and is not known here`;
  if (configurationFault === undefined || kind === 'ignore') return policy;
  return `${policy}; config.toml of ConfigMap curfew/curfew-config is not valid (${configurationFault}): the last good configuration stays in force, and is not known here`;
}

/** As the condition `Accepted` of a policy says it (`functions/repair/policy-summary.ts`). */
const KEPT = /generation \d+, which was accepted last, stays in force/;

const acceptedMessage = ({ status }: KubernetesObject): string =>
  readConditions(status?.['conditions']).find(({ type }) => type === 'Accepted')?.message ?? '';

/** The due time is said beside the message, once. */
function withoutDueTime(message: string, dueTime: EpochMs | undefined): string {
  return dueTime === undefined ? message : message.replace(dueClause({ dueTime }), '');
}

/** What a termination goes by. */
export const inForceOf = ({ finalizerName, scope }: Pick<TerminationSettings, 'finalizerName' | 'scope'>): string =>
  `finalizer ${finalizerName}, scope ${scope}`;

const LEFT =
  "goes on as it began, although neither the NodePool nor a policy asks for it any more; its settings stand in Curfew's table (--stack NAME reads it)";

/** What is in force, whether the node is being terminated or not. */
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

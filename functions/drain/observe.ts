/** Reads the input of drains: the Node and their record, and while something is to be done its pods and the rules in force. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { textOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { findNodeClaims, loadCluster } from '../../shared/cluster/owner.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { DEFAULT_CONFIG } from '../../shared/contract/config-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import type { DrainSettings } from '../../shared/domain/drain-settings.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { endsBy, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY, isProtected } from '../../shared/domain/protection.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Tries } from '../../shared/lifecycle/refusals.ts';
import { findSubject, type Lookup } from '../../shared/lifecycle/subject.ts';
import { refusingNewer, type TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import { decisionFor } from '../../shared/policies/deciding-policy.ts';
import { faultText, unreadableMaybeFor } from '../../shared/policies/policy-set.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { type NotKnown, orNotKnown } from '../../shared/ports/read-answer.ts';
import { isSentBefore } from './bus-event.ts';
import { findResource } from './custom-resource.ts';
import { isCustomDrain } from './decide.ts';
import { toDrainedNode } from './drained-node.ts';
import { hasStaleCordonMark, requestOnNode, sinceOf } from './rule/node-annotations.ts';
import type {
  IncomingMessage,
  DrainedNode,
  DrainObservation,
  DrainConfiguration,
  PoolDrains,
} from './rule/observation.ts';
import { askedIn, goesForAllPods, isForAllPods, isWaiting } from './rule/phase.ts';
import { goesBefore, mustWait } from './rule/queue.ts';
import { NO_DRAINS, OWNER, type ActiveDrain, type DrainRecord } from './record.ts';
import { ALL_PODS, DRAIN_BLOCKS, drainLimitsFor, compileSettings } from './settings.ts';
import { readPoolDrains, withoutSkippedTurns } from './wake-ups.ts';

export type DrainDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'events' | 'audit' | 'metrics' | 'clock' | 'cluster'
>;

export interface TargetNode {
  readonly name: string;
  readonly uid: string | undefined;
  /** The change asks for no drain: it matters only to a drain that is known. */
  readonly onlyIfKnown?: boolean | undefined;
  /** The version of the Node in the event: if the drain under way wrote it, the run that wrote it went on from there. */
  readonly eventVersion?: string | undefined;
  /** Time when the message was put on the bus. Without a UID it is not about a Node that came after it. */
  readonly sentTime?: EpochMs | undefined;
}

export interface ObservedDrain extends DrainObservation {
  readonly object: KubernetesObject;
  readonly store: TimedRecord<DrainRecord>;
  /** Changes of Node and custom resource that may be refused. */
  readonly tries: Tries;
  /** Time when the record's timer is due. */
  readonly armed: EpochMs | undefined;
  /** Failure for which the custom resource is not known. */
  readonly readFailure?: NotKnown['error'] | undefined;
  /** Text of the template of the custom drain. */
  readonly template: string | undefined;
}

/** State that all looks of one run share. */
export interface DrainObserverContext {
  /** The record of a Node, by its UID. */
  readonly recordOf: (uid: string) => TimedRecord<DrainRecord>;
  readonly tries: Tries;
}

/** Looks at a Node once. @param incoming the message in hand, until it is in the record */
export async function observe(
  deps: DrainDeps,
  { recordOf, tries }: DrainObserverContext,
  target: TargetNode,
  incoming: IncomingMessage | undefined,
): Promise<Lookup<ObservedDrain, DrainRecord>> {
  const { name, uid, onlyIfKnown, eventVersion } = target;
  const found = await findSubject(deps, {
    ref: { type: RESOURCES.Node, name },
    uid,
    onlyIfKnown,
    recordOf: id => {
      const record = recordOf(id);
      return incoming === undefined ? record : refusingNewer(record, name);
    },
    isUnchanged: ({ active }) => eventVersion !== undefined && active?.nodeVersion === eventVersion,
  });
  if (found.kind !== 'here') return found;
  const { object, record: store, loaded } = found;
  if (isSentBefore(object, target)) return { kind: 'nothing' };
  const record = loaded.kind === 'known' ? loaded.value : NO_DRAINS;
  const node = toDrainedNode(object, record);
  const asked = incoming ?? requestOnNode(node, record);
  if (loaded.kind === 'none' && asked === undefined && !isLeftOver(node)) return { kind: 'nothing' };
  const base = {
    object,
    store,
    tries,
    armed: loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined,
    record,
    incoming: asked,
    now: deps.clock.now(),
    node,
    configuration: undefined,
    maxEventAge: DEFAULT_CONFIG.healthEvents.maxEventAge,
    template: undefined,
    mode: 'Enforce',
    unreadable: undefined,
    limits: NO_DRAIN_LIMITS,
    poolDrains: undefined,
    pods: [],
    protection: DEFAULT_PROTECTION_POLICY,
    isProtectionOverridden: false,
    resource: { kind: 'notAsked' },
  } as const satisfies ObservedDrain;
  const isIdle = record.active === undefined && record.requests.length === 0 && asked === undefined;
  return { kind: 'here', observation: isIdle ? base : await withSurroundings(deps, base) };
}

/** Whether the Node carries marks of a drain that has ended. If nothing took them off, they would use a place of the pool for ever. */
const isLeftOver = (node: DrainedNode): boolean =>
  node.underWay !== undefined ||
  node.isWatched ||
  node.shownDrain === 'inProgress' ||
  (node.shownDrain === 'drained' && !node.unschedulable) ||
  hasStaleCordonMark(node);

async function withSurroundings(deps: DrainDeps, base: ObservedDrain): Promise<ObservedDrain> {
  const { object, record, now } = base;
  const view = readNode(object);
  const pool = nodePoolOf(view);
  const [config, pods] = await inParallel([loadConfig(OWNER, deps), loadPodsOnNode(deps, view.name)]);
  const inForce = await loadInForce(deps, { view, pool, pods, now }).catch(textOutOfSight);
  const asked = askedIn(base);
  const isOfAllPods = goesForAllPods({ requests: asked, phase: record.active?.phase });
  const configuration = isOfAllPods ? ALL_PODS : config.drain && configurationOf(config.drain);
  const { active } = record;
  const limits = typeof inForce === 'string' ? base.limits : inForce.limits;
  const poolDrains =
    active && isWaiting(active) ? await drainsAround(deps, { node: base.node, limits, pool }, active) : undefined;
  const isCustom = configuration !== undefined && active !== undefined && isCustomDrain(active, configuration, view);
  const found = isCustom
    ? await orNotKnown(findResource(deps, configuration.settings.customDrain, active, base.node))
    : ({ kind: 'notAsked' } as const);
  const readFailure = 'error' in found ? found.error : undefined;
  const resource = 'error' in found ? { kind: found.kind, message: found.error.message } : found;
  const { template, healthEvents } = config;
  const seen = {
    configuration,
    maxEventAge: healthEvents.maxEventAge,
    poolDrains,
    pods,
    resource,
    readFailure,
    template,
  };
  return {
    ...base,
    ...seen,
    ...(typeof inForce === 'string' ? { outOfSight: inForce } : inForce),
    ...(isOfAllPods && asked.every(isForAllPods) && { limits: NO_DRAIN_LIMITS }),
  };
}

/** Reads the other drains of the pool. Of those that wait, an older one that passes its turn is left out. */
async function drainsAround(
  deps: DrainDeps,
  { node, limits, pool }: Pick<ObservedDrain, 'node' | 'limits'> & { readonly pool: string | undefined },
  active: ActiveDrain,
): Promise<PoolDrains> {
  const drains = await readPoolDrains(deps, node, pool);
  if (!mustWait(limits, active.requests)) return drains;
  const self = { uid: node.uid, since: sinceOf(active) };
  return withoutSkippedTurns(deps, drains, limits.maxConcurrent, drain => goesBefore(drain, self));
}

/** Reads what the NodePool and the policies say. @throws {OutOfSight} where a kind is not served that may say something */
async function loadInForce(
  deps: DrainDeps,
  { view, pool, pods, now }: { view: NodeView; pool: string | undefined; pods: readonly PodView[]; now: EpochMs },
): Promise<Pick<ObservedDrain, 'mode' | 'unreadable' | 'limits' | 'protection' | 'isProtectionOverridden'>> {
  const [poolObject, [drains, protections]] = await inParallel([
    loadPool(deps, pool),
    loadPolicySets(deps, OWNER, DRAIN_BLOCKS),
  ]);
  const { policy: protection } = effectiveProtection(poolObject, protections);
  const { mode } = decisionFor(poolObject, 'drain', drains);
  const unreadable = unreadableMaybeFor(poolObject, drains);
  const hasProtectedPod = pods.some(pod => isProtected(pod, now, protection));
  const isProtectionOverridden = hasProtectedPod && (await isTerminatedForcefully(deps, view, pool, now));
  const limits = drainLimitsFor(poolObject, drains);
  return { mode, unreadable: unreadable && faultText(unreadable), limits, protection, isProtectionOverridden };
}

const compilations = new WeakMap<DrainSettings, DrainConfiguration>();

/** Compiles settings once, for however many turns they are in force. */
function configurationOf(settings: DrainSettings): DrainConfiguration {
  const known = compilations.get(settings);
  if (known !== undefined) return known;
  const configuration = { settings, ...compileSettings(settings) };
  compilations.set(settings, configuration);
  return configuration;
}

/**
 * Whether the node's NodeClaim is past its forceful termination: protection ends there. Its owner must be certain before that, so all objects
 * that may state it are read (I6).
 */
export async function isTerminatedForcefully(
  deps: Pick<FunctionDeps, 'kubernetes'>,
  node: NodeView,
  pool: string | undefined,
  now: EpochMs,
): Promise<boolean> {
  if (!isTerminationDue(node, [node], await findNodeClaims(deps, node, pool), now)) return false;
  const { nodes, claims } = await loadCluster(deps);
  return isTerminationDue(node, nodes, claims, now);
}

function isTerminationDue(
  node: NodeView,
  nodes: readonly NodeView[],
  claims: readonly NodeClaimView[],
  now: EpochMs,
): boolean {
  const owner = ownerOf(node, indexOwners(nodes, claims));
  if (owner.kind !== 'claim') return false;
  return owner.claim.deletionTime !== undefined && endsBy(owner.claim, now);
}

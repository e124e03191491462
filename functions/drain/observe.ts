/** Reads the input of drains: the Node and their record, and while something is to be done its pods and the rules in force. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { notServedText } from '../../shared/cluster/not-served.ts';
import { findNodeClaims, loadCluster } from '../../shared/cluster/owner.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import type { DrainSettings } from '../../shared/domain/drain-settings.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { hasDeadlineBy, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isProtected } from '../../shared/domain/protection.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { withoutRefusedRead, type Backoff } from '../../shared/lifecycle/refusals.ts';
import { findSubject, type Lookup } from '../../shared/lifecycle/subject.ts';
import { refusingNewer, type TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import { decisionFor, unknownSettingsFault } from '../../shared/policies/deciding-policy.ts';
import { faultText } from '../../shared/policies/policy-set.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';
import { type Unavailable, orUnavailable } from '../../shared/ports/read-answer.ts';
import { isSentBefore } from './bus-event.ts';
import type { DrainDeps } from './context.ts';
import { findResource } from './custom-resource.ts';
import { toDrainedNode } from './drained-node.ts';
import { isLeftOver } from './rule/ending.ts';
import { requestOnNode, firstRequestTimeOf, withoutAnswered } from './rule/node-annotations.ts';
import type {
  IncomingMessage,
  DrainObservation,
  IdleObservation,
  DrainConfiguration,
  PoliciesInForce,
  PoliciesNotServed,
  PoolDrains,
  WaitingDrain,
} from './rule/observation.ts';
import { goesForAllPods, isForAllPods, isLeftToCustomResource, isWaiting, remainingRequests } from './rule/phase.ts';
import { goesBefore, mustWait } from './rule/queue.ts';
import { NO_DRAINS, OWNER, type ActiveDrain, type DrainRecord } from './record.ts';
import { ALL_PODS, DRAIN_BLOCKS, drainLimitsFor, compileSettings } from './settings.ts';
import { readPoolDrains, withoutEnded, withoutSkippedTurns } from './wake-ups.ts';

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

interface ObservedObjects {
  readonly object: KubernetesObject;
  readonly timedRecord: TimedRecord<DrainRecord>;
  /** Changes of Node and custom resource that may be refused. */
  readonly backoff: Backoff;
  /** Time when the record's timer is due. */
  readonly armed: EpochMs | undefined;
}

/** A node with a drain, or with a message about one. */
export interface ObservedDrain extends DrainObservation, ObservedObjects {
  /** Failure for which the custom resource is not known. */
  readonly readFailure?: Unavailable['error'] | undefined;
  /** Text of the template of the custom drain. */
  readonly template: string | undefined;
}

/** Node of one look, idle or not. */
export type ObservedNode = ObservedDrain | (IdleObservation & ObservedObjects);

/** State that all looks of one run share. */
export interface DrainObserverContext {
  /** The record of a Node, by its UID. */
  readonly timedRecordOf: (uid: string) => TimedRecord<DrainRecord>;
  readonly backoff: Backoff;
}

/** Looks at a Node once. @param incoming the message in hand, until it is in the record */
export async function observe(
  deps: DrainDeps,
  { timedRecordOf, backoff }: DrainObserverContext,
  target: TargetNode,
  incoming: IncomingMessage | undefined,
): Promise<Lookup<ObservedNode, DrainRecord>> {
  const { name, uid, onlyIfKnown, eventVersion } = target;
  const found = await findSubject(deps, {
    ref: { type: RESOURCES.Node, name },
    uid,
    onlyIfKnown,
    timedRecordOf: id => {
      const timedRecord = timedRecordOf(id);
      return incoming === undefined ? timedRecord : refusingNewer(timedRecord, name);
    },
    isUnchanged: ({ active }) => eventVersion !== undefined && active?.nodeVersion === eventVersion,
  });
  if (found.kind !== 'here') return found;
  const { object, timedRecord, loaded } = found;
  if (isSentBefore(object, target)) return { kind: 'nothing' };
  const stored = loaded.kind === 'known' ? withoutRefusedRead(loaded.value) : NO_DRAINS;
  const node = toDrainedNode(object, stored);
  const record = withoutAnswered(stored, node);
  const asked = incoming ?? requestOnNode(node, record);
  if (loaded.kind === 'none' && asked === undefined && !isLeftOver(node)) return { kind: 'nothing' };
  const armed = loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
  const base = { object, timedRecord, backoff, armed, record, now: deps.clock.now(), node };
  const isIdle = record.active === undefined && record.requests.length === 0 && asked === undefined;
  if (isIdle) return { kind: 'here', observation: { kind: 'idle', ...base, incoming: undefined } };
  return { kind: 'here', observation: await withSurroundings(deps, { ...base, incoming: asked }) };
}

async function withSurroundings(
  deps: DrainDeps,
  base: ObservedObjects & Pick<DrainObservation, 'now' | 'node' | 'record' | 'incoming'>,
): Promise<ObservedDrain> {
  const { object, record, now } = base;
  const view = readNode(object);
  const pool = nodePoolOf(view);
  const [config, pods] = await inParallel([loadConfig(OWNER, deps), loadPodsOnNode(deps, view.name)]);
  const loaded = await loadInForce(deps, { view, pool, pods, now });
  const asked = remainingRequests(base);
  const isOfAllPods = goesForAllPods({ requests: asked, phase: record.active?.phase });
  const configuration = isOfAllPods ? allPodsBeside(config.drain) : config.drain && configurationOf(config.drain);
  const { active } = record;
  const poolDrains =
    active && isWaiting(active)
      ? await drainsAround(deps, { node: base.node, inForce: loaded, pool }, active)
      : undefined;
  // After its fallback a drain waits for no resource.
  const isAwaited =
    configuration !== undefined && active !== undefined && isLeftToCustomResource(active, configuration, view);
  const found = isAwaited
    ? await orUnavailable(findResource(deps, configuration.settings.customDrain, active, base.node))
    : ({ kind: 'notAsked' } as const);
  return {
    kind: 'drain',
    ...base,
    configuration,
    inForce: asked.some(isForAllPods) ? withoutLimits(loaded) : loaded,
    maxEventAge: config.healthEvents.maxEventAge,
    poolDrains,
    pods,
    resource: 'error' in found ? { kind: found.kind, message: found.error.message } : found,
    readFailure: 'error' in found ? found.error : undefined,
    template: config.template,
  };
}

/** The settings of a drain for all pods. What its other requests are about, the configuration says. */
const allPodsBeside = (settings: DrainSettings | undefined): DrainConfiguration =>
  settings === undefined
    ? ALL_PODS
    : { ...ALL_PODS, settings: { ...ALL_PODS.settings, partialDrain: settings.partialDrain } };

/** Limits do not count while a request for all pods is among those of the drain. */
const withoutLimits = (inForce: ObservedDrain['inForce']): ObservedDrain['inForce'] =>
  inForce.kind === 'known' ? { ...inForce, limits: NO_DRAIN_LIMITS } : inForce;

/** Reads the other drains of the pool. An older one that passes its turn is left out, and one that is over where its Node still shows it. */
async function drainsAround(
  deps: DrainDeps,
  { node, inForce, pool }: Pick<ObservedDrain, 'node' | 'inForce'> & { readonly pool: string | undefined },
  active: ActiveDrain,
): Promise<PoolDrains> {
  const drains = await readPoolDrains(deps, node, pool);
  if (inForce.kind === 'notServed' || !mustWait(inForce.limits, active.requests)) return drains;
  const { maxConcurrent } = inForce.limits;
  const self = { uid: node.uid, since: firstRequestTimeOf(active) };
  const isOlder = (drain: WaitingDrain): boolean => goesBefore(drain, self);
  const inLine = await withoutSkippedTurns(deps, drains, maxConcurrent, isOlder);
  return withoutEnded(deps, inLine, maxConcurrent, isOlder);
}

interface PoolMember {
  readonly view: NodeView;
  readonly pool: string | undefined;
  readonly pods: readonly PodView[];
  readonly now: EpochMs;
}

/** Reads what is in force for the node. */
const loadInForce = (deps: DrainDeps, member: PoolMember): Promise<PoliciesInForce | PoliciesNotServed> =>
  loadPolicies(deps, member).catch((error: unknown) => ({ kind: 'notServed', message: notServedText(error) }));

/** Reads what the NodePool and the policies say. @throws {KindNotServed} where a kind is not served that may say something */
async function loadPolicies(deps: DrainDeps, { view, pool, pods, now }: PoolMember): Promise<PoliciesInForce> {
  const [poolObject, [drains, protections]] = await inParallel([
    loadPool(deps, pool),
    loadPolicySets(deps, OWNER, DRAIN_BLOCKS),
  ]);
  const { policy: protection } = effectiveProtection(poolObject, protections);
  const { mode } = decisionFor(poolObject, 'drain', drains);
  const unreadable = unknownSettingsFault(poolObject, 'drain', drains);
  const hasProtectedPod = pods.some(pod => isProtected(pod, now, protection));
  const isProtectionOverridden = hasProtectedPod && (await isTerminatedForcefully(deps, view, pool, now));
  const limits = drainLimitsFor(poolObject, drains);
  const text = unreadable && faultText(unreadable);
  return { kind: 'known', mode, unreadable: text, limits, protection, isProtectionOverridden };
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
  deps: Pick<DrainDeps, 'kubernetes'>,
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
  return owner.claim.deletionTime !== undefined && hasDeadlineBy(owner.claim, now);
}

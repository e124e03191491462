/** Pools of machines that have run for hours: repair blocks with ladders, allowances, reasons, limits; nodes that tell of their boots. */
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toDurationMs,
  toTimestamp,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, PlacedManifest } from '../../scenario/scenario.ts';
import { conditionsBody, newName } from './cluster.ts';
import { times } from './draw.ts';
import { place, toManifest, type Model, type NodePlan } from './model.ts';

/** Of the user: every report of it, and one kind of it alone. */
export const FAULT = 'GpuFault';
export const FAULT_REASONS = ['Xid48', 'Xid79', 'Throttled'] as const;

function drawIncidentBlock(random: Random, model: Model): JsonObject {
  const toleration = (): string => {
    const duration = random.pick([seconds(30), minutes(1), minutes(2), minutes(5), minutes(10)]);
    model.durations.push(duration);
    return formatDuration(duration);
  };
  return {
    defaultTolerationDuration: toleration(),
    ...(random.chance(0.2) && {
      policies: [{ conditionType: 'NetworkingReady', toleration: random.pick(['Never', '8760h']) }],
    }),
    conditions: [
      { type: FAULT, status: 'True', toleration: toleration(), ...(random.chance(0.4) && { reason: '^Xid(48|79)$' }) },
    ],
    maxUnhealthy: random.pick<JsonValue>(['20%', '30%', '50%', '100%', 1, 2]),
    ...(random.chance(0.3) && { maxConcurrentRepairs: random.pick<JsonValue>([1, 2, '20%']) }),
    ...(random.chance(0.4) && { zoneOutage: random.pick<JsonValue>(['Off', { minNodes: 2, share: '50%' }]) }),
    ...(random.chance(0.4) && { freeze: random.pick<JsonValue>(['Off', { minNodes: 2, share: '50%' }]) }),
    ...(random.chance(0.3) && { futility: { repairs: 2, window: '2h' } }),
    ...drawActions(random, model),
  };
}

/** None: the node is terminated. */
export function drawActions(random: Random, model: Model): JsonObject {
  if (random.chance(0.25)) return {};
  const reboot = (): JsonObject => {
    const timeout = random.pick([minutes(1), minutes(3), minutes(10)]);
    model.durations.push(timeout);
    return {
      type: 'Reboot',
      timeout: formatDuration(timeout),
      ...(random.chance(0.3) && { attempts: random.integer(1, 3) }),
      ...(random.chance(0.3) && { within: random.pick(['30m', '1h', '24h']) }),
    };
  };
  const reboots = times(random.integer(1, 2)).map(reboot);
  return { actions: [...reboots, ...(random.chance(0.8) ? [{ type: 'Terminate' }] : [])] };
}

export function drawIncidentObjects(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  const manifests: Manifest[] = [];
  for (const name of model.pools) {
    // A block of its own, or that of the policy.
    const repair =
      model.policies.length === 0 || random.chance(0.6) ? { repair: drawIncidentBlock(random, model) } : {};
    manifests.push(
      toManifest({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec: repair }, name),
    );
    for (const _ of times(random.integer(3, 9)))
      manifests.push(...machine(random, drawMachine(random, model, name, start), start));
  }
  for (const name of model.policies) manifests.push(drawIncidentPolicy(random, model, name));
  return manifests.map(place);
}

function drawIncidentPolicy(random: Random, model: Model, name: string): Manifest {
  const limit = (): JsonValue => random.pick<JsonValue>([1, 2, '30%']);
  const spec: JsonObject = {
    repair: { ...drawIncidentBlock(random, model), policies: [{ conditionType: 'Ready', toleration: '1m' }] },
    ...(random.chance(0.4) && {
      repairLimits: {
        maxConcurrentRepairsPerZone: limit(),
        ...(random.chance(0.5) && { maxConcurrentRepairsPerCluster: limit() }),
      },
    }),
  };
  return toManifest({ apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name }, spec }, name);
}

/** Of that NodePool, with a NodeClaim; remembered in the model. */
export function drawMachine(random: Random, model: Model, pool: string, start: EpochMs): NodePlan {
  const name = newName(model);
  const zone = random.pick(model.zones);
  const lastTransitionTime = toTimestamp(addDuration(start, toDurationMs(0 - hours(2))));
  const node: NodePlan = {
    name,
    zone,
    pool,
    claim: `${name}-claim`,
    providerID: `aws:///${zone}/i-${name}`,
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
    annotationRemoved: false,
  };
  model.nodes.push(node);
  return node;
}

/**
 * A Node that has been there for hours, with its NodeClaim.
 * @param dead how likely it has no kubelet
 */
export function machine(random: Random, node: NodePlan, since: EpochMs, dead = 0.2): readonly Manifest[] {
  const { name, zone, pool = '', claim = name, providerID } = node;
  const labels = { 'karpenter.sh/nodepool': pool, 'topology.kubernetes.io/zone': zone };
  const creationTimestamp = toTimestamp(addDuration(since, toDurationMs(0 - hours(3))));
  const annotations = random.chance(dead) ? { annotations: { 'sim.curfew.dev/kubelet': 'dead' } } : {};
  return [
    toManifest(
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodeClaim',
        metadata: { name: claim, labels, creationTimestamp, finalizers: ['karpenter.sh/termination'] },
        spec: {},
        status: { nodeName: name, providerID },
      },
      claim,
    ),
    toManifest(
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels, creationTimestamp, finalizers: ['karpenter.sh/termination'], ...annotations },
        spec: { providerID },
        status: { conditions: conditionsBody(node.conditions), nodeInfo: { bootID: `boot-of-${name}` } },
      },
      name,
    ),
  ];
}

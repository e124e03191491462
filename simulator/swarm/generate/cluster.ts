/** Nodes and NodeClaims of a generated cluster, and how they are written. */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toDurationMs,
  toIsoText,
  toTimestamp,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { pickWeighted, wholeSecond } from './draw.ts';
import { toManifest, type ConditionPlan, type Model, type NodePlan } from './model.ts';

export const ZONES = ['us-west-2a', 'us-west-2b', 'us-west-2c'] as const;
const POOL_LABEL = 'karpenter.sh/nodepool';
const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';

/** Conditions that count as unhealthy, and some that do not. */
const TROUBLES: readonly (readonly [weight: number, trouble: readonly [type: string, status: string]])[] = [
  [6, ['Ready', 'False']],
  [4, ['Ready', 'Unknown']],
  [3, ['NetworkUnavailable', 'True']],
  [2, ['AcceleratedHardwareReady', 'False']],
  [1, ['StorageReady', 'False']],
  [1, ['NetworkingReady', 'False']],
  [1, ['KernelReady', 'False']],
  [1, ['ContainerRuntimeReady', 'False']],
  [1, ['DiskPressure', 'True']],
  [1, ['MemoryPressure', 'Unknown']],
  [1, ['KernelReady', 'Unknown']],
  [1, ['example.com/Cursed', 'True']],
];

export function drawTrouble(random: Random): { readonly type: string; readonly status: string } {
  const [type, status] = pickWeighted(random, TROUBLES);
  return { type, status };
}

/** The transition time that a condition reports which changes at `time`: nearly always that instant. */
export function drawTransitionTime(random: Random, time: EpochMs): string | undefined {
  return pickWeighted(random, [
    [40, toTimestamp(wholeSecond(time))],
    [2, toTimestamp(addDuration(time, toDurationMs(0 - random.integer(0, hours(1)))))],
    [1, toTimestamp(addDuration(time, seconds(random.integer(1, 3))))],
    [0.5, undefined],
  ]);
}

/** In place of the one of the same type. */
export function withCondition(conditions: readonly ConditionPlan[], changed: ConditionPlan): readonly ConditionPlan[] {
  return [...conditions.filter(({ type }) => type !== changed.type), changed];
}

/** What a kind of condition says when all is well. */
export function healthyStatus(type: string): string {
  return type.endsWith('Ready') ? 'True' : 'False';
}

export function conditionsBody(conditions: readonly ConditionPlan[]): JsonValue {
  return conditions.map(({ type, status, lastTransitionTime, reason }) => ({
    type,
    status,
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
    ...(reason !== undefined && { reason }),
  }));
}

export const newName = (model: Model): string => `${model.namePrefix}n${(model.counter += 1)}`;

/** A node that joins at `time` under that name, or under a new one. */
export function drawNode(random: Random, model: Model, time: EpochMs, name = newName(model)): NodePlan {
  const zone = random.pick(model.zones);
  const since = toTimestamp(addDuration(time, toDurationMs(0 - random.integer(0, hours(2)))));
  let conditions: readonly ConditionPlan[] = [{ type: 'Ready', status: 'True', lastTransitionTime: since }];
  if (random.chance(0.3)) {
    conditions = withCondition(conditions, { type: 'NetworkUnavailable', status: 'False', lastTransitionTime: since });
  }
  if (random.chance(0.12)) {
    conditions = withCondition(conditions, {
      ...drawTrouble(random),
      lastTransitionTime: drawTransitionTime(
        random,
        addDuration(time, toDurationMs(0 - random.integer(0, minutes(40)))),
      ),
    });
  }
  return {
    name,
    zone,
    pool: random.chance(0.88) && model.pools.length > 0 ? random.pick(model.pools) : undefined,
    claim: random.chance(0.92) ? `${name}-claim` : undefined,
    providerID: newProviderID(model, zone),
    conditions,
    annotationRemoved: false,
  };
}

function newProviderID(model: Model, zone: string): string {
  return `aws:///${zone}/i-${String((model.counter += 1)).padStart(4, '0')}`;
}

export function nodeManifest(random: Random, node: NodePlan): Manifest {
  const annotations: JsonObject = {
    ...(random.chance(0.08) && { [DO_NOT_DISRUPT]: random.pick(['true', '4h', '']) }),
    ...(random.chance(0.05) && { 'sim.curfew.dev/kubelet': 'dead' }),
  };
  return toManifest(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: node.name,
        labels: {
          'topology.kubernetes.io/zone': node.zone,
          ...(node.pool !== undefined && { [POOL_LABEL]: node.pool }),
        },
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(random.chance(0.5) && { finalizers: ['karpenter.sh/termination'] }),
      },
      spec: random.chance(0.98) ? { providerID: node.providerID } : {},
      status: { conditions: conditionsBody(node.conditions) },
    },
    node.name,
  );
}

export function claimManifest(random: Random, node: NodePlan, name: string, time: EpochMs): Manifest {
  const isDeleted = random.chance(0.03);
  return toManifest(
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: {
        name,
        ...(node.pool !== undefined && random.chance(0.97) && { labels: { [POOL_LABEL]: node.pool } }),
        ...(random.chance(0.08) && {
          annotations: { [TERMINATION_TIMESTAMP]: drawTerminationTimestamp(random, time) },
        }),
        ...((isDeleted || random.chance(0.9)) && {
          finalizers: [
            isDeleted ? 'example.com/hold' : 'karpenter.sh/termination',
            ...(random.chance(0.06) ? ['curfew.dev/termination'] : []),
          ],
        }),
        ...(isDeleted && { deletionTimestamp: toTimestamp(time) }),
      },
      spec: random.chance(0.3) ? { terminationGracePeriod: random.pick(['1h', '10m', '0s']) } : {},
      status: { nodeName: node.name, providerID: node.providerID },
    },
    name,
  );
}

/** As somebody else sets it: past, ahead, or nothing that can be read. */
export function drawTerminationTimestamp(random: Random, time: EpochMs): string {
  return pickWeighted(random, [
    [2, toTimestamp(addDuration(time, toDurationMs(0 - random.integer(0, hours(1)))))],
    [2, toTimestamp(addDuration(time, toDurationMs(random.integer(0, hours(2)))))],
    [1, toIsoText(addDuration(time, minutes(30)))],
    [1, random.pick(['', 'now', '30m'])],
  ]);
}

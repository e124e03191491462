/** Pools whose repairs are held back by more than a threshold: budget, zone, freeze, flapping, futility, vetoes, conditions of the user. */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  minutes,
  seconds,
  toDurationMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, PlacedManifest } from '../../scenario/scenario.ts';
import { claimManifest, drawNode, nodeManifest } from './cluster.ts';
import { drawDuration, pickWeighted, times, wholeSecond } from './draw.ts';
import { drawBudgets, withTerms } from './entry-terms.ts';
import { booted, drawLadder, drawLadderObjects } from './ladders.ts';
import { place, toManifest, type Model } from './model.ts';
import { drawGroupRepair, drawNodeGroups, GROUP_POLICY } from './node-groups.ts';
import { drawDrainLimits, drawPoolLabels } from './settings.ts';

const TOLERATIONS: readonly DurationMs[] = [seconds(0), seconds(30), minutes(1), minutes(1), minutes(3)];
const OUTAGE_RULES: readonly JsonValue[] = ['Off', 'Off', { minNodes: 2, share: '50%' }, { minNodes: 4 }];
export const DO_NOT_REPAIR = 'curfew.dev/do-not-repair';
/** A condition of the user, and the reasons that are drawn for it. */
export const OWN_CONDITION = 'example.com/Cursed';
export const OWN_REASONS = ['SsdWorn', 'FanLoud'] as const;

/** A block that can be read, with tolerations so short that much is due at the same time. */
export function drawGuardedBlock(random: Random, model: Model, name = ''): JsonObject {
  const used = model.durations;
  const toleration = (): string => {
    const duration = random.pick(TOLERATIONS);
    used.push(duration);
    return formatDuration(duration);
  };
  const block: JsonObject = {
    defaultTolerationDuration: toleration(),
    ...(random.chance(0.3) && { policies: [{ conditionType: 'Ready', toleration: toleration() }] }),
    ...(random.chance(0.3) && {
      conditions: [
        {
          type: OWN_CONDITION,
          status: 'True',
          toleration: toleration(),
          ...(random.chance(0.5) && { reason: '^Ssd' }),
        },
      ],
    }),
    maxUnhealthy: pickWeighted<JsonValue>(random, [
      [4, '100%'],
      [1, '50%'],
      [1, '33%'],
      [1, 1],
      [1, 2],
    ]),
    ...(random.chance(0.5) && { maxConcurrentRepairs: random.pick<JsonValue>([0, 1, 1, 2, '20%', '50%']) }),
    ...(random.chance(0.6) && { zoneOutage: random.pick(OUTAGE_RULES) }),
    ...(random.chance(0.6) && { freeze: random.pick(OUTAGE_RULES) }),
    ...(random.chance(0.08) && { flapping: { window: '30m', unhealthyFor: '5m' } }),
    ...(random.chance(0.08) && { futility: { repairs: 2, window: '30m' } }),
    ...drawLadder(random.stream(`ladder ${name}`), model),
  };
  return withTerms(random.stream(`terms ${name}`), block, stream => drawLadder(stream, model));
}

/** For a merge patch that replaces such a block. */
export function replacingGuards(block: JsonObject): JsonObject {
  const absent = Object.fromEntries(
    [
      'policies',
      'conditions',
      'terminationGracePeriod',
      'disruptionBudgets',
      'maxConcurrentRepairs',
      'zoneOutage',
      'freeze',
      'flapping',
      'futility',
      'actions',
    ].map(key => [key, null]),
  );
  return { ...absent, ...block };
}

/** As people write it: without end, until some instant soon, or something that cannot be read. */
export function drawVeto(random: Random, time: EpochMs): string {
  return pickWeighted(random, [
    [3, 'true'],
    [4, toTimestamp(wholeSecond(addDuration(time, drawDuration(random, seconds(0), minutes(15)))))],
    [1, toTimestamp(wholeSecond(addDuration(time, toDurationMs(0 - random.integer(0, minutes(10))))))],
    [1, random.pick(['', 'false', '2h', 'tomorrow'])],
  ]);
}

function drawGuardedPool(random: Random, name: string, model: Model, start: EpochMs): Manifest {
  return toManifest(
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: {
        name,
        labels: drawPoolLabels(random),
        ...(random.chance(0.08) && { annotations: { [DO_NOT_REPAIR]: drawVeto(random, start) } }),
      },
      spec: {
        ...(random.chance(0.85) && { repair: drawGuardedBlock(random, model, name) }),
        ...drawBudgets(random.stream(`budgets ${name}`)),
      },
    },
    name,
  );
}

/** Of zone and cluster; now and then one that cannot be read. */
function drawLimits(random: Random): JsonObject {
  if (random.chance(0.6)) return {};
  const limit = (): JsonValue => random.pick<JsonValue>([1, 1, 2, '20%', '50%', '100%']);
  return {
    repairLimits: {
      ...(random.chance(0.5) && { maxConcurrentRepairsPerZone: limit() }),
      ...(random.chance(0.6) && { maxConcurrentRepairsPerCluster: random.chance(0.04) ? '150%' : limit() }),
    },
  };
}

function drawGuardedPolicy(random: Random, name: string, model: Model): Manifest {
  return toManifest(
    {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name },
      spec: {
        ...(random.chance(0.2) && { mode: random.pick(['Enforce', 'Observe']) }),
        repair: {
          ...drawGuardedBlock(random, model, name),
          ...drawGroupRepair(random.stream(`groups ${name}`), model),
        },
        ...drawLimits(random.stream(`limits ${name}`)),
        ...drawDrainLimits(random.stream(`drain ${name}`)),
      },
    },
    name,
  );
}

/** A few nodes in one or two zones; some of them, or their NodeClaims, are slow to go. */
export function drawGuardedObjects(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  const ladders = random.stream('ladders');
  model.hasLadders = ladders.chance(0.6);
  const groups = random.stream('node groups');
  model.hasNodeGroups = groups.chance(0.45);
  const manifests = [
    ...model.pools.map(name => drawGuardedPool(random, name, model, start)),
    ...model.policies.map(name => drawGuardedPolicy(random, name, model)),
    ...(model.hasNodeGroups && model.policies.length === 0 ? [drawGuardedPolicy(groups, GROUP_POLICY, model)] : []),
  ];
  for (const _ of times(random.integer(3, 9))) {
    const node = drawNode(random, model, start);
    model.nodes.push(node);
    manifests.push(slowToGo(random, model, nodeManifest(random, node), 0.15));
    if (node.claim !== undefined)
      manifests.push(slowToGo(random, model, claimManifest(random, node, node.claim, start), 0.1));
  }
  manifests.push(...drawNodeGroups(groups, model, start));
  if (!model.hasLadders) return manifests.map(place);
  const withBoots = manifests.map(manifest => booted(ladders, manifest));
  return [...withBoots, ...drawLadderObjects(ladders, model, start)].map(place);
}

/** Held by somebody else's finalizer alone, until a story takes it off. */
function slowToGo(random: Random, model: Model, manifest: Manifest, probability: number): Manifest {
  if (!random.chance(probability)) return manifest;
  const metadata = objectAt(manifest.body, 'metadata');
  model.slow.push({ resource: manifest.kind === 'Node' ? 'nodes' : 'nodeclaims', name: manifest.name });
  return { ...manifest, body: { ...manifest.body, metadata: { ...metadata, finalizers: ['example.com/slow'] } } };
}

/**
 * What a seed is about: any cluster at all, or a small one in which the stories of one concern lie close together, so that they meet
 * at the same nodes.
 */
import { hours, minutes, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { PlacedManifest } from '../../scenario/scenario.ts';
import { claimManifest, drawNode, nodeManifest, ZONES } from './cluster.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { DRAIN_STORIES } from './drain-stories.ts';
import { drawNewsObjects, NEWS_CONFIG, NEWS_STORIES } from './drain-news.ts';
import { drawDrainConfig, drawDrainedObjects, TEMPLATES } from './drains.ts';
import { FINALIZER_RULE_STORIES } from './finalizer-rules.ts';
import { GUARD_STORIES } from './guard-stories.ts';
import { drawGuardedObjects } from './guards.ts';
import { HOOK_TEMPLATES } from './hook-resources.ts';
import { INCIDENT_STORIES } from './incident-stories.ts';
import { drawIncidentObjects } from './incidents.ts';
import { LADDER_STORIES } from './ladder-stories.ts';
import { drawDraining, FIX_TEMPLATES } from './ladders.ts';
import { place, type Model, type Story } from './model.ts';
import { NODE_GROUP_STORIES } from './node-groups.ts';
import { NODE_STORIES } from './node-stories.ts';
import { POD_STORIES } from './pod-stories.ts';
import { budgetManifest, drawPod, podManifest } from './pods.ts';
import { ENVIRONMENT_STORIES, SETTINGS_STORIES } from './settings-stories.ts';
import { TERMINATION_STORIES } from './termination-stories.ts';
import { drawTerminatingObjects } from './terminations.ts';
import { drawConfig, drawPolicy, drawPool, names } from './settings.ts';

export type Weighted<Item> = readonly (readonly [weight: number, item: Item])[];

export interface Focus {
  readonly drawZones: (random: Random) => readonly string[];
  /** How many. */
  readonly drawPools: (random: Random) => number;
  readonly drawPolicies: (random: Random) => number;
  readonly drawDuration: (random: Random) => DurationMs;
  readonly drawConfig: (random: Random, model: Model) => string | undefined;
  /** Other keys of the ConfigMap. */
  readonly templates: Readonly<Record<string, string>>;
  /** @param shape the stream that sizes come from */
  readonly drawObjects: (random: Random, model: Model, start: EpochMs, shape: Random) => readonly PlacedManifest[];
  readonly mostStories: number;
  readonly drawStories: (random: Random, model: Model) => Weighted<Story>;
  /**
   * After the last step, until the end: long enough for timers of half an hour to come due, or so short that what was lost at the end
   * must be recovered when the faults have stopped.
   */
  readonly calmEnds: readonly DurationMs[];
}

export const OPEN_GATE = '[featureGates]\nnodeRepair = true\n';
const WITH_PROFILE = `providerPolicies = "aws-1.15"\n${OPEN_GATE}`;
/** Small clusters, where stories meet at the same nodes, and some as large as those that need pages and batches. */
const MAX_NODES: Weighted<number> = [
  [4, 8],
  [8, 30],
  [3, 150],
];
const KINDS: Weighted<Weighted<Story>> = [
  [6, NODE_STORIES],
  [4, POD_STORIES],
  [1.5, SETTINGS_STORIES],
  [0.7, ENVIRONMENT_STORIES],
];

export const anything: Focus = {
  drawZones: () => ZONES,
  drawPools: random => (random.integer(0, 9) === 0 ? 0 : random.integer(1, 4)),
  drawPolicies: random => random.integer(0, 4),
  drawDuration: random =>
    pickWeighted<DurationMs>(random, [
      [5, drawDuration(random, hours(1.5), hours(4))],
      [3, drawDuration(random, hours(4), hours(12))],
      [2.5, hours(24)],
    ]),
  drawConfig: random =>
    random.chance(0.9) ? (random.stream('profile').chance(0.1) ? WITH_PROFILE : OPEN_GATE) : drawConfig(random),
  templates: {},
  drawObjects,
  mostStories: 30,
  drawStories: random => pickWeighted(random, KINDS),
  calmEnds: [minutes(1), minutes(10), minutes(40)],
};

function drawObjects(random: Random, model: Model, start: EpochMs, shape: Random): readonly PlacedManifest[] {
  const manifests = [
    ...model.pools.map(name => drawPool(random, name, model.durations)),
    ...model.policies.map(name => drawPolicy(random, name, model.durations)),
  ];
  for (const _ of times(random.integer(1, pickWeighted(shape, MAX_NODES)))) {
    const node = drawNode(random, model, start);
    model.nodes.push(node);
    manifests.push(nodeManifest(random, node));
    if (node.claim !== undefined) manifests.push(claimManifest(random, node, node.claim, start));
  }
  for (const _ of times(random.integer(0, Math.min(40, 2 * model.nodes.length)))) {
    const pod = drawPod(random, model, start);
    model.pods.push(pod);
    manifests.push(podManifest(random, model, pod));
  }
  for (const name of names('budget', random.integer(0, 2))) manifests.push(budgetManifest(random, name));
  return manifests.map(place);
}

/** What a small cluster has in common with others. */
const small = {
  drawZones: (random: Random) => ZONES.slice(0, random.integer(1, 2)),
  drawPools: (random: Random) => random.integer(1, 2),
  drawPolicies: (random: Random) => random.integer(0, 1),
  drawDuration: (random: Random) => drawDuration(random, minutes(25), minutes(75)),
  templates: {},
  calmEnds: [minutes(1), minutes(8), minutes(16)],
};

/** Repairs, and all that may hold them; in some of these clusters by a ladder of actions. */
export const guards: Focus = {
  ...small,
  drawConfig: random =>
    random.chance(0.97) ? `${drawDraining(random.stream('draining'))}${OPEN_GATE}` : drawConfig(random),
  templates: FIX_TEMPLATES,
  drawObjects: drawGuardedObjects,
  mostStories: 12,
  drawStories: (random, { hasLadders, hasNodeGroups }) =>
    pickWeighted<Weighted<Story>>(random, [
      ...(hasLadders ? ([[9, LADDER_STORIES]] as const) : []),
      ...(hasNodeGroups ? ([[7, NODE_GROUP_STORIES]] as const) : []),
      [12, GUARD_STORIES],
      [0.7, ENVIRONMENT_STORIES],
    ]),
};

/** The end of nodes under our finalizer, and of what FinalizerRules hold. */
export const terminations: Focus = {
  ...small,
  drawPolicies: random => (random.chance(0.75) ? 1 : 0),
  drawConfig: random => (random.chance(0.97) ? OPEN_GATE : drawConfig(random)),
  templates: HOOK_TEMPLATES,
  drawObjects: drawTerminatingObjects,
  mostStories: 14,
  drawStories: random =>
    pickWeighted<Weighted<Story>>(random, [
      [10, TERMINATION_STORIES],
      [2, FINALIZER_RULE_STORIES],
      [0.6, ENVIRONMENT_STORIES],
    ]),
};

/** Drains on request, by modes or by somebody else's controller. */
export const drains: Focus = {
  ...small,
  drawPolicies: random => (random.chance(0.4) ? 1 : 0),
  drawConfig: (random, model) => (random.chance(0.95) ? drawDrainConfig(random, model) : drawConfig(random)),
  templates: TEMPLATES,
  drawObjects: drawDrainedObjects,
  mostStories: 12,
  drawStories: random =>
    pickWeighted<Weighted<Story>>(random, [
      [12, DRAIN_STORIES],
      [0.6, ENVIRONMENT_STORIES],
    ]),
};

/** News that is old, foreign, harmless, doubled or out of order, over days. */
export const NEWS: Focus = {
  ...small,
  drawZones: () => ZONES.slice(0, 1),
  drawPools: () => 1,
  drawPolicies: () => 0,
  drawDuration: random => drawDuration(random, hours(66), hours(80)),
  drawConfig: () => NEWS_CONFIG,
  drawObjects: drawNewsObjects,
  mostStories: 5,
  drawStories: () => NEWS_STORIES,
  calmEnds: [minutes(20)],
};

/** From here on every fourth seed is about news: seeds below draw what they have always drawn, and mutants name them. */
export const NEWS_FROM = 20_000;

/** Incidents that come back, in pools of machines that have run for hours, over half a day. */
export const INCIDENTS: Focus = {
  ...small,
  drawZones: random => ZONES.slice(0, random.integer(1, 3)),
  drawPolicies: random => (random.chance(0.7) ? 1 : 0),
  drawDuration: random => drawDuration(random, hours(2), hours(5)),
  drawConfig: () => OPEN_GATE,
  drawObjects: drawIncidentObjects,
  mostStories: 10,
  drawStories: random =>
    pickWeighted<Weighted<Story>>(random, [
      [12, INCIDENT_STORIES],
      [0.6, ENVIRONMENT_STORIES],
    ]),
  calmEnds: [minutes(10), minutes(35), minutes(70)],
};

/** From here on every fourth seed, beside those about news, is about incidents. */
export const INCIDENTS_FROM = 30_000;

const CROWD_SIZE = 1_000;

/** A NodePool of a thousand nodes, in a story short enough for a minute of one core. */
export const CROWD: Focus = {
  ...anything,
  drawPools: () => 1,
  drawPolicies: random => random.integer(0, 1),
  drawDuration: random => drawDuration(random, minutes(20), minutes(35)),
  drawObjects: drawCrowd,
  mostStories: 5,
  calmEnds: [minutes(1), minutes(8)],
};

function drawCrowd(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  const manifests = [
    ...model.pools.map(name => drawPool(random, name, model.durations)),
    ...model.policies.map(name => drawPolicy(random, name, model.durations)),
  ];
  const [pool] = model.pools;
  for (const _ of times(CROWD_SIZE)) {
    const node = { ...drawNode(random, model, start), pool };
    model.nodes.push(node);
    manifests.push(nodeManifest(random, node));
    if (node.claim !== undefined) manifests.push(claimManifest(random, node, node.claim, start));
  }
  for (const _ of times(random.integer(0, 40))) {
    const pod = drawPod(random, model, start);
    model.pods.push(pod);
    manifests.push(podManifest(random, model, pod));
  }
  return manifests.map(place);
}

export const FOCUSES: Weighted<Focus> = [
  [2, guards],
  [2, terminations],
  [2, drains],
  [4, anything],
];

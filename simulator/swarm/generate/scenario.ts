/** A random cluster with a random story, all from the seed: the same seed is the same scenario. */
import {
  addDuration,
  durationBetween,
  hours,
  minutes,
  parseTimestamp,
  seconds,
  toDurationMs,
  toEpochMs,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { createRandom, type Random } from '../../random.ts';
import { ACTORS, type PlacedManifest, type Scenario, type Step } from '../../scenario/scenario.ts';
import { claimManifest, drawNode, nodeManifest } from './cluster.ts';
import { drawDuration, pickSome, pickWeighted, times } from './draw.ts';
import { GENERATED, place, type Draft, type Model, type Story } from './model.ts';
import { NODE_STORIES } from './node-stories.ts';
import { POD_STORIES } from './pod-stories.ts';
import { budgetManifest, drawPod, podManifest } from './pods.ts';
import { ENVIRONMENT_STORIES, SETTINGS_STORIES } from './settings-stories.ts';
import { drawConfig, drawPolicy, drawPool, names } from './settings.ts';

const START = parseTimestamp('2024-11-01T15:00:00Z') ?? toEpochMs(0);
/**
 * After the last step, until the end: long enough for timers of half an hour to come due, or so short that what was lost at the
 * end must be made up for when the faults have stopped.
 */
const CALM_ENDS: readonly DurationMs[] = [minutes(1), minutes(10), minutes(40)];
/** Small clusters, where stories meet at the same nodes, and some as large as those that need pages and batches. */
const MOST_NODES: readonly (readonly [weight: number, nodes: number])[] = [
  [4, 8],
  [8, 30],
  [3, 150],
];

export function generateScenario(seed: number): Scenario {
  const root = createRandom(seed).stream('scenario');
  const shape = root.stream('shape');
  const model: Model = {
    pools: names('pool', shape.integer(0, 9) === 0 ? 0 : shape.integer(1, 4)),
    policies: names('policy', shape.integer(0, 4)),
    nodes: [],
    pods: [],
    durations: [],
    counter: 0,
  };
  const duration = pickWeighted<DurationMs>(shape, [
    [5, drawDuration(shape, hours(1.5), hours(4))],
    [3, drawDuration(shape, hours(4), hours(12))],
    [2.5, hours(24)],
  ]);
  const end = addDuration(START, duration);
  const config = shape.chance(0.9) ? '[featureGates]\nnodeRepair = true\n' : drawConfig(shape);
  const objects = drawObjects(root.stream('objects'), model, pickWeighted(shape, MOST_NODES));
  const lastTime = addDuration(end, toDurationMs(0 - shape.pick(CALM_ENDS)));
  const drafts = drawDrafts(root.stream('stories'), model, durationBetween(START, lastTime));
  return {
    name: `seed-${seed}`,
    annotations: {},
    file: GENERATED.file,
    start: START,
    end,
    config,
    templates: {},
    actors: new Set(shape.chance(0.9) ? ACTORS : pickSome(shape, ACTORS, 0.7)),
    objects,
    steps: carryOut(drafts, lastTime),
    expectations: [],
  };
}

function drawObjects(random: Random, model: Model, mostNodes: number): readonly PlacedManifest[] {
  const manifests = [
    ...model.pools.map(name => drawPool(random, name, model.durations)),
    ...model.policies.map(name => drawPolicy(random, name, model.durations)),
  ];
  for (const _ of times(random.integer(1, mostNodes))) {
    const node = drawNode(random, model, START);
    model.nodes.push(node);
    manifests.push(nodeManifest(random, node));
    if (node.claim !== undefined) manifests.push(claimManifest(random, node, node.claim, START));
  }
  for (const _ of times(random.integer(0, Math.min(40, 2 * model.nodes.length)))) {
    const pod = drawPod(random, model, START);
    model.pods.push(pod);
    manifests.push(podManifest(random, model, pod));
  }
  for (const name of names('budget', random.integer(0, 2))) manifests.push(budgetManifest(random, name));
  return manifests.map(place);
}

const KINDS: readonly (readonly [weight: number, stories: readonly (readonly [weight: number, story: Story])[]])[] = [
  [6, NODE_STORIES],
  [4, POD_STORIES],
  [1.5, SETTINGS_STORIES],
  [0.7, ENVIRONMENT_STORIES],
];

function drawDrafts(random: Random, model: Model, span: DurationMs): readonly Draft[] {
  return times(random.integer(1, 30)).flatMap(index => {
    const time = addDuration(START, drawDuration(random, seconds(0), span));
    const story = pickWeighted(random, pickWeighted(random, KINDS));
    return story({ random: random.stream(String(index)), model, time });
  });
}

/** In order of time, so that each step builds on those before it. */
function carryOut(drafts: readonly Draft[], lastTime: EpochMs): readonly Step[] {
  const steps: Step[] = [];
  for (const { time, act } of drafts.toSorted((a, b) => a.time - b.time)) {
    if (time < START || time > lastTime) continue;
    const action = act();
    if (action !== undefined) steps.push({ time, action, place: GENERATED });
  }
  return steps;
}

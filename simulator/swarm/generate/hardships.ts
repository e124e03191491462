/**
 * What hurt where Curfew ran, laid over the story of any concern: storms about one node, switches that are thrown again and again, others at
 * work on the same nodes, replacements that do not come, monitors whose clocks are wrong, settings that go in any order.
 */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
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
import type { StepAction } from '../../scenario/scenario.ts';
import { drawDuration, drawNear, pickWeighted, times } from './draw.ts';
import { INCIDENT_OBSTACLES } from './incident-obstacles.ts';
import { drawReport, report, wellAgain } from './incident-reports.ts';
import { INCIDENT_STORIES } from './incident-stories.ts';
import { LASTING_STORIES } from './lasting.ts';
import type { Draft, Model, Story } from './model.ts';
import { laterTime, patchNode } from './node-stories.ts';
import { UPHEAVALS } from './upheavals.ts';

/** From here on every seed has some. Seeds below draw what they have always drawn. */
export const HARDSHIPS_FROM = 100_000;

type Weighted<Item> = readonly (readonly [weight: number, item: Item])[];

/** Hundreds of changes of one node within minutes: a condition that flaps, a label that is written anew. */
const storm: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const said = drawReport(random);
  const pause = random.pick([seconds(0.5), seconds(2), seconds(5)]);
  const count = random.integer(60, 250);
  const isNoise = random.chance(0.4);
  const changes = times(count).map((index): Draft => {
    const at = addDuration(time, toDurationMs(index * pause));
    if (!isNoise) return report(node, at, index % 2 === 0 ? said : wellAgain(said));
    return { time: at, act: () => patchNode(node, { metadata: { labels: { 'example.com/beat': String(index) } } }) };
  });
  return changes;
};

/** Hundreds of events about one node that ask for nothing. */
const newsStorm: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const id = `storm-${(model.counter += 1)}`;
  const pause = random.pick([seconds(0.2), seconds(1), seconds(6)]);
  const nothing: JsonObject = random.pick<JsonObject>([{ isFatal: false }, { drainOverrides: { skip: true } }]);
  return times(random.integer(100, 300)).map(index => ({
    time: addDuration(time, toDurationMs(index * pause)),
    act: () => ({
      kind: 'busEvent',
      source: 'nvsentinel',
      detailType: 'HealthEvent',
      detail: {
        id: `${id}-${index}`,
        nodeName: node.name,
        agent: 'monitor',
        componentClass: 'GPU',
        checkName: id,
        isFatal: true,
        ...nothing,
      },
    }),
  }));
};

/** Mode of a policy: back and forth, and as a rule as it was in the end. */
const modeFlipped: Story = ({ random, model, time }) => {
  const [policy] = model.policies;
  if (policy === undefined) return [];
  const target = { resource: 'nodelifecyclepolicies', name: policy };
  let next = time;
  return times(random.integer(2, 8)).map(index => {
    const at = next;
    next = addDuration(next, drawDuration(random, seconds(1), random.pick([seconds(20), minutes(15)])));
    const mode = index % 2 === 0 ? 'Observe' : 'Enforce';
    return { time: at, act: () => ({ kind: 'patch', target, merge: { spec: { mode } } }) };
  });
};

/** The gate closes, or nobody can read the configuration: again and again. What else stands there stays. */
const gateFlipped = (config: string | undefined): Story => {
  const target = { resource: 'configmaps', namespace: 'curfew', name: 'curfew-config' };
  return ({ random, time }) => {
    if (config === undefined) return [];
    const other = random.pick([
      config.replace('nodeRepair = true', 'nodeRepair = false'),
      config.replace('nodeRepair = true', 'nodeRepair = "on"'),
      `[[[\n${config}`,
    ]);
    let next = time;
    return times(2 * random.integer(1, 4)).map(index => {
      const at = next;
      next = addDuration(next, drawDuration(random, seconds(1), random.pick([seconds(30), minutes(20)])));
      const text = index % 2 === 0 ? other : config;
      return { time: at, act: () => ({ kind: 'patch', target, merge: { data: { 'config.toml': text } } }) };
    });
  };
};

/** No replacement comes for a pool: the cloud has none, or says nothing. */
const noCapacity =
  (pools: readonly string[]): Story =>
  ({ random, model, time }) => {
    if (pools.length === 0) return [];
    const nodePool = random.pick(pools);
    const launch = (result: 'succeed' | 'insufficientCapacity' | 'never'): StepAction => ({
      kind: 'launch',
      nodePool,
      result,
    });
    const result = random.pick(['insufficientCapacity', 'never'] as const);
    const drafts: Draft[] = [{ time, act: () => launch(result) }];
    if (random.chance(0.3)) return drafts;
    return [...drafts, { time: laterTime(random, model, time), act: () => launch('succeed') }];
  };

/** Karpenter's own repair, of 1.14 or 1.15, or its disruption, at work on a node: as a rule when something of ours is about to be due. */
const karpenterAtWork: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const { claim } = node;
  if (claim === undefined) return [];
  const target = { resource: 'nodeclaims', name: claim };
  const begin = drawNear(random, time, random.pick([seconds(0), ...model.durations]));
  const deleted = addDuration(begin, drawDuration(random, seconds(1), minutes(3)));
  const bound = random.pick([minutes(0), minutes(5), minutes(10)]);
  const until = toTimestamp(addDuration(begin, bound));
  const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': until };
  const taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };
  const said = { type: 'DisruptionReason', status: 'True', reason: 'Drifted', lastTransitionTime: toTimestamp(begin) };
  const repaired: Draft = { time: begin, act: () => ({ kind: 'patch', target, merge: { metadata: { annotations } } }) };
  const gone: Draft = { time: deleted, act: () => ({ kind: 'delete', target }) };
  const disrupted: readonly Draft[] = [
    { time: begin, act: () => patchNode(node, { spec: { taints: [taint] } }) },
    { time: begin, act: () => ({ kind: 'patch', target, merge: { status: { conditions: [said] } } }) },
  ];
  return pickWeighted<readonly Draft[]>(random, [
    [2, [report(node, time, drawReport(random)), repaired, gone]],
    [2, [...disrupted, gone]],
    [1, [...disrupted, { time: deleted, act: () => patchNode(node, { spec: { taints: null } }) }]],
  ]);
};

/** The cluster-autoscaler looks at a node, taints it, and takes it or lets it be. */
const autoscaled: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const unix = String(Math.floor(time / 1000));
  const taint = (key: string, effect: string): StepAction =>
    patchNode(node, { spec: { taints: [{ key, value: unix, effect }] } });
  const chosen = addDuration(time, drawDuration(random, seconds(10), minutes(12)));
  const end = addDuration(chosen, drawDuration(random, seconds(5), minutes(10)));
  const isTaken = random.chance(0.5);
  return [
    { time, act: () => taint('DeletionCandidateOfClusterAutoscaler', 'PreferNoSchedule') },
    { time: chosen, act: () => taint('ToBeDeletedByClusterAutoscaler', 'NoSchedule') },
    {
      time: end,
      act: () =>
        isTaken
          ? { kind: 'delete', target: { resource: 'nodes', name: node.name } }
          : patchNode(node, { spec: { taints: null } }),
    },
  ];
};

/** Those that touch a NodePool need one. */
const withPools =
  (stories: Weighted<Story>): Story =>
  context => {
    if (context.model.pools.length === 0) return [];
    return pickWeighted(context.random, stories)(context);
  };

function kindsOf({ config, pools }: HardshipContext): Weighted<Story> {
  return [
    [1.5, storm],
    [1, newsStorm],
    [2, modeFlipped],
    [2, gateFlipped(config)],
    [1, noCapacity(pools)],
    [3, karpenterAtWork],
    [2, autoscaled],
    [2, withPools(INCIDENT_OBSTACLES)],
    [2, withPools(INCIDENT_STORIES)],
    [3, withPools(LASTING_STORIES)],
    [2, withPools(UPHEAVALS)],
  ];
}

const MAX_HARDSHIPS = 4;

export interface HardshipContext {
  readonly model: Model;
  readonly start: EpochMs;
  readonly span: DurationMs;
  /** The text of `config.toml` at the start. */
  readonly config: string | undefined;
  /** Names of the NodePools that stand there at the start. */
  readonly pools: readonly string[];
}

export function drawHardships(random: Random, context: HardshipContext): readonly Draft[] {
  const { model, start, span } = context;
  if (model.nodes.length === 0) return [];
  // What is about to be due is drawn from these.
  if (model.durations.length === 0) model.durations.push(minutes(5));
  const stories = kindsOf(context);
  return times(random.integer(1, MAX_HARDSHIPS)).flatMap(index => {
    const own = random.stream(String(index));
    const time = addDuration(start, drawDuration(own, seconds(0), span));
    return pickWeighted(own, stories)({ random: own, model, time });
  });
}

/** What happens to nodes and NodeClaims: trouble, recovery, flapping, replacement, and people who interfere. */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { WHOLE_PARTS, type StepAction } from '../../scenario/scenario.ts';
import {
  claimManifest,
  conditionsBody,
  drawNode,
  drawTerminationTimestamp,
  drawTransitionTime,
  drawTrouble,
  healthyStatus,
  nodeManifest,
  withCondition,
} from './cluster.ts';
import { drawDuration, drawNear, pickSome, times } from './draw.ts';
import { DEFAULT_TOLERATIONS } from './settings.ts';
import type { ConditionPlan, Draft, Model, NodePlan, Story } from './model.ts';

export const patchNode = (node: NodePlan, merge: JsonObject): StepAction => ({
  kind: 'patch',
  target: { resource: 'nodes', name: node.name },
  merge,
});

/** At `time`, the condition takes that status. */
export function flip(
  random: Random,
  node: NodePlan,
  time: EpochMs,
  { type, status, reason }: Omit<ConditionPlan, 'lastTransitionTime'>,
): Draft {
  const lastTransitionTime = drawTransitionTime(random, time);
  return {
    time,
    act() {
      node.conditions = withCondition(node.conditions, { type, status, lastTransitionTime, reason });
      return patchNode(node, { status: { conditions: conditionsBody(node.conditions) } });
    },
  };
}

/** When something about a trouble of `time` may happen: as a rule about when a repair is due. */
export function laterTime(random: Random, model: Model, time: EpochMs): EpochMs {
  const after = random.chance(0.6)
    ? random.pick([...model.durations, ...DEFAULT_TOLERATIONS])
    : drawDuration(random, seconds(0), minutes(50));
  return drawNear(random, time, after);
}

export const trouble: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const { type, status } = drawTrouble(random);
  const drafts = [flip(random, node, time, { type, status })];
  if (random.chance(0.2)) {
    // From one kind of trouble straight to another: the transition restarts the clock.
    drafts.push(
      flip(random, node, laterTime(random, model, time), { type, status: status === 'Unknown' ? 'False' : 'Unknown' }),
    );
  }
  if (random.chance(0.6))
    drafts.push(flip(random, node, laterTime(random, model, time), { type, status: healthyStatus(type) }));
  if (random.chance(0.1)) {
    // Something cannot be reached just when a repair is due.
    const begin = laterTime(random, model, time);
    const outage = {
      kind: 'outage',
      of: random.pick(WHOLE_PARTS),
      for: drawDuration(random, seconds(1), minutes(3)),
    } as const;
    drafts.push({ time: begin, act: () => outage });
  }
  return drafts;
};

export const flapping: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const { type, status } = drawTrouble(random);
  let next = time;
  return times(random.integer(3, 9)).map(index => {
    const draft = flip(random, node, next, { type, status: index % 2 === 0 ? status : healthyStatus(type) });
    next = addDuration(next, drawDuration(random, seconds(1), minutes(6)));
    return draft;
  });
};

/** Many nodes at once: a zone, a pool, or any; most of them recover. */
const wave: Story = ({ random, model, time }) => {
  const { pool, zone } = random.pick(model.nodes);
  const together = model.nodes.filter(node => (random.chance(0.5) ? node.pool === pool : node.zone === zone));
  const { type, status } = drawTrouble(random);
  const recovery = laterTime(random, model, time);
  return pickSome(random, together, random.pick([0.3, 0.7, 1])).flatMap(node => {
    const begin = addDuration(time, drawDuration(random, seconds(0), seconds(45)));
    const end = addDuration(recovery, drawDuration(random, seconds(0), minutes(4)));
    const drafts = [flip(random, node, begin, { type, status })];
    if (random.chance(0.7)) drafts.push(flip(random, node, end, { type, status: healthyStatus(type) }));
    return drafts;
  });
};

/** Deleted and, as a rule, there again under the same name: another node. */
const replaced: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const drafts: Draft[] = [
    // Without its finalizers it goes at once, so that what comes back under its name is another node.
    { time, act: () => patchNode(node, { metadata: { finalizers: null } }) },
    { time, act: () => ({ kind: 'delete', target: { resource: 'nodes', name: node.name } }) },
  ];
  if (random.chance(0.25)) return drafts;
  const back = drawNear(random, time, random.pick([seconds(0), seconds(5), minutes(2)]));
  const next = drawNode(random, model, back, node.name);
  if (random.chance(0.4)) next.providerID = node.providerID;
  drafts.push({
    time: back,
    act() {
      node.conditions = next.conditions;
      node.providerID = next.providerID;
      return { kind: 'apply', manifest: nodeManifest(random, { ...next, pool: node.pool }) };
    },
  });
  if (next.claim !== undefined && random.chance(0.6)) {
    const claim = `${next.claim}-${(model.counter += 1)}`;
    drafts.push({ time: back, act: () => ({ kind: 'apply', manifest: claimManifest(random, node, claim, back) }) });
  }
  return drafts;
};

export const joined: Story = ({ random, model, time }) => {
  const node = drawNode(random, model, time);
  const { claim } = node;
  const drafts: Draft[] = [
    {
      time,
      act() {
        model.nodes.push(node);
        return { kind: 'apply', manifest: nodeManifest(random, node) };
      },
    },
  ];
  if (claim !== undefined) {
    const claimTime = drawNear(random, time, seconds(0));
    drafts.push({
      time: claimTime,
      act: () => ({ kind: 'apply', manifest: claimManifest(random, node, claim, time) }),
    });
  }
  return drafts;
};

export const claimDeleted: Story = ({ random, model, time }) => {
  const { claim } = random.pick(model.nodes);
  return claim === undefined
    ? []
    : [{ time, act: () => ({ kind: 'delete', target: { resource: 'nodeclaims', name: claim } }) }];
};

/** Somebody sets or removes the annotations that Curfew uses too. */
const annotationsChanged: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const { claim } = node;
  if (claim !== undefined && random.chance(0.4)) {
    const value: JsonValue = random.chance(0.3) ? null : drawTerminationTimestamp(random, time);
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': value };
    const target = { resource: 'nodeclaims', name: claim };
    return [{ time, act: () => ({ kind: 'patch', target, merge: { metadata: { annotations } } }) }];
  }
  return [
    {
      time,
      act() {
        // Where ours was taken away and our mark is still there, a new `"true"` cannot be told from ours.
        const values: readonly JsonValue[] = [null, '4h', 'false', ...(node.annotationRemoved ? [] : ['true'])];
        const value = random.pick(values);
        node.annotationRemoved ||= value === null;
        const annotations: JsonObject = {
          'karpenter.sh/do-not-disrupt': value,
          ...(random.chance(0.3) && { 'curfew.dev/protected-until': null }),
        };
        return patchNode(node, { metadata: { annotations } });
      },
    },
  ];
};

/** The node moves to another pool, or out of all pools. */
export const relabelled: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const pool = random.pick<JsonValue>([...model.pools, null]);
  const labels = { 'karpenter.sh/nodepool': pool };
  return [{ time, act: () => patchNode(node, { metadata: { labels } }) }];
};

/** A second NodeClaim points at the instance. */
export const mixedUp: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const name = `${node.name}-second-${(model.counter += 1)}`;
  return [{ time, act: () => ({ kind: 'apply', manifest: claimManifest(random, node, name, time) }) }];
};

export const NODE_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [10, trouble],
  [3, flapping],
  [3, wave],
  [2, replaced],
  [1, joined],
  [2, claimDeleted],
  [2, annotationsChanged],
  [0.5, relabelled],
  [0.3, mixedUp],
];

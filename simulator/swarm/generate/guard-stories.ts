/** What puts the guards of repair to work: storms in a zone or in the whole cluster, vetoes, claims and nodes that share an instance. */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds } from '../../../shared/domain/time.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import { drawTrouble, healthyStatus, nodeManifest } from './cluster.ts';
import { drawDuration, drawNear, pickSome } from './draw.ts';
import { DO_NOT_REPAIR, drawGuardedBlock, drawVeto, OWN_CONDITION, OWN_REASONS, replacingGuards } from './guards.ts';
import {
  claimDeleted,
  flapping,
  flip,
  joined,
  laterTime,
  mixedUp,
  patchNode,
  relabelled,
  trouble,
} from './node-stories.ts';
import type { Draft, NodePlan, Story, StoryContext } from './model.ts';

/** The nodes become unhealthy together, and come back, if they do, one after the other. */
function storm(
  { random, model, time }: StoryContext,
  nodes: readonly NodePlan[],
  { type, status }: { readonly type: string; readonly status: string },
): readonly Draft[] {
  const recovery = laterTime(random, model, time);
  const recovers = random.pick([0.2, 0.6, 1]);
  const spread = random.pick([seconds(0), seconds(20), minutes(2)]);
  return nodes.flatMap(node => {
    const begin = addDuration(time, drawDuration(random, seconds(0), spread));
    const end = addDuration(recovery, drawDuration(random, seconds(0), minutes(6)));
    const drafts = [flip(random, node, begin, { type, status })];
    if (random.chance(recovers)) drafts.push(flip(random, node, end, { type, status: healthyStatus(type) }));
    return drafts;
  });
}

const zoneOut: Story = context => {
  const { random, model } = context;
  const zone = random.pick(model.zones);
  return storm(
    context,
    model.nodes.filter(node => node.zone === zone),
    drawTrouble(random),
  );
};

/** Most of the cluster is not heard of any more. */
const dark: Story = context => {
  const { random, model } = context;
  return storm(context, pickSome(random, model.nodes, random.pick([0.7, 1])), { type: 'Ready', status: 'Unknown' });
};

const crowd: Story = context => {
  const { random, model } = context;
  return storm(context, pickSome(random, model.nodes, 0.5), drawTrouble(random));
};

const cursed: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  return [flip(random, node, time, { type: OWN_CONDITION, status: 'True', reason: random.pick(OWN_REASONS) })];
};

/** Somebody wants a node, an instance or a pool left alone, and later thinks better of it. */
const vetoed: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const targets = [
    { resource: 'nodes', name: node.name },
    ...(node.claim === undefined ? [] : [{ resource: 'nodeclaims', name: node.claim }]),
    ...(node.pool === undefined ? [] : [{ resource: 'nodepools', name: node.pool }]),
  ];
  const target = random.pick(targets);
  const say = (value: JsonValue): StepAction => ({
    kind: 'patch',
    target,
    merge: { metadata: { annotations: { [DO_NOT_REPAIR]: value } } },
  });
  const drafts: Draft[] = [{ time, act: () => say(drawVeto(random, time)) }];
  const unhealthy = drawNear(random, time, random.pick([seconds(0), seconds(0), minutes(1)]));
  if (random.chance(0.8)) drafts.push(flip(random, node, unhealthy, drawTrouble(random)));
  if (random.chance(0.5)) {
    const later = laterTime(random, model, time);
    drafts.push({ time: later, act: () => say(random.chance(0.7) ? null : drawVeto(random, later)) });
  }
  return drafts;
};

/** A second Node states the instance of the first, for a while. */
const shared: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const twin = { ...node, name: `${node.name}-twin-${(model.counter += 1)}` };
  const drafts: Draft[] = [
    { time, act: () => ({ kind: 'apply', manifest: nodeManifest(random, { ...twin, providerID: node.providerID }) }) },
  ];
  if (random.chance(0.7)) drafts.push(flip(random, node, drawNear(random, time, seconds(5)), drawTrouble(random)));
  if (random.chance(0.5)) {
    const gone = laterTime(random, model, time);
    drafts.push({ time: gone, act: () => patchNode(twin, { metadata: { finalizers: null } }) });
    drafts.push({ time: gone, act: () => ({ kind: 'delete', target: { resource: 'nodes', name: twin.name } }) });
  }
  return drafts;
};

/** The holders of nodes and NodeClaims give them up. */
const released: Story = ({ random, model, time }) =>
  model.slow.flatMap(target => {
    const drafts: Draft[] = [
      { time, act: () => ({ kind: 'patch', target, merge: { metadata: { finalizers: null } } }) },
    ];
    const node = model.nodes.find(({ claim }) => claim === target.name);
    if (node !== undefined && random.chance(0.8)) {
      drafts.push({ time, act: () => ({ kind: 'delete', target: { resource: 'nodes', name: node.name } }) });
    }
    return drafts;
  });

const guardsEdited: Story = ({ random, model, time }) => {
  if (model.pools.length === 0) return [];
  const target = { resource: 'nodepools', name: random.pick(model.pools) };
  const repair = (): JsonObject => replacingGuards(drawGuardedBlock(random, model));
  return [{ time, act: () => ({ kind: 'patch', target, merge: { spec: { repair: repair() } } }) }];
};

export const GUARD_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [4, trouble],
  [3, crowd],
  [4, zoneOut],
  [3, dark],
  [5, vetoed],
  [1, cursed],
  [1.5, shared],
  [1, mixedUp],
  [1, relabelled],
  [1, flapping],
  [1, joined],
  [0.7, claimDeleted],
  [1, released],
  [1.5, guardsEdited],
];

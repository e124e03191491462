/** What meets nodes on a ladder: reboots that help or do not, remediators that answer, people who interfere, edits of the ladder. */
import { addDuration, minutes, seconds, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import { drawTrouble, healthyStatus } from './cluster.ts';
import { drawDuration, drawNear, pickWeighted } from './draw.ts';
import { DO_NOT_REPAIR, drawGuardedBlock, drawVeto, replacingGuards } from './guards.ts';
import { FIX_NAMESPACE, foreignFix, NODE_FIXES } from './ladders.ts';
import type { Draft, Model, NodePlan, Story } from './model.ts';
import { flip, patchNode } from './node-stories.ts';

const MAX_TURNS = 3;

/** A node that stays unhealthy, gets well, or is unhealthy in another way by the time of each action; its remediator may answer in between. */
const climb: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const { type, status } = random.chance(0.8) ? { type: 'Ready', status: 'False' } : drawTrouble(random);
  const drafts = [flip(random, node, time, { type, status })];
  let next = time;
  for (let turn = 0; turn < MAX_TURNS && random.chance(0.75); turn++) {
    // About when an action begins, or its time is over.
    next = drawNear(random, next, random.pick([...model.durations, minutes(1)]));
    const status = pickWeighted(random, [
      [4, healthyStatus(type)],
      [3, 'Unknown'],
      [2, 'False'],
    ]);
    drafts.push(flip(random, node, next, { type, status }));
    if (random.chance(0.4)) drafts.push(...answers(random, node, next));
  }
  if (random.chance(0.3)) drafts.push(...obstacle(random, model, node, time));
  return drafts;
};

/** What a remediator does about the custom resource, if there is one. */
function answers(random: Random, { name }: NodePlan, begin: EpochMs): readonly Draft[] {
  const target = { resource: NODE_FIXES, namespace: FIX_NAMESPACE, name };
  const time = addDuration(begin, drawDuration(random, seconds(1), minutes(3)));
  const say = (type: string, status: string): StepAction => ({
    kind: 'patch',
    target,
    merge: { status: { conditions: [{ type, status, reason: 'Said', lastTransitionTime: toTimestamp(time) }] } },
  });
  const action = pickWeighted<StepAction>(random, [
    [2, say('Processing', 'True')],
    [3, say('Succeeded', 'True')],
    [4, say('Succeeded', 'False')],
    [1, { kind: 'delete', target }],
  ]);
  return [{ time, act: () => action }];
}

/** What stands in the way of an action, and as a rule goes away again. */
function obstacle(random: Random, model: Model, node: NodePlan, begin: EpochMs): readonly Draft[] {
  const time = drawNear(random, begin, random.pick([...model.durations, minutes(1)]));
  const end = addDuration(time, drawDuration(random, seconds(5), minutes(8)));
  const { providerID } = node;
  const cloud = (more: Partial<Extract<StepAction, { kind: 'cloud' }>>): StepAction => ({
    kind: 'cloud',
    providerID,
    ...more,
  });
  const veto = (value: string | null): StepAction =>
    patchNode(node, { metadata: { annotations: { [DO_NOT_REPAIR]: value } } });
  const fix = foreignFix(node.name);
  const there = { resource: NODE_FIXES, namespace: FIX_NAMESPACE, name: node.name };
  const [put, take] = pickWeighted<readonly [StepAction, StepAction]>(random, [
    [3, [cloud({ fail: random.pick(['throttle', 'error']) }), cloud({ fail: 'none' })]],
    [1, [cloud({ state: 'stopped' }), cloud({ state: 'running' })]],
    [3, [veto(drawVeto(random, time)), veto(null)]],
    [
      1,
      [
        { kind: 'apply', manifest: fix },
        { kind: 'delete', target: there },
      ],
    ],
  ]);
  return [{ time, act: () => put }, ...(random.chance(0.8) ? [{ time: end, act: () => take }] : [])];
}

/** A person takes the drain of a node back, or cordons it. */
const cordonTurned: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const unschedulable = random.chance(0.75) ? null : true;
  return [{ time, act: () => patchNode(node, { spec: { unschedulable } }) }];
};

/** Another ladder, while nodes are on this one. */
const ladderEdited: Story = ({ random, model, time }) => {
  const [policy] = model.policies;
  const target = pickWeighted(random, [
    [3, model.pools.length === 0 ? undefined : { resource: 'nodepools', name: random.pick(model.pools) }],
    [1, policy === undefined ? undefined : { resource: 'nodelifecyclepolicies', name: policy }],
  ]);
  if (target === undefined) return [];
  const repair = replacingGuards(drawGuardedBlock(random, model));
  return [{ time, act: () => ({ kind: 'patch', target, merge: { spec: { repair } } }) }];
};

export const LADDER_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [10, climb],
  [1, cordonTurned],
  [0.7, ladderEdited],
];

/** What happens around the end of a node: who deletes it, what holds it up, and who edits what in between. */
import { addDuration, minutes, seconds, toDurationMs, toTimestamp } from '../../../shared/domain/time.ts';
import type { StepAction, TargetRef } from '../../scenario/scenario.ts';
import { drawBusyPod, drawProtection } from './busy-pods.ts';
import { drawDuration, drawNear, pickWeighted, wholeSecond } from './draw.ts';
import { HOOKS } from './hook-resources.ts';
import type { Draft, NodePlan, Story } from './model.ts';
import { flip, laterTime, patchNode } from './node-stories.ts';
import { DO_NOT_DISRUPT } from './pods.ts';
import {
  attachmentManifest,
  drawDisruption,
  drawHealthyNode,
  drawTermination,
  terminatedNode,
} from './terminations.ts';

const claimOf = ({ claim }: NodePlan): TargetRef | undefined =>
  claim === undefined ? undefined : { resource: 'nodeclaims', name: claim };

/** `kubectl delete` of a NodeClaim, of a Node, or of both. */
export const deleted: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const claim = claimOf(node);
  const targets = [{ resource: 'nodes', name: node.name }, ...(claim === undefined ? [] : [claim, claim])];
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target: random.pick(targets) }) }];
  if (random.chance(0.2)) {
    const again = drawNear(random, time, seconds(5));
    drafts.push({ time: again, act: () => ({ kind: 'delete', target: random.pick(targets) }) });
  }
  return drafts;
};

/** It becomes unhealthy, and where a repair block applies is repaired by force. */
const unhealthy: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const drafts = [flip(random, node, time, { type: 'Ready', status: random.pick(['False', 'Unknown']) })];
  if (random.chance(0.4)) {
    drafts.push(flip(random, node, laterTime(random, model, time), { type: 'Ready', status: 'True' }));
  }
  return drafts;
};

const hookAnswers: Story = ({ random, model, time }) => {
  const name = random.pick(HOOKS);
  const say = (result: 'succeed' | 'fail' | 'silent'): StepAction => ({ kind: 'hook', name, result, message: 'no' });
  const drafts: Draft[] = [{ time, act: () => say(random.pick(['fail', 'silent'])) }];
  if (random.chance(0.6)) drafts.push({ time: laterTime(random, model, time), act: () => say('succeed') });
  return drafts;
};

/** A budget shuts, opens, or goes. */
export const budgetTurned: Story = ({ random, model, time }) => {
  if (model.budgets.length === 0) return [];
  const { name, namespace } = random.pick(model.budgets);
  const target = { resource: 'poddisruptionbudgets', namespace, name };
  const limit = (maxUnavailable: number): StepAction => ({
    kind: 'patch',
    target,
    merge: { spec: { minAvailable: null, maxUnavailable } },
  });
  const later = laterTime(random, model, time);
  return [
    { time, act: () => limit(0) },
    { time: later, act: () => (random.chance(0.3) ? { kind: 'delete', target } : limit(random.integer(1, 3))) },
  ];
};

/** A volume is attached, and detached after a while: the attach-detach controller. */
const attached: Story = ({ random, model, time }) => [
  { time, act: () => ({ kind: 'apply', manifest: attachmentManifest(model, random.pick(model.nodes)) }) },
  ...detached({ random, model, time: drawNear(random, time, drawDuration(random, seconds(0), minutes(8))) }),
];

const detached: Story = ({ model, time }) => [
  {
    time,
    act() {
      const name = model.attachments.shift();
      return name === undefined ? undefined : { kind: 'delete', target: { resource: 'volumeattachments', name } };
    },
  },
];

/** The cloud does not do as it is asked, or an instance ends by itself. */
const cloudTrouble: Story = ({ random, model, time }) => {
  const { providerID } = random.pick(model.nodes);
  if (random.chance(0.4)) {
    return [{ time, act: () => ({ kind: 'cloud', providerID, state: random.pick(['terminated', 'stopped']) }) }];
  }
  const fail = random.pick(['throttle', 'error'] as const);
  const end = drawNear(random, time, drawDuration(random, seconds(10), minutes(6)));
  return [
    { time, act: () => ({ kind: 'cloud', providerID, fail }) },
    { time: end, act: () => ({ kind: 'cloud', providerID, fail: 'none' }) },
  ];
};

/** The settings of terminations change, as a rule while some are under way. */
const settingsEdited: Story = ({ random, model, time }) => {
  const pool: TargetRef = { resource: 'nodepools', name: random.pick(model.pools) };
  const policy = model.policies[0];
  const ofPool = (): StepAction => ({
    kind: 'patch',
    target: pool,
    merge: { spec: { disruption: drawDisruption(random, model) } },
  });
  const ofPolicy = (): StepAction => ({
    kind: 'patch',
    target: { resource: 'nodelifecyclepolicies', name: policy ?? '' },
    merge: { spec: { termination: random.chance(0.1) ? null : drawTermination(random, model) } },
  });
  return [{ time, act: () => (policy !== undefined && random.chance(0.5) ? ofPolicy() : ofPool()) }];
};

/** Somebody sets Karpenter's deadline by hand, or takes it away. */
const deadlineSet: Story = ({ random, model, time }) => {
  const target = claimOf(random.pick(model.nodes));
  if (target === undefined) return [];
  const offset = toDurationMs(random.integer(-60_000, minutes(10)));
  const value = pickWeighted(random, [
    [5, toTimestamp(wholeSecond(addDuration(time, offset)))],
    [1, null],
    [1, 'soon'],
  ]);
  const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': value };
  return [{ time, act: () => ({ kind: 'patch', target, merge: { metadata: { annotations } } }) }];
};

export const podComes: Story = ({ random, model, time }) => [
  { time, act: () => ({ kind: 'apply', manifest: drawBusyPod(random, model, time) }) },
];

export const podChanges: Story = ({ random, model, time }) => {
  const pod = model.pods.length === 0 ? undefined : random.pick(model.pods);
  if (pod === undefined) return [];
  const target = { resource: 'pods', namespace: pod.namespace, name: pod.name };
  const action = pickWeighted<() => StepAction>(random, [
    [2, () => ({ kind: 'delete', target, ...(random.chance(0.5) && { gracePeriodSeconds: 0 }) })],
    [
      3,
      () => {
        const value = random.chance(0.5) ? null : drawProtection(random, model);
        return { kind: 'patch', target, merge: { metadata: { annotations: { [DO_NOT_DISRUPT]: value } } } };
      },
    ],
    [1, () => ({ kind: 'patch', target, merge: { status: { phase: 'Succeeded' } } })],
  ]);
  return [{ time, act: action }];
};

/** Somebody takes every finalizer off by hand. */
export const stripped: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const claim = claimOf(node);
  if (claim === undefined || random.chance(0.4)) {
    return [{ time, act: () => patchNode(node, { metadata: { finalizers: null } }) }];
  }
  return [{ time, act: () => ({ kind: 'patch', target: claim, merge: { metadata: { finalizers: null } } }) }];
};

const joined: Story = ({ random, model, time }) => {
  const node = drawHealthyNode(random, model, time);
  const [first, ...others] = terminatedNode(random, node);
  if (first === undefined) return [];
  return [
    {
      time,
      act() {
        model.nodes.push(node);
        return { kind: 'apply', manifest: first };
      },
    },
    ...others.map((manifest): Draft => ({
      time: drawNear(random, time, seconds(2)),
      act: () => ({ kind: 'apply', manifest }),
    })),
  ];
};

export const TERMINATION_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [10, deleted],
  [2, unhealthy],
  [3, hookAnswers],
  [2, budgetTurned],
  [1.5, attached],
  [1.5, detached],
  [1.5, cloudTrouble],
  [2, settingsEdited],
  [1.5, deadlineSet],
  [1.5, podComes],
  [2, podChanges],
  [0.6, stripped],
  [0.7, joined],
];

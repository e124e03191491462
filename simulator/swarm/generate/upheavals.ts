/**
 * What turns over under a termination, a drain or a ladder: objects that come back under their names, NodePools and policies that go and
 * come, budgets that overlap, people who take marks away. They are drawn from a stream of their own, so that clusters without them stay as
 * they are.
 */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import type { Draft, Model, Story } from './model.ts';
import { laterTime, patchNode } from './node-stories.ts';
import { drawTerminatingPolicy, drawTerminatingPool } from './terminations.ts';
import { apply, TURNOVER_STORIES } from './turnover-stories.ts';

/** A second policy that selects as much as the first: the name decides. */
const tied: Story = ({ random, model, time }) => {
  const name = `${random.pick(['another', 'zulu'])}-${(model.counter += 1)}`;
  const target = { resource: 'nodelifecyclepolicies', name };
  const drafts: Draft[] = [apply(drawTerminatingPolicy(random, model, name), time)];
  return random.chance(0.7)
    ? [...drafts, { time: laterTime(random, model, time), act: () => ({ kind: 'delete', target }) }]
    : drafts;
};

/** A policy goes in the middle, and comes back as a rule. */
const policyGone: Story = ({ random, model, time }) => {
  const [name] = model.policies;
  if (name === undefined) return [];
  const target = { resource: 'nodelifecyclepolicies', name };
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target }) }];
  return random.chance(0.7)
    ? [...drafts, apply(drawTerminatingPolicy(random, model, name), laterTime(random, model, time))]
    : drafts;
};

const poolGone: Story = ({ random, model, time }) => {
  if (model.pools.length === 0) return [];
  const name = random.pick(model.pools);
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'delete', target: { resource: 'nodepools', name } }) }];
  return random.chance(0.7)
    ? [...drafts, apply(drawTerminatingPool(random, model, name), laterTime(random, model, time))]
    : drafts;
};

/** Two budgets for the same pods: the API server answers an eviction with an error then. */
const overlapping: Story = ({ random, model, time }) => {
  if (model.budgets.length === 0) return [];
  const budget = random.pick(model.budgets);
  const name = `overlap-${(model.counter += 1)}`;
  const body = { ...budget.body, metadata: { ...objectAt(budget.body, 'metadata'), name } };
  const target = { resource: 'poddisruptionbudgets', namespace: budget.namespace ?? 'default', name };
  const drafts = [apply({ ...budget, name, body }, time)];
  return random.chance(0.7)
    ? [...drafts, { time: laterTime(random, model, time), act: () => ({ kind: 'delete', target }) }]
    : drafts;
};

/** Those that a drain leaves behind when somebody writes them whose drain there is none. */
const DRAIN_MARKS = ['drain', 'watch-pods', 'cordoned-by-drain'] as const;
const OTHER_MARKS = ['drain-answer', 'termination-finalizer', 'protected-until'] as const;

/** Somebody tidies up a node: what Curfew has put there goes. */
const tidied: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const removed = random.pick([...DRAIN_MARKS, ...OTHER_MARKS]);
  const merge = pickWeighted<JsonObject>(random, [
    [3, { spec: { taints: null } }],
    [3, { metadata: { annotations: { [`curfew.dev/${removed}`]: null } } }],
    [1, { metadata: { annotations: { [`curfew.dev/${random.pick(OTHER_MARKS)}`]: 'tidy' } } }],
    [
      2,
      {
        metadata: {
          labels: {
            'dgxc.nvidia.com/nvsentinel-state': random.pick([null, 'quarantined', 'drain-succeeded']),
          },
        },
      },
    ],
  ]);
  return [{ time, act: () => patchNode(node, merge) }];
};

export const UPHEAVALS: readonly (readonly [weight: number, story: Story])[] = [
  ...TURNOVER_STORIES,
  [1.5, tied],
  [1.5, policyGone],
  [2, poolGone],
  [2, overlapping],
  [3, tidied],
];

const MAX_UPHEAVALS = 5;

export function drawUpheavals(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.nodes.length === 0 || !random.chance(0.3)) return [];
  return times(random.integer(1, MAX_UPHEAVALS)).flatMap(index => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const story = pickWeighted(random, UPHEAVALS);
    return story({ random: random.stream(String(index)), model, time });
  });
}

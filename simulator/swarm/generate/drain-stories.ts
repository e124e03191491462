/** What happens around drains: faults and recoveries, controllers that answer or do not, people who interfere, settings that change. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import {
  BAD_CONFIGS,
  DRAIN_DEFINITION,
  DRAIN_NAMESPACE,
  DRAIN_REQUESTS,
  drainRequestName,
  drawDrainConfig,
  foreignRequest,
} from './drains.ts';
import { drawDuration, drawNear, pickWeighted } from './draw.ts';
import type { Draft, Model, NodePlan, Story } from './model.ts';
import { laterTime, patchNode } from './node-stories.ts';
import { budgetTurned, deleted, podChanges, podComes, stripped } from './termination-stories.ts';

const CHECKS = ['GpuMemWatch', 'NicLink'] as const;

interface Fault {
  readonly node: NodePlan;
  readonly id: string;
  readonly checkName: string;
}

function drawFault(random: Random, model: Model): Fault {
  return { node: random.pick(model.nodes), id: `e${(model.counter += 1)}`, checkName: random.pick(CHECKS) };
}

const healthEvent = ({ node, id, checkName }: Fault, more: JsonObject = {}): StepAction => ({
  kind: 'busEvent',
  source: 'nvsentinel',
  detailType: 'HealthEvent',
  detail: { id, nodeName: node.name, agent: 'monitor', componentClass: 'GPU', checkName, isFatal: true, ...more },
});

/** A fault, usually with its consequences. */
export const fault: Story = context => {
  const { random, model, time } = context;
  const found = drawFault(random, model);
  const overrides = pickWeighted<JsonObject>(random, [
    [8, {}],
    [1, { drainOverrides: { force: true } }],
    [1, { drainOverrides: { skip: true } }],
  ]);
  const drafts: Draft[] = [{ time, act: () => healthEvent(found, overrides) }];
  if (random.chance(0.3)) {
    const again = drawNear(random, time, drawDuration(random, seconds(0), minutes(4)));
    drafts.push({ time: again, act: () => healthEvent(found, overrides) });
  }
  if (random.chance(0.35)) {
    const over: Fault = { ...found, id: `${found.id}-over` };
    const end = laterTime(random, model, time);
    drafts.push({ time: end, act: () => healthEvent(over, { isHealthy: true, isFatal: false }) });
  }
  if (random.chance(0.2)) {
    // A person wants the node back, just when its pods wait.
    const hand = drawNear(random, time, drawDuration(random, seconds(20), minutes(3)));
    drafts.push({ time: hand, act: () => patchNode(found.node, { spec: { unschedulable: null } }) });
  }
  if (model.kinds.includes(DRAIN_REQUESTS) && random.chance(0.12)) {
    const name = drainRequestName(found.node.name, found.id);
    drafts.push({
      time: addDuration(time, seconds(-30)),
      act: () => ({ kind: 'apply', manifest: foreignRequest(name) }),
    });
  }
  return [...drafts, ...answers(random, model, found, time)];
};

/** What a controller does about the custom resource, if there is one: it works, completes, fails, or is gone. */
function answers(random: Random, model: Model, { node, id }: Fault, begin: EpochMs): readonly Draft[] {
  const target = { resource: DRAIN_REQUESTS, namespace: DRAIN_NAMESPACE, name: drainRequestName(node.name, id) };
  const say = (type: string, more: JsonObject = {}): StepAction => ({
    kind: 'patch',
    target,
    merge: { status: { conditions: [{ type, status: 'True', reason: 'Said', ...more }] } },
  });
  const drafts: Draft[] = [];
  let time = begin;
  for (let said = 0; said < 4 && random.chance(0.7); said++) {
    time = addDuration(time, drawDuration(random, seconds(5), minutes(2)));
    const action = pickWeighted<StepAction>(random, [
      [3, say('DrainInProgress', { message: `step ${said}` })],
      [4, say('DrainComplete')],
      [1.5, say('DrainFailed', { message: 'slurmctld does not answer' })],
      [1, { kind: 'delete', target }],
    ]);
    // Without a definition there is nothing to answer.
    drafts.push({ time, act: () => (model.kinds.includes(DRAIN_REQUESTS) ? action : undefined) });
  }
  if (random.chance(0.5)) drafts.push(...emptied(model, node, time));
  return drafts;
}

/** The pods end by themselves, as when a controller has emptied the node. */
const emptied = (model: Model, node: NodePlan, time: EpochMs): readonly Draft[] =>
  model.pods
    .filter(pod => pod.node === node.name)
    .map(({ namespace, name }) => ({
      time,
      act: () => ({ kind: 'delete', target: { resource: 'pods', namespace, name }, gracePeriodSeconds: 0 }),
    }));

/** Another part, or a person with the command line, asks. */
const requested: Story = ({ random, model, time }) => {
  const { node, id } = drawFault(random, model);
  const detail = { schemaVersion: 1, id, node: { name: node.name }, reason: 'maintenance', force: random.chance(0.2) };
  return [{ time, act: () => ({ kind: 'busEvent', source: 'people', detailType: 'DrainRequested', detail }) }];
};

/** NVSentinel quarantines the node, and takes that back. */
const quarantined: Story = ({ random, model, time }) => {
  const found = drawFault(random, model);
  const wrapped = (more: JsonObject, nodeQuarantined: string): StepAction => {
    const action = healthEvent(found, more);
    if (action.kind !== 'busEvent') return action;
    return { ...action, detail: { healthEvent: action.detail, healthEventStatus: { nodeQuarantined } } };
  };
  const mark = JSON.stringify([{ id: found.id }]);
  const drafts: Draft[] = [
    { time, act: () => patchNode(found.node, { metadata: { annotations: { quarantineHealthEvent: mark } } }) },
    { time, act: () => wrapped({}, 'Quarantined') },
  ];
  if (random.chance(0.6)) {
    const end = laterTime(random, model, time);
    const annotations = { quarantineHealthEvent: null };
    drafts.push(
      { time: end, act: () => patchNode(found.node, { metadata: { annotations } }) },
      { time: end, act: () => wrapped({ id: `${found.id}-over`, isHealthy: true }, 'UnQuarantined') },
    );
  }
  return drafts;
};

const cordonTurned: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const unschedulable = random.chance(0.75) ? null : true;
  return [{ time, act: () => patchNode(node, { spec: { unschedulable } }) }];
};

/** The configuration changes while drains are under way, sometimes to one that is refused. */
const configEdited: Story = ({ random, model, time }) => {
  const target = { resource: 'configmaps', namespace: 'curfew', name: 'curfew-config' };
  const write = (text: string): StepAction => ({ kind: 'patch', target, merge: { data: { 'config.toml': text } } });
  const isBad = random.chance(0.3);
  const drafts: Draft[] = [
    { time, act: () => write(isBad ? random.pick(BAD_CONFIGS) : drawDrainConfig(random, model)) },
  ];
  if (isBad) {
    const back = laterTime(random, model, time);
    drafts.push({ time: back, act: () => write(drawDrainConfig(random, model)) });
  }
  return drafts;
};

const modeTurned: Story = ({ random, model, time }) => {
  const [name] = model.policies;
  if (name === undefined) return [];
  const target = { resource: 'nodelifecyclepolicies', name };
  const mode = random.pick(['Observe', 'Enforce', 'Enforce']);
  return [{ time, act: () => ({ kind: 'patch', target, merge: { spec: { mode } } }) }];
};

const definitionComes: Story = ({ model, time }) => [
  {
    time,
    act() {
      model.kinds.push(DRAIN_REQUESTS);
      return { kind: 'apply', manifest: DRAIN_DEFINITION };
    },
  },
];

export const DRAIN_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [10, fault],
  [2, requested],
  [2, quarantined],
  [1.5, cordonTurned],
  [2, configEdited],
  [1, modeTurned],
  [0.5, definitionComes],
  [2, podComes],
  [2, podChanges],
  [1.5, budgetTurned],
  [1.5, deleted],
  [0.2, stripped],
];

/** What stands in the way of a repair: others at work, vetoes, terminations that hang, refusals, switches that are thrown in the middle of it. */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import { drawDuration, drawNear, pickWeighted } from './draw.ts';
import { DO_NOT_REPAIR } from './guards.ts';
import { drawReport, report } from './incident-reports.ts';
import { drawActions } from './incidents.ts';
import type { Draft, NodePlan, Story } from './model.ts';
import { laterTime, patchNode } from './node-stories.ts';

const claimOf = ({ claim, name }: NodePlan): string => claim ?? name;

/** Somebody else's finalizer keeps Node or NodeClaim, for hours or for ever. */
const stuck: Story = context => {
  const { random, model, time } = context;
  const node = random.pick(model.nodes);
  const target = random.chance(0.5)
    ? { resource: 'nodes', name: node.name }
    : { resource: 'nodeclaims', name: claimOf(node) };
  const hold = (finalizers: readonly string[]): StepAction => ({
    kind: 'patch',
    target,
    merge: { metadata: { finalizers } },
  });
  const put: Draft = { time, act: () => hold(['karpenter.sh/termination', 'example.com/keep']) };
  const end = addDuration(time, drawDuration(random, minutes(20), hours(2)));
  const take: Draft = { time: end, act: () => hold([]) };
  return [put, report(node, addDuration(time, seconds(1)), drawReport(random)), ...(random.chance(0.5) ? [take] : [])];
};

/** A mark of somebody else who works on the node, put on and as a rule taken off. */
const othersAtWork: Story = context => {
  const { random, model, time } = context;
  const node = random.pick(model.nodes);
  const taint = (key: string, value?: string): JsonObject => ({
    spec: { taints: [{ key, effect: 'NoSchedule', ...(value !== undefined && { value }) }] },
  });
  const begin = drawNear(random, time, random.pick([seconds(0), ...model.durations]));
  const end = addDuration(begin, drawDuration(random, minutes(1), minutes(90)));
  const onClaim = (type: string, status: string): StepAction => ({
    kind: 'patch',
    target: { resource: 'nodeclaims', name: claimOf(node) },
    merge: { status: { conditions: [{ type, status, reason: 'Said', lastTransitionTime: toTimestamp(begin) }] } },
  });
  const maintenance = (status: string, at: EpochMs): Draft =>
    report(node, at, { type: 'MaintenanceInProgress', status });
  const tainted = (merge: JsonObject): readonly Draft[] => [
    { time: begin, act: () => patchNode(node, merge) },
    ...(random.chance(0.7) ? [{ time: end, act: () => patchNode(node, { spec: { taints: null } }) }] : []),
  ];
  const unix = String(Math.floor(begin / 1000));
  const marks = pickWeighted<readonly Draft[]>(random, [
    [3, tainted(taint('ToBeDeletedByClusterAutoscaler', unix))],
    [2, tainted(taint('karpenter.sh/disrupted'))],
    [1, tainted(taint('karpenter.sh/rebooting'))],
    [1, tainted(taint('node.cloudprovider.kubernetes.io/shutdown'))],
    [2, [maintenance('True', begin), maintenance('False', end)]],
    [
      1,
      [
        { time: begin, act: () => onClaim('Rebooting', 'True') },
        { time: end, act: () => onClaim('Rebooting', 'False') },
      ],
    ],
    [
      1,
      [
        { time: begin, act: () => onClaim('DisruptionReason', 'True') },
        { time: end, act: () => onClaim('DisruptionReason', 'False') },
      ],
    ],
  ]);
  return [report(node, time, drawReport(random)), ...marks];
};

/** A person wants it left alone, until an instant. */
const spared: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const key = random.chance(0.8) ? DO_NOT_REPAIR : 'karpenter.sh/do-not-repair';
  const until = toTimestamp(addDuration(time, drawDuration(random, seconds(10), minutes(40))));
  const value = key === DO_NOT_REPAIR && random.chance(0.7) ? until : 'true';
  const say = (text: JsonValue): StepAction => patchNode(node, { metadata: { annotations: { [key]: text } } });
  const end = laterTime(random, model, time);
  const unhealthy = drawNear(random, time, random.pick([seconds(0), minutes(1)]));
  return [
    { time, act: () => say(value) },
    report(node, unhealthy, drawReport(random)),
    ...(random.chance(0.6) ? [{ time: end, act: () => say(null) }] : []),
  ];
};

/** Gate, block or mode are off for a moment, when something is about to be due. */
const switched: Story = ({ random, model, time }) => {
  const begin = drawNear(random, time, random.pick(model.durations));
  const end = addDuration(begin, random.pick<DurationMs>([seconds(20), minutes(2), minutes(10), minutes(40)]));
  const gate = (on: boolean): StepAction => ({
    kind: 'patch',
    target: { resource: 'configmaps', namespace: 'curfew', name: 'curfew-config' },
    merge: { data: { 'config.toml': `[featureGates]\nnodeRepair = ${on}\n` } },
  });
  const [policy] = model.policies;
  const mode = (value: string): StepAction | undefined =>
    policy === undefined
      ? undefined
      : {
          kind: 'patch',
          target: { resource: 'nodelifecyclepolicies', name: policy },
          merge: { spec: { mode: value } },
        };
  const pool = random.pick(model.pools);
  const block = (flapping: JsonValue): StepAction => ({
    kind: 'patch',
    target: { resource: 'nodepools', name: pool },
    merge: { spec: { repair: { flapping } } },
  });
  const [off, on] = pickWeighted<readonly [StepAction | undefined, StepAction | undefined]>(random, [
    [2, [gate(false), gate(true)]],
    [2, [mode('Observe'), mode('Enforce')]],
    [2, [block('often'), block(null)]],
  ]);
  return [
    { time: begin, act: () => off },
    { time: end, act: () => on },
  ];
};

/** EC2 or the API server says no, or nothing, for seconds or for hours, when a node is due. */
const refusedAct: Story = context => {
  const { random, model, time } = context;
  const node = random.pick(model.nodes);
  const { providerID } = node;
  const length = pickWeighted<DurationMs>(random, [
    [2, drawDuration(random, seconds(10), minutes(4))],
    [2, drawDuration(random, minutes(4), minutes(30))],
    [1, drawDuration(random, minutes(30), hours(3))],
  ]);
  const end = addDuration(time, length);
  const cloud = (more: Partial<Extract<StepAction, { kind: 'cloud' }>>): StepAction => ({
    kind: 'cloud',
    providerID,
    ...more,
  });
  const refuse = (name?: string): readonly Draft[] => {
    const as = { status: random.pick([403, 422, 429, 500] as const) };
    const refusal = {
      verb: 'delete',
      resource: 'nodeclaims',
      ...(name !== undefined && { name }),
      by: 'repair',
      as,
    } as const;
    return [{ time, act: () => ({ kind: 'refuse', refusal, for: length }) }];
  };
  const obstacle = pickWeighted<readonly Draft[]>(random, [
    [2, refuse(claimOf(node))],
    [1, refuse()],
    [
      2,
      [
        { time, act: () => cloud({ fail: random.pick(['throttle', 'error']) }) },
        { time: end, act: () => cloud({ fail: 'none' }) },
      ],
    ],
    [
      1,
      [
        { time, act: () => cloud({ state: 'stopped' }) },
        { time: end, act: () => cloud({ state: 'running' }) },
      ],
    ],
  ]);
  return [report(node, time, drawReport(random)), ...obstacle];
};

const actionsEdited: Story = ({ random, model, time }) => {
  const target = { resource: 'nodepools', name: random.pick(model.pools) };
  const { actions = null } = drawActions(random, model);
  return [{ time, act: () => ({ kind: 'patch', target, merge: { spec: { repair: { actions } } } }) }];
};

export const INCIDENT_OBSTACLES: readonly (readonly [weight: number, story: Story])[] = [
  [2, stuck],
  [3, othersAtWork],
  [2, spared],
  [4, switched],
  [3, refusedAct],
  [1, actionsEdited],
];

/**
 * Managed node groups: nodes that no NodeClaim stands for, whose instances an Auto Scaling group replaces where a policy says so. They are
 * drawn from streams of their own, so that clusters without them stay as they are.
 */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, StepAction } from '../../scenario/scenario.ts';
import { drawNode, drawTrouble, nodeManifest } from './cluster.ts';
import { drawDuration, drawNear, times } from './draw.ts';
import type { Draft, Model, NodePlan, Story } from './model.ts';
import { flip, laterTime } from './node-stories.ts';

const NODE_GROUP_LABEL = 'eks.amazonaws.com/nodegroup';
const GROUPS = ['blue', 'green'] as const;
/** The policy of a cluster that has no other. */
export const GROUP_POLICY = 'node-groups';

/** Of a repair block; nothing in a cluster without node groups. */
export function drawGroupRepair(random: Random, model: Model): JsonObject {
  if (!model.hasNodeGroups || random.chance(0.2)) return {};
  return { nodesWithoutNodeClaim: random.chance(0.85) ? 'TerminateInAutoScalingGroup' : 'Ignore' };
}

/** Some nodes in one or two groups; now and then an instance that is in none, though no NodeClaim stands for it. */
export function drawNodeGroups(random: Random, model: Model, start: EpochMs): readonly Manifest[] {
  if (!model.hasNodeGroups) return [];
  return times(random.integer(2, 6)).map(() => {
    const node: NodePlan = { ...drawNode(random, model, start), pool: undefined, claim: undefined };
    model.nodes.push(node);
    return groupNode(random, node);
  });
}

/** Its Node, as a rule in one of the groups. */
export function groupNode(random: Random, node: NodePlan): Manifest {
  const manifest = nodeManifest(random, node);
  const { finalizers: _, ...metadata } = objectAt(manifest.body, 'metadata');
  const labels = random.chance(0.92) ? { [NODE_GROUP_LABEL]: random.pick(GROUPS) } : {};
  const body = {
    ...manifest.body,
    metadata: { ...metadata, labels: { ...objectAt(metadata, 'labels'), ...labels } },
  };
  return { ...manifest, body };
}

const nodesOfGroups = ({ nodes }: Model): readonly NodePlan[] =>
  nodes.filter(({ pool, claim }) => pool === undefined && claim === undefined);

const unhealthy: Story = ({ random, model, time }) => {
  const nodes = nodesOfGroups(model);
  return nodes.length === 0 ? [] : [flip(random, random.pick(nodes), time, drawTrouble(random))];
};

/** The instance ends, the Node goes, and the group brings another of a new name. */
const replaced: Story = ({ random, model, time }) => {
  const nodes = nodesOfGroups(model);
  if (nodes.length === 0) return [];
  const old = random.pick(nodes);
  const gone = addDuration(time, drawDuration(random, seconds(0), minutes(2)));
  const drafts: Draft[] = [
    { time, act: () => ({ kind: 'cloud', providerID: old.providerID, state: 'terminated' }) },
    { time: gone, act: () => ({ kind: 'delete', target: { resource: 'nodes', name: old.name } }) },
    {
      time: drawNear(random, gone, minutes(1)),
      act: () => {
        const node: NodePlan = { ...drawNode(random, model, gone), pool: undefined, claim: undefined };
        model.nodes.push(node);
        return { kind: 'apply', manifest: groupNode(random, node) };
      },
    },
  ];
  return random.chance(0.5) ? [flip(random, old, time, drawTrouble(random)), ...drafts] : drafts;
};

/** Somebody turns it on or off for a while. */
const turned: Story = ({ random, model, time }) => {
  const name = model.policies[0] ?? GROUP_POLICY;
  const say = (value: string | null): StepAction => ({
    kind: 'patch',
    target: { resource: 'nodelifecyclepolicies', name },
    merge: { spec: { repair: { nodesWithoutNodeClaim: value } } },
  });
  const values = ['TerminateInAutoScalingGroup', 'Ignore', null];
  const drafts: Draft[] = [{ time, act: () => say(random.pick(values)) }];
  if (random.chance(0.6)) {
    drafts.push({ time: laterTime(random, model, time), act: () => say('TerminateInAutoScalingGroup') });
  }
  return drafts;
};

export const NODE_GROUP_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [5, unhealthy],
  [2, replaced],
  [1.5, turned],
];

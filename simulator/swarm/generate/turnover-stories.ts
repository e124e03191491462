/** Objects that turn over under a termination or a drain: they come back under their names, belong to others, come slowly, or stay long. */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Manifest, StepAction, TargetRef } from '../../scenario/scenario.ts';
import { drawBusyPod } from './busy-pods.ts';
import { drawNode } from './cluster.ts';
import { drawDuration, drawNear } from './draw.ts';
import { toManifest, type Draft, type NodePlan, type Story } from './model.ts';
import { laterTime } from './node-stories.ts';
import { terminatedNode } from './terminations.ts';

/** Without its finalizers it goes at once: what comes back under its name is another object. */
const gone = (target: TargetRef, time: EpochMs): readonly Draft[] => [
  { time, act: () => ({ kind: 'patch', target, merge: { metadata: { finalizers: null } } }) },
  { time, act: () => ({ kind: 'delete', target }) },
];

export const apply = (manifest: Manifest, time: EpochMs): Draft => ({ time, act: () => ({ kind: 'apply', manifest }) });

const claimTarget = (name: string): TargetRef => ({ resource: 'nodeclaims', name });

/** Node, NodeClaim or both come back under their names, for the same instance or for another one, as a rule while something is under way. */
const reborn: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const what = random.pick(['Node', 'Node', 'NodeClaim', 'both']);
  const parts = terminatedNode(random, node).filter(({ kind }) => what === 'both' || kind === what);
  const back = drawNear(random, time, random.pick([seconds(0), seconds(5), minutes(1)]));
  const next: NodePlan = random.chance(0.5)
    ? node
    : { ...drawNode(random, model, back, node.name), claim: node.claim, pool: node.pool };
  const drafts: Draft[] = [];
  for (const { kind, name } of parts) {
    const target = kind === 'Node' ? { resource: 'nodes', name } : claimTarget(name);
    drafts.push({ time: addDuration(time, seconds(-20)), act: () => ({ kind: 'delete', target }) });
    drafts.push(...gone(target, time));
  }
  const manifests = terminatedNode(random, next).filter(({ kind }) => what === 'both' || kind === what);
  return [...drafts, ...manifests.map(manifest => apply(manifest, back))];
};

/** A NodeClaim is said to be for another node, or for none, and later for its own again. */
const moved: Story = ({ random, model, time }) => {
  const { name, claim } = random.pick(model.nodes);
  if (claim === undefined) return [];
  const say = (nodeName: string | null): StepAction => ({
    kind: 'patch',
    target: claimTarget(claim),
    merge: { status: { nodeName } },
  });
  const other = random.pick([random.pick(model.nodes).name, null]);
  const drafts: Draft[] = [{ time, act: () => say(other) }];
  return random.chance(0.7) ? [...drafts, { time: laterTime(random, model, time), act: () => say(name) }] : drafts;
};

/** A NodeClaim before its Node: launched, registered, and as likely deleted in between. */
const slowStart: Story = ({ random, model, time }) => {
  const node = drawNode(random, model, time);
  const claim = node.claim ?? `${node.name}-claim`;
  const [first, second] = terminatedNode(random, { ...node, claim });
  if (first === undefined || second === undefined) return [];
  const { status, ...rest } = second.body;
  const launched = drawNear(random, time, seconds(20));
  const registered = drawNear(random, launched, minutes(1));
  const say = (merge: JsonObject): StepAction => ({
    kind: 'patch',
    target: claimTarget(claim),
    merge: { status: merge },
  });
  return [
    apply({ ...second, body: rest }, time),
    { time: launched, act: () => say({ providerID: node.providerID }) },
    apply(first, registered),
    {
      time: addDuration(registered, seconds(random.integer(0, 5))),
      act: () => say(objectAt({ status: status ?? {} }, 'status')),
    },
    ...(random.chance(0.6)
      ? [
          {
            // Not before the launch: a hook that was called without an instance is not called again with one.
            time: addDuration(launched, drawDuration(random, seconds(1), minutes(2))),
            act: (): StepAction => ({ kind: 'delete', target: claimTarget(claim) }),
          },
        ]
      : []),
  ];
};

/** A StatefulSet's: under the same name on the same node, for it tolerates that this one is kept free. */
const podBack: Story = ({ random, model, time }) => {
  if (model.pods.length === 0) return [];
  const pod = random.pick(model.pods);
  const target = { resource: 'pods', namespace: pod.namespace, name: pod.name };
  const manifest = drawBusyPod(random, { ...model, pods: [] }, time);
  const { metadata, ...body } = manifest.body;
  const named = toManifest(
    {
      ...body,
      metadata: {
        ...objectAt({ metadata: metadata ?? {} }, 'metadata'),
        namespace: pod.namespace,
        name: pod.name,
        creationTimestamp: toTimestamp(addDuration(time, seconds(1))),
      },
      spec: { ...objectAt(manifest.body, 'spec'), nodeName: pod.node },
    },
    pod.name,
    pod.namespace,
  );
  return [
    { time, act: () => ({ kind: 'delete', target, gracePeriodSeconds: 0 }) },
    apply(named, addDuration(time, seconds(random.integer(1, 3)))),
  ];
};

/** A pod that may take longer than any deadline. */
const patient: Story = ({ random, model, time }) => {
  const manifest = drawBusyPod(random, model, time);
  const metadata = objectAt(manifest.body, 'metadata');
  const body = {
    ...manifest.body,
    metadata: {
      ...metadata,
      annotations: {
        ...objectAt(metadata, 'annotations'),
        'sim.curfew.dev/stops-after': random.pick(['never', '20m']),
      },
    },
    spec: { ...objectAt(manifest.body, 'spec'), terminationGracePeriodSeconds: random.pick([0, 600, 3600, 86_400]) },
  };
  return [apply({ ...manifest, body }, time)];
};

export const TURNOVER_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [4, reborn],
  [2, moved],
  [2, slowStart],
  [2, podBack],
  [2, patient],
];

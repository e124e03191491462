/** Clusters whose nodes end under a finalizer of Curfew: terminations with hooks, budgets, volumes and deadlines. */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { seconds, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, PlacedManifest } from '../../scenario/scenario.ts';
import { conditionsBody, drawNode } from './cluster.ts';
import { pickSome, pickWeighted, times } from './draw.ts';
import { drawFinalizerRuleObjects } from './finalizer-rules.ts';
import { drawHookResource, HOOKS, withHookResources } from './hook-resources.ts';
import { place, toManifest, type Model, type NodePlan } from './model.ts';
import { budgetManifest } from './pods.ts';
import { drawBusyPod } from './busy-pods.ts';
import { drawPoolLabels, durationOf, names } from './settings.ts';

const POOL_LABEL = 'karpenter.sh/nodepool';
const FINALIZERS = ['example.com/custom', 'curfew.dev/termination'] as const;
const GRACE_PERIODS = ['0s', '2m', '5m', '10m'] as const;
function drawHook(random: Random, model: Model, name: string): JsonObject {
  const at = random.pick(['before-drain', 'before-terminate', 'after-terminate']);
  const call = random.chance(0.7) ? { lambda: { functionName: 'f' } } : { event: { detailType: 'Hook' } };
  const deadline = random.pick(['30s', '2m', '5m']);
  return {
    name,
    at,
    ...(drawHookResource(random.stream(`resource ${name}`), model) ?? { ...call, deadline }),
    ...(random.chance(0.3) && { heartbeat: '20s' }),
    onTimeout: random.pick(['Proceed', 'Proceed', 'Abort', 'Escalate']),
  };
}

/** A `termination` block. */
export function drawTermination(random: Random, model: Model): JsonObject {
  const gracePeriod = random.pick(GRACE_PERIODS);
  model.durations.push(durationOf(gracePeriod));
  return {
    ...(random.chance(0.7) && { finalizerName: random.pick(FINALIZERS) }),
    ...(random.chance(0.5) && { scope: random.pick(['NodeClaimAndNode', 'NodeOnly', 'NodeOnly', 'None']) }),
    ...(random.chance(0.35) && { terminationGracePeriod: gracePeriod }),
    hooks: pickSome(random, HOOKS, model.hasHookResources ? 0.7 : 0.4).map(name => drawHook(random, model, name)),
    ...(random.stream('builtin').chance(0.2) && { builtin: 'Replace' }),
  };
}

/** The part of a NodePool's own that is about terminations, in the form of a merge patch. */
export function drawDisruption(random: Random, model: Model): JsonObject {
  const gracePeriodSeconds = random.pick([60, 120, 300, 600]);
  model.durations.push(seconds(gracePeriodSeconds));
  return {
    ...(random.chance(0.6) && { customFinalizerName: random.pick(FINALIZERS) }),
    terminationGracePeriodSeconds: random.chance(0.35) ? gracePeriodSeconds : null,
  };
}

/** A repair that comes soon: it is forceful whatever the grace. */
const SOON: JsonObject = { defaultTolerationDuration: '30s', maxUnhealthy: '100%', freeze: 'Off', zoneOutage: 'Off' };

export function drawTerminatingPolicy(random: Random, model: Model, name: string): Manifest {
  return toManifest(
    {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name },
      spec: {
        ...(random.chance(0.05) && { mode: 'Observe' }),
        termination: drawTermination(random, model),
        ...(random.chance(0.3) && { repair: SOON }),
        ...(random.chance(0.2) && { protection: { maxDuration: random.pick(['1m', '5m']) } }),
      },
    },
    name,
  );
}

export function drawTerminatingPool(random: Random, model: Model, name: string): Manifest {
  const disruption = Object.fromEntries(
    Object.entries(drawDisruption(random, model)).filter(([, value]) => value !== null),
  );
  return toManifest(
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name, labels: drawPoolLabels(random) },
      spec: { disruption, ...(random.chance(0.4) && { repair: SOON }) },
    },
    name,
  );
}

/** A Node as its NodeClaim made it; as a rule no other finalizer than what Curfew puts on. */
export function terminatedNode(random: Random, node: NodePlan): readonly Manifest[] {
  const labels = node.pool === undefined ? {} : { [POOL_LABEL]: node.pool };
  const isKarpenters = random.chance(0.25);
  const finalizers = isKarpenters ? { finalizers: ['karpenter.sh/termination'] } : {};
  const owner: JsonValue = toManifest(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: node.name, labels: { 'topology.kubernetes.io/zone': node.zone, ...labels }, ...finalizers },
      spec: { providerID: node.providerID },
      status: { conditions: conditionsBody(node.conditions) },
    },
    node.name,
  ).body;
  const manifests = [toManifest(owner, node.name)];
  if (node.claim === undefined) return manifests;
  const claim = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: node.claim, labels, ...finalizers },
    spec: random.chance(0.15) ? { terminationGracePeriod: random.pick(GRACE_PERIODS) } : {},
    status: { nodeName: node.name, providerID: node.providerID },
  };
  return [...manifests, toManifest(claim, node.claim)];
}

export function attachmentManifest(model: Model, node: NodePlan): Manifest {
  const name = `attachment-${(model.counter += 1)}`;
  model.attachments.push(name);
  return toManifest(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name },
      spec: { attacher: 'ebs.csi.aws.com', nodeName: node.name, source: { persistentVolumeName: `pv-${name}` } },
    },
    name,
  );
}

export function drawTerminatingObjects(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  model.hasHookResources = model.policies.length > 0 && random.stream('hook resources').chance(0.5);
  const manifests = [
    ...model.pools.map(name => drawTerminatingPool(random, model, name)),
    ...model.policies.map(name => drawTerminatingPolicy(random, model, name)),
  ];
  for (const _ of times(random.integer(2, 5))) {
    const node = drawHealthyNode(random, model, start);
    model.nodes.push(node);
    manifests.push(...terminatedNode(random, node));
    if (random.chance(0.3)) manifests.push(attachmentManifest(model, node));
  }
  for (const _ of times(random.integer(model.nodes.length, 3 * model.nodes.length))) {
    manifests.push(drawBusyPod(random, model, start));
  }
  for (const name of names('budget', pickWeighted(random, BUDGETS))) {
    model.budgets.push(budgetManifest(random, name));
  }
  manifests.push(...model.budgets);
  if (random.chance(0.5)) manifests.push(...drawFinalizerRuleObjects(random, model));
  return (model.hasHookResources ? withHookResources(manifests) : manifests).map(place);
}

const BUDGETS: readonly (readonly [weight: number, count: number])[] = [
  [3, 0],
  [3, 1],
  [1, 2],
];

export function drawHealthyNode(random: Random, model: Model, time: EpochMs): NodePlan {
  const node = drawNode(random, model, time);
  const status = random.chance(0.9) ? 'True' : 'False';
  return { ...node, conditions: [{ type: 'Ready', status, lastTransitionTime: toTimestamp(time) }] };
}

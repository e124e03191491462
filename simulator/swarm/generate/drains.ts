/** Clusters whose nodes are drained on request: by the built-in modes, or by a controller that answers a custom resource. */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, PlacedManifest } from '../../scenario/scenario.ts';
import { drawBusyPod } from './busy-pods.ts';
import { namespaceManifest, openDefinition } from './custom-kinds.ts';
import { pickWeighted, times } from './draw.ts';
import { place, toManifest, type Model } from './model.ts';
import { budgetManifest } from './pods.ts';
import { names } from './settings.ts';
import { drawHealthyNode, drawTermination, terminatedNode } from './terminations.ts';

const GROUP = 'nvsentinel.nvidia.com';
export const DRAIN_REQUESTS = `drainrequests.${GROUP}`;
export const DRAIN_NAMESPACE = 'nvsentinel';
const MODES = ['Immediate', 'Immediate', 'AllowCompletion', 'DeleteAfterTimeout'] as const;

/** The template of every custom drain. */
export const TEMPLATES: Readonly<Record<string, string>> = {
  'drain.yaml': 'spec:\n  nodeName: {{ .HealthEvent.NodeName }}\n  event: {{ .EventID }}\n',
};

/** A configuration that says how nodes are drained. */
export function drawDrainConfig(random: Random, model: Model): string {
  const minutesLeft = random.pick([1, 2, 5]);
  model.durations.push(minutes(minutesLeft));
  const lines = [
    'systemNamespaces = "^kube-system$"',
    ...(random.chance(0.4) ? ['evictionTimeoutInSeconds = "20"'] : []),
    `deleteAfterTimeoutMinutes = ${minutesLeft}`,
    'notReadyTimeoutMinutes = 2',
    ...(random.chance(0.4) ? customDrain(random) : userNamespaces(random)),
    '[featureGates]',
    'nodeRepair = true',
  ];
  return `${lines.join('\n')}\n`;
}

function userNamespaces(random: Random): readonly string[] {
  const rule = (name: string): readonly string[] => [
    '[[userNamespaces]]',
    `name = "${name}"`,
    `mode = "${random.pick(MODES)}"`,
  ];
  return [
    ...rule(random.chance(0.8) ? '*' : 'default'),
    ...(random.chance(0.5) ? rule(random.pick(['prod', 'b*'])) : []),
  ];
}

function customDrain(random: Random): readonly string[] {
  return [
    '[customDrain]',
    'enabled = true',
    'templateFileName = "drain.yaml"',
    `namespace = "${DRAIN_NAMESPACE}"`,
    `apiGroup = "${GROUP}"`,
    'version = "v1alpha1"',
    'kind = "DrainRequest"',
    `timeout = "${random.pick(['2m', '5m', '10m'])}"`,
    'statusConditionType = "DrainComplete"',
    'statusConditionStatus = "True"',
    ...(random.chance(0.3) ? ['heartbeat = "90s"'] : []),
    ...(random.chance(0.4) ? [`fallbackMode = "${random.pick(MODES)}"`] : []),
  ];
}

/** What is refused, so that the configuration before it stays in force. */
export const BAD_CONFIGS = ['[[userNamespaces]]\nname = "*"\nmode = "Soon"\n', '[customDrain\n'] as const;

export const DRAIN_DEFINITION = openDefinition({
  group: GROUP,
  version: 'v1alpha1',
  kind: 'DrainRequest',
  plural: 'drainrequests',
});

const NAMESPACE = namespaceManifest(DRAIN_NAMESPACE);

export const drainRequestName = (node: string, event: string): string => `drain-${node}-${event}`;

/** Somebody else's custom resource, which has the name that ours would have. */
export const foreignRequest = (name: string): Manifest =>
  toManifest(
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'DrainRequest',
      metadata: { namespace: DRAIN_NAMESPACE, name },
      spec: { owner: 'somebody' },
    },
    name,
    DRAIN_NAMESPACE,
  );

function drawPolicy(random: Random, model: Model, name: string): Manifest {
  const spec: JsonObject = {
    ...(random.chance(0.4) && { mode: 'Observe' }),
    ...(random.chance(0.5) && { protection: { maxDuration: random.pick(['1m', '5m']) } }),
    ...(random.chance(0.4) && { termination: drawTermination(random, model) }),
  };
  const body = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name }, spec };
  return toManifest(body, name);
}

export function drawDrainedObjects(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  const manifests = [
    ...model.pools.map(name =>
      toManifest({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec: {} }, name),
    ),
    ...model.policies.map(name => drawPolicy(random, model, name)),
    NAMESPACE,
  ];
  if (random.chance(0.85)) {
    model.kinds.push(DRAIN_REQUESTS);
    manifests.push(DRAIN_DEFINITION);
  }
  for (const _ of times(random.integer(1, 4))) {
    const node = drawHealthyNode(random, model, start);
    model.nodes.push(node);
    const [first, ...others] = terminatedNode(random, node);
    if (first !== undefined) manifests.push(random.chance(0.1) ? cordoned(first) : first, ...others);
  }
  for (const _ of times(random.integer(model.nodes.length, 4 * model.nodes.length))) {
    const pod = drawBusyPod(random, model, start);
    manifests.push(pod);
  }
  for (const name of names('budget', pickWeighted(random, BUDGETS))) model.budgets.push(budgetManifest(random, name));
  return [...manifests, ...model.budgets].map(place);
}

const BUDGETS: readonly (readonly [weight: number, count: number])[] = [
  [3, 0],
  [2, 1],
];

/** By somebody, before any drain. */
function cordoned(node: Manifest): Manifest {
  return { ...node, body: { ...node.body, spec: { ...objectAt(node.body, 'spec'), unschedulable: true } } };
}

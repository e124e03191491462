/**
 * Admission policies of the cluster's owner that deny some of what Curfew does, as a rule for a while. They are drawn from a stream of
 * their own, so that clusters without them stay as they are.
 */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { DRAIN_REQUESTS } from './drains.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { toManifest, type Draft, type Model } from './model.ts';

const API = 'admissionregistration.k8s.io/v1';

/** What is denied, and the names of what there is of it. */
interface Target {
  readonly group: string;
  readonly resource: string;
  readonly operations: readonly string[];
  readonly names: readonly string[];
}

export function drawDenials(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (!random.chance(0.12)) return [];
  return times(random.integer(1, 3)).flatMap(index => {
    const time = addDuration(start, random.chance(0.3) ? seconds(0) : drawDuration(random, seconds(0), span));
    const [policy, binding] = drawPolicy(random, model, `keep-${index + 1}`);
    const drafts: Draft[] = [policy, binding].map(manifest => ({ time, act: () => ({ kind: 'apply', manifest }) }));
    if (random.chance(0.2)) return drafts;
    const target = { resource: 'validatingadmissionpolicybindings', name: binding.name };
    const end = addDuration(time, drawDuration(random, seconds(10), minutes(30)));
    return [...drafts, { time: end, act: () => ({ kind: 'delete', target }) }];
  });
}

function drawPolicy(random: Random, model: Model, name: string): readonly [policy: Manifest, binding: Manifest] {
  const { group, resource, operations, names } = drawTarget(random, model);
  // Whoever else writes is no business of the owner's.
  const others = '!request.userInfo.username.startsWith("curfew:")';
  const [one] = names.length > 0 && random.chance(0.7) ? [random.pick(names)] : [];
  const spec: JsonObject = {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations, resources: [resource] }],
    },
    validations: [
      {
        expression: one === undefined ? others : `${others} || request.name != "${one}"`,
        message: 'not by you',
        ...(random.chance(0.4) && { reason: 'Forbidden' }),
      },
    ],
  };
  return [
    toManifest({ apiVersion: API, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec }, name),
    toManifest(
      {
        apiVersion: API,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      },
      name,
    ),
  ];
}

function drawTarget(random: Random, { nodes, pods, databases, hasLadders, kinds }: Model): Target {
  const nodeNames = nodes.map(({ name }) => name);
  const claims = nodes.flatMap(({ claim }) => claim ?? []);
  const podNames = pods.map(({ name }) => name);
  const change = random.pick(['UPDATE', 'DELETE']);
  return pickWeighted<Target>(random, [
    [4, { group: '', resource: 'nodes', operations: [change], names: nodeNames }],
    [4, { group: 'karpenter.sh', resource: 'nodeclaims', operations: [change], names: claims }],
    [2, { group: '', resource: 'pods', operations: ['DELETE'], names: podNames }],
    [2, { group: '', resource: 'pods/eviction', operations: ['CREATE'], names: podNames }],
    [1, { group: 'karpenter.sh', resource: 'nodeclaims/status', operations: ['UPDATE'], names: claims }],
    [1, { group: 'curfew.dev', resource: 'nodelifecyclepolicies/status', operations: ['UPDATE'], names: [] }],
    [hasLadders ? 3 : 0, { group: 'ops.example.com', resource: 'nodefixes', operations: ['*'], names: nodeNames }],
    [
      kinds.includes(DRAIN_REQUESTS) ? 3 : 0,
      {
        group: 'nvsentinel.nvidia.com',
        resource: 'drainrequests',
        operations: [random.pick(['CREATE', 'DELETE'])],
        names: [],
      },
    ],
    [
      databases.length > 0 ? 4 : 0,
      { group: 'database.example.com', resource: 'manageddatabases', operations: ['UPDATE'], names: databases },
    ],
  ]);
}

/**
 * What people do once an incident is over, so that a fleet is calm again: they see to its nodes and to EC2, end its work, and put the
 * settings back.
 */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { arrayAt, objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { Random } from '../../random.ts';
import type { PlacedManifest, StepAction, TargetRef } from '../../scenario/scenario.ts';
import { conditionsBody, healthyStatus } from './cluster.ts';
import { drawDuration } from './draw.ts';
import type { Draft, Model, NodePlan } from './model.ts';
import { patchNode } from './node-stories.ts';

const SETTINGS = ['NodePool', 'NodeLifecyclePolicy'];
/** Of the admission policies that an episode draws. */
const DENIALS = ['keep-1', 'keep-2', 'keep-3'];
const HOLD = 'example.com/hold';

export interface Over {
  /** The nodes that it was about. */
  readonly model: Model;
  /** What stood there at the start. */
  readonly objects: readonly PlacedManifest[];
  /** The text of `config.toml`. */
  readonly config: string;
  readonly end: EpochMs;
}

export function drawCalm(random: Random, { model, objects, config, end }: Over): readonly Draft[] {
  const time = addDuration(end, drawDuration(random, minutes(1), minutes(90)));
  const act = (action: StepAction): Draft => ({ time, act: () => action });
  return [
    act({
      kind: 'patch',
      target: { resource: 'configmaps', namespace: 'curfew', name: 'curfew-config' },
      merge: { data: { 'config.toml': config } },
    }),
    ...objects.flatMap(({ manifest }) => (SETTINGS.includes(manifest.kind) ? [act({ kind: 'apply', manifest })] : [])),
    ...model.policies.map(name => act(modeBack(name, objects))),
    ...DENIALS.map(name => act({ kind: 'delete', target: { resource: 'validatingadmissionpolicybindings', name } })),
    ...model.nodes.map(node => healed(node, time)),
    ...model.nodes.map(({ providerID }) => act({ kind: 'cloud', providerID, fail: 'none' })),
    ...held(objects, model).map(target => act({ kind: 'patch', target, merge: { metadata: { finalizers: null } } })),
    ...workEnded(random, model, time),
  ];
}

function modeBack(name: string, objects: readonly PlacedManifest[]): StepAction {
  const policy = objects.find(({ manifest }) => manifest.kind === 'NodeLifecyclePolicy' && manifest.name === name);
  const mode = policy === undefined ? null : (objectAt(policy.manifest.body, 'spec')['mode'] ?? null);
  return { kind: 'patch', target: { resource: 'nodelifecyclepolicies', name }, merge: { spec: { mode } } };
}

/** All that it reports is well, and nobody wants it left alone any more. */
export const healed = (node: NodePlan, time: EpochMs): Draft => ({
  time,
  act() {
    const lastTransitionTime = toTimestamp(time);
    node.conditions = node.conditions.map(each =>
      each.status === healthyStatus(each.type)
        ? each
        : { ...each, status: healthyStatus(each.type), lastTransitionTime },
    );
    const annotations: JsonObject = { 'curfew.dev/do-not-repair': null, 'karpenter.sh/do-not-repair': null };
    return patchNode(node, { metadata: { annotations }, status: { conditions: conditionsBody(node.conditions) } });
  },
});

/** What somebody else's finalizer keeps. */
function held(objects: readonly PlacedManifest[], model: Model): readonly TargetRef[] {
  const names = new Set(model.nodes.flatMap(({ name, claim }) => [name, claim ?? name]));
  return objects.flatMap(({ manifest: { kind, name, body } }) => {
    const isKept = arrayAt(objectAt(body, 'metadata'), 'finalizers').includes(HOLD);
    if (!isKept || !names.has(name)) return [];
    return [{ resource: kind === 'Node' ? 'nodes' : 'nodeclaims', name }];
  });
}

/** The pods on its nodes end by themselves, within hours. */
export const workEnded = (random: Random, { nodes, pods }: Model, begin: EpochMs): readonly Draft[] => {
  const names = new Set(nodes.map(({ name }) => name));
  return pods
    .filter(({ node }) => names.has(node))
    .map(({ namespace, name }) => ({
      time: addDuration(begin, drawDuration(random, minutes(1), hours(2))),
      act: () => ({ kind: 'delete', target: { resource: 'pods', namespace, name }, gracePeriodSeconds: 0 }),
    }));
};

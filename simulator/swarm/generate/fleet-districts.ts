/** Parts of a fleet: one or two NodePools about one concern, with the nodes that its seeds draw and many more that are calm. */
import { objectAt } from '../../../packages/kube-apiserver/src/json.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest, PlacedManifest } from '../../scenario/scenario.ts';
import { anything, drains, guards, INCIDENTS, terminations, type Focus, type Weighted } from './focus.ts';
import { pickWeighted, times } from './draw.ts';
import { uidOf, withHookResources } from './hook-resources.ts';
import { drawMachine, machine } from './incidents.ts';
import { INITIALIZED, withKarpenters } from './karpenters.ts';
import { newModel, place, START, toManifest, type Model, type NodePlan } from './model.ts';
import { groupNode } from './node-groups.ts';
import { DO_NOT_DISRUPT } from './pods.ts';
import { names } from './settings.ts';

export interface District {
  readonly focus: Focus;
  /** Of this part alone; names are given out for the whole fleet. */
  readonly model: Model;
  readonly objects: readonly PlacedManifest[];
  /** The nodes that are not calm from the start. */
  readonly drawn: NodePlan[];
}

const FOCUSES: Weighted<Focus> = [
  [3, guards],
  [3, terminations],
  [2, drains],
  [3, INCIDENTS],
  [1, anything],
];
const DISTRICT_LABEL = 'example.com/district';
/** Nodes of a district that an episode is about. */
const MAX_IN_VIEW = 10;
/** With one Karpenter moves it elsewhere, and the node is gone. */
const PODS_PER_NODE = 2;
const DEAD_SHARE = 0.005;

/** @param size how many nodes it has */
export function drawDistrict(random: Random, fleet: Model, index: number, size: number): District {
  const name = `d${index + 1}`;
  const focus = pickWeighted(random, FOCUSES);
  const model = ofFleet(fleet, {
    ...newModel({
      namePrefix: fleet.namePrefix,
      zones: fleet.zones,
      pools: names(`${name}-pool`, random.integer(1, 2)),
      policies: names(`${name}-policy`, focus.drawPolicies(random)),
    }),
    durations: [...fleet.durations],
    kinds: fleet.kinds,
  });
  const drawn = focus.drawObjects(random.stream('objects'), model, START, random.stream('shape'));
  const own = drawn.map(({ manifest, place: at }) => ({ manifest: inDistrict(manifest, name, model), place: at }));
  const nodes = [...model.nodes];
  const calm = drawCalmPart(random.stream('calm'), model, size - model.nodes.length);
  const objects = [...withKarpenters(random.stream('disruption'), own, true), ...calm.map(place)];
  return { focus, model, objects, drawn: nodes };
}

/** It has what it has by itself, and takes its names from the fleet. */
export const ofFleet = (fleet: Model, own: Model): Model => ({
  ...own,
  get counter() {
    return fleet.counter;
  },
  set counter(value) {
    fleet.counter = value;
  },
});

/** A few of its nodes and what runs on them: stories meet there. */
export function viewOf(random: Random, model: Model): Model {
  const from = random.integer(0, Math.max(0, model.nodes.length - MAX_IN_VIEW));
  // As a rule those that are not calm.
  const nodes = random.chance(0.6)
    ? model.nodes.slice(0, MAX_IN_VIEW)
    : model.nodes.slice(from, from + random.integer(2, MAX_IN_VIEW));
  const known = new Set(nodes.map(({ name }) => name));
  return ofFleet(model, { ...model, nodes, pods: model.pods.filter(({ node }) => known.has(node)) });
}

/** What it says of NodePools holds for those of the district. A policy of node groups is for nodes of no pool. */
function inDistrict(manifest: Manifest, name: string, { hasNodeGroups }: Model): Manifest {
  const { kind, body } = manifest;
  if (kind === 'NodePool') {
    const metadata = objectAt(body, 'metadata');
    const labels = { ...objectAt(metadata, 'labels'), [DISTRICT_LABEL]: name };
    return { ...manifest, body: { ...body, metadata: { ...metadata, labels } } };
  }
  if (kind !== 'NodeLifecyclePolicy' || hasNodeGroups) return manifest;
  const spec = objectAt(body, 'spec');
  const selector = objectAt(spec, 'nodePoolSelector');
  const matchLabels = { ...objectAt(selector, 'matchLabels'), [DISTRICT_LABEL]: name };
  return { ...manifest, body: { ...body, spec: { ...spec, nodePoolSelector: { ...selector, matchLabels } } } };
}

function drawCalmPart(random: Random, model: Model, count: number): readonly Manifest[] {
  const manifests = times(Math.max(0, count)).flatMap(() => {
    const node = drawMachine(random, model, random.pick(model.pools), START);
    return [...drawCalmNode(random, model, node), ...drawCalmPods(random, model, node.name)];
  });
  return model.hasHookResources ? withHookResources(manifests) : manifests;
}

function drawCalmNode(random: Random, model: Model, node: NodePlan): readonly Manifest[] {
  if (!model.hasNodeGroups || random.chance(0.6)) return withOwner(calmMachine(random, node, START));
  const ofGroup = { ...node, pool: undefined, claim: undefined };
  model.nodes[model.nodes.indexOf(node)] = ofGroup;
  return [groupNode(random, ofGroup)];
}

/** Karpenter makes the NodeClaim the owner of its Node. */
function withOwner(manifests: readonly Manifest[]): readonly Manifest[] {
  const claim = manifests.find(({ kind }) => kind === 'NodeClaim')?.name ?? '';
  const uid = uidOf('NodeClaim', claim);
  const ownerReferences = [
    { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: claim, uid, blockOwnerDeletion: true },
  ];
  return manifests.map(manifest => {
    const own = manifest.kind === 'NodeClaim' ? { uid } : { ownerReferences };
    return { ...manifest, body: { ...manifest.body, metadata: { ...objectAt(manifest.body, 'metadata'), ...own } } };
  });
}

/** As Karpenter has it that launched it. */
export function calmMachine(random: Random, node: NodePlan, since: EpochMs): readonly Manifest[] {
  return machine(random, node, since, DEAD_SHARE).map(manifest => {
    if (manifest.kind !== 'NodeClaim') return manifest;
    const status = { ...objectAt(manifest.body, 'status'), conditions: [INITIALIZED] };
    return { ...manifest, body: { ...manifest.body, status } };
  });
}

function drawCalmPods(random: Random, model: Model, node: string): readonly Manifest[] {
  return times(PODS_PER_NODE).map(() => {
    const name = `p${(model.counter += 1)}`;
    const namespace = random.pick(['default', 'prod', 'batch']);
    const creationTime = START;
    model.pods.push({ namespace, name, node, creationTime, lingers: false, waits: false });
    const annotations = random.chance(0.03) ? { annotations: { [DO_NOT_DISRUPT]: random.pick(['true', '4h']) } } : {};
    const startTime = toTimestamp(creationTime);
    return toManifest(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace,
          name,
          labels: { app: random.pick(['web', 'job', 'db']) },
          creationTimestamp: startTime,
          ...annotations,
        },
        spec: { nodeName: node, terminationGracePeriodSeconds: 30 },
        status: { phase: 'Running', startTime },
      },
      name,
      namespace,
    );
  });
}

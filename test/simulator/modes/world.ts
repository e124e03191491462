/**
 * Random clusters for the properties of modes: NodePools, policies, nodes, pods and what happens to them, and one policy more that comes
 * beside those. Each node has one thing happen to it, so that what is held makes no room for anything else.
 */
import * as fc from 'fast-check';
import { invariant } from '../../../shared/domain/invariant.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../../simulator/world.ts';

const BLOCKS = ['repair', 'drain', 'termination', 'protection'] as const;
export type BlockName = (typeof BLOCKS)[number];

export interface DrawnPolicy {
  readonly name: string;
  readonly requirements: 0 | 1 | 2;
  readonly mode: 'Enforce' | 'Observe';
  readonly blocks: Readonly<Partial<Record<BlockName | 'repairLimits', JsonObject>>>;
}

export interface DrawnPool {
  readonly name: string;
  /** How many requirements of a policy's selector it meets. */
  readonly labels: 0 | 1 | 2;
  readonly spec: JsonObject;
}

/** What happens to a node, if anything. */
type Role = 'calm' | 'ill' | 'deleted' | 'drained';

export interface DrawnNode {
  readonly name: string;
  readonly pool: string | undefined;
  readonly role: Role;
  /** When it happens; minutes. */
  readonly at: number;
  /** Karpenter's finalizer is on its NodeClaim, so that Karpenter ends it. */
  readonly isKarpenters: boolean;
  readonly pods: readonly { readonly name: string; readonly doNotDisrupt: string | undefined }[];
}

export interface World {
  readonly pools: readonly DrawnPool[];
  readonly policies: readonly DrawnPolicy[];
  readonly added: DrawnPolicy;
  /** When `added` comes; minutes, 0: it is there from the start. */
  readonly addedAt: number;
  readonly nodes: readonly DrawnNode[];
  readonly drainMode: 'Immediate' | 'AllowCompletion' | 'DeleteAfterTimeout';
}

/** Nothing holds a repair but its time and its mode, so that one repair makes no room for another. */
const UNGUARDED = { maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' };
const VALUES: Readonly<Record<BlockName, readonly JsonObject[]>> = {
  repair: [
    { ...UNGUARDED, defaultTolerationDuration: '10m' },
    {
      ...UNGUARDED,
      defaultTolerationDuration: '40m',
      actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
    },
  ],
  drain: [{ deadline: '20m', onDeadline: 'Force' }, { deadline: '2h' }, { maxConcurrent: 1 }],
  termination: [
    { finalizerName: 'example.com/one', terminationGracePeriod: '30m' },
    { finalizerName: 'example.com/two' },
    { scope: 'NodeOnly', terminationGracePeriod: '2h' },
    { hooks: [{ name: 'deregister', at: 'before-drain', event: { detailType: 'Deregister' } }] },
  ],
  protection: [{ maxDuration: '15m' }, { compatibility: 'Karpenter' }, { maxDuration: '10h' }, {}],
};

const block = (name: BlockName): fc.Arbitrary<JsonObject> => fc.constantFrom(...VALUES[name]);
const requirements = fc.constantFrom(0 as const, 1 as const, 2 as const);
const mode = fc.constantFrom('Enforce' as const, 'Observe' as const);

const policy = (name: string): fc.Arbitrary<DrawnPolicy> =>
  fc.record({
    name: fc.constant(name),
    requirements,
    mode,
    blocks: fc.record(
      {
        repair: block('repair'),
        drain: block('drain'),
        termination: block('termination'),
        protection: block('protection'),
      },
      { requiredKeys: [] },
    ),
  });

const pool = (name: string): fc.Arbitrary<DrawnPool> =>
  fc.record({
    name: fc.constant(name),
    labels: requirements,
    spec: fc.constantFrom(
      {},
      {},
      { disruption: { customFinalizerName: 'example.com/pool', terminationGracePeriodSeconds: 3600 } },
      { repair: VALUES.repair[0] ?? {} },
    ),
  });

const node = (name: string): fc.Arbitrary<DrawnNode> =>
  fc.record({
    name: fc.constant(name),
    pool: fc.constantFrom('p0', 'p1', 'p1', undefined),
    role: fc.constantFrom('calm' as const, 'ill' as const, 'deleted' as const, 'drained' as const),
    at: fc.integer({ min: 1, max: 45 }),
    isKarpenters: fc.boolean(),
    pods: fc
      .array(fc.constantFrom(undefined, 'true', '30m', '2h', '4d'), { maxLength: 2 })
      .map(values => values.map((doNotDisrupt, index) => ({ name: `${name}-${index}`, doNotDisrupt }))),
  });

/** @param added which policies come beside those that are there */
export const worlds = (added: fc.Arbitrary<DrawnPolicy>): fc.Arbitrary<World> =>
  fc.record({
    pools: fc.tuple(pool('p0'), pool('p1')),
    policies: fc.tuple(policy('b'), policy('c'), policy('d')).chain(all => fc.subarray([...all])),
    added,
    addedAt: fc.constantFrom(0, 0, 5, 30, 60),
    nodes: fc.tuple(node('n0'), node('n1'), node('n2')).map(nodes => [...nodes]),
    drainMode: fc.constantFrom('Immediate', 'AllowCompletion', 'DeleteAfterTimeout'),
  });

/** By its name it comes before or after those that are there. */
const NAMES = ['a', 'z'] as const;

/** One in mode Observe, whatever it states; one that states nothing is the brake. */
export const observing: fc.Arbitrary<DrawnPolicy> = fc
  .tuple(fc.constantFrom(...NAMES).chain(policy), fc.constantFrom(undefined, { maxConcurrentRepairsPerCluster: 1 }))
  .map(([drawn, limits]) => ({
    ...drawn,
    mode: 'Observe' as const,
    blocks: { ...drawn.blocks, ...(limits !== undefined && { repairLimits: limits }) },
  }));

/** One that states a single block. */
export const ofOneBlock: fc.Arbitrary<DrawnPolicy> = fc
  .tuple(fc.constantFrom(...NAMES), requirements, mode, fc.constantFrom(...BLOCKS))
  .chain(([name, count, itsMode, of]) =>
    block(of).map(value => ({ name, requirements: count, mode: itsMode, blocks: { [of]: value } })),
  );

const LABELS = [{}, { team: 'ml' }, { team: 'ml', gpu: 'yes' }] as const;

/** Whether the policy selects the pool; undefined: the nodes without one. */
export const isSelecting = ({ requirements: count }: DrawnPolicy, of: DrawnPool | undefined): boolean =>
  of === undefined ? count === 0 : count <= of.labels;

const manifestOf = ({ name, requirements: count, mode: itsMode, blocks }: DrawnPolicy): JsonObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name },
  spec: { nodePoolSelector: { matchLabels: LABELS[count] }, mode: itsMode, ...blocks },
});

export const instanceOf = (name: string): string => `aws:///us-west-2a/i-${name}`;
const START = '2024-11-01T15:00:00Z';

function objectsOf({ name, pool: of, isKarpenters, pods }: DrawnNode): readonly JsonObject[] {
  const labels: JsonObject = of === undefined ? {} : { 'karpenter.sh/nodepool': of };
  const claim: JsonObject = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels, ...(isKarpenters && { finalizers: ['karpenter.sh/termination'] }) },
    status: { nodeName: name, providerID: instanceOf(name) },
  };
  const its: JsonObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, creationTimestamp: '2024-11-01T12:00:00Z' },
    spec: { providerID: instanceOf(name) },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2024-11-01T12:00:00Z' }] },
  };
  return [
    ...(of === undefined ? [] : [claim]),
    its,
    ...pods.map(({ name: pod, doNotDisrupt }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'ci',
        name: pod,
        creationTimestamp: START,
        ...(doNotDisrupt !== undefined && { annotations: { 'karpenter.sh/do-not-disrupt': doNotDisrupt } }),
      },
      spec: { nodeName: name },
      status: { phase: 'Running', startTime: START },
    })),
  ];
}

function stepsOf({ name, pool: of, role, at }: DrawnNode): readonly JsonObject[] {
  const time = `${at}m`;
  if (role === 'ill') {
    return [{ at: time, condition: { node: name, type: 'Ready', status: 'False', reason: 'KubeletDown' } }];
  }
  if (role === 'deleted') {
    return [{ at: time, delete: { resource: of === undefined ? 'nodes' : 'nodeclaims', name } }];
  }
  const detail = { id: `e-${name}`, nodeName: name, isFatal: true };
  return role === 'drained' ? [{ at: time, busEvent: { source: 'm', 'detail-type': 'HealthEvent', detail } }] : [];
}

/** A scenario file as JSON. */
export interface ScenarioDocument {
  readonly apiVersion: string;
  readonly kind: 'Scenario';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly start: string;
    /** Go duration. */
    readonly duration: string;
    readonly config: string;
    readonly objects: readonly JsonObject[];
    readonly steps: readonly JsonObject[];
  };
}

/** The world as a scenario. @param hasAdded whether the policy comes beside those that are there */
export const scenarioOf = (world: World, hasAdded: boolean): Scenario => scenarioFrom(documentOf(world, hasAdded));

/** The same as a scenario file. */
export function documentOf(world: World, hasAdded: boolean): ScenarioDocument {
  const { pools, policies, added, addedAt, nodes, drainMode } = world;
  const fromStart = hasAdded && addedAt === 0 ? [...policies, added] : policies;
  const later = hasAdded && addedAt > 0 ? [{ at: `${addedAt}m`, apply: manifestOf(added) }] : [];
  return {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'Scenario',
    metadata: { name: 'modes' },
    spec: {
      start: START,
      duration: '3h30m',
      config: `deleteAfterTimeoutMinutes = 30\n[featureGates]\nnodeRepair = true\n[[userNamespaces]]\nname = "*"\nmode = "${drainMode}"\n`,
      objects: [
        ...fromStart.map(manifestOf),
        ...pools.map(({ name, labels, spec }) => ({
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: { name, labels: LABELS[labels] },
          spec,
        })),
        ...nodes.flatMap(objectsOf),
      ],
      steps: [...nodes.flatMap(stepsOf), ...later],
    },
  };
}

/** @throws where the file is not a valid one of one scenario */
export function scenarioFrom(document: ScenarioDocument): Scenario {
  const parsed = parseScenarios(JSON.stringify(document), 'modes', clusterCatalog());
  invariant(parsed.ok, `a world is a valid scenario: ${parsed.ok ? '' : JSON.stringify(parsed)}`);
  const [only] = parsed.scenarios;
  invariant(only !== undefined, 'one document');
  return only;
}

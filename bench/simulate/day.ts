/**
 * A stretch of an ordinary cluster's life as a scenario: nodes that lose their kubelet for a while, nodes that break for good and are
 * replaced, pods that are protected for some hours. Heartbeats are left out: a scenario has none. Pure.
 */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  minutes,
  toDurationMs,
  toEpochMs,
  toTimestamp,
  type EpochMs,
} from '../../shared/domain/time.ts';

export interface DaySize {
  readonly nodes: number;
  readonly hours: number;
}

/** What such a scenario must end in. */
export interface Day {
  readonly scenario: JsonObject;
  /** Nodes that break for good: as many NodeClaims are deleted. */
  readonly broken: number;
}

const START = toEpochMs(Date.UTC(2024, 10, 1, 0, 0, 0));
const NODES_PER_POOL = 50;
/** In a day one node of this many … */
const NODES_PER_BLIP = 10;
const NODES_PER_BREAK = 50;
const NODES_PER_PROTECTION = 5;
const BLIP_LENGTH = minutes(3);
const TOLERATION = minutes(10);
const REPLACED_AFTER = minutes(15);

/** Throws a RangeError for a stretch of less than an hour: nobody would be repaired and replaced in it. */
export function dayOf(size: DaySize): Day {
  if (size.hours < 1) throw new RangeError('a stretch lasts at least an hour');
  const indexes = Array.from({ length: size.nodes }, (_unused, index) => index);
  const dayShare = size.hours / 24;
  const isOneOf = (index: number, per: number, offset: number): boolean => index % Math.ceil(per / dayShare) === offset;
  const broken = indexes.filter(index => isOneOf(index, NODES_PER_BREAK, 0));
  const blips = indexes.filter(index => isOneOf(index, NODES_PER_BLIP, 1));
  const protectedNodes = indexes.filter(index => index % NODES_PER_PROTECTION === 2);
  const pools = Array.from({ length: Math.ceil(size.nodes / NODES_PER_POOL) }, (_unused, pool) => nodePool(pool));
  return {
    broken: broken.length,
    scenario: {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'Scenario',
      metadata: { name: `${size.nodes}-nodes-for-${size.hours}-hours` },
      spec: {
        start: toTimestamp(START),
        duration: `${size.hours}h`,
        config: '[featureGates]\nnodeRepair = true\n',
        objects: [
          ...pools,
          policy(),
          ...indexes.flatMap(index => [nodeClaim(index, 0), node(index, 0)]),
          ...protectedNodes.map(index => protectedPod(index, size)),
        ],
        steps: [...blips.flatMap(index => blip(index, size)), ...broken.flatMap(index => breakdown(index, size))],
        expect: [
          { write: { verb: 'delete', resource: 'nodeclaims' }, times: broken.length },
          ...broken.map(index => ({ final: { resource: 'nodes', name: nodeName(index, 0), exists: false } })),
        ],
      },
    },
  };
}

/** In the stretch, with an hour at its end for what follows; without chance. */
function momentOf(index: number, { hours: length }: DaySize): EpochMs {
  const fraction = ((index + 1) * 0.618_033_988_749_894_9) % 1;
  return addDuration(START, toDurationMs(Math.floor((fraction * (hours(length) - minutes(45))) / 1000) * 1000));
}

const nodeName = (index: number, generation: number): string => `node-${index}-${generation}`;
const poolName = (index: number): string => `pool-${Math.floor(index / NODES_PER_POOL)}`;
const providerID = (index: number, generation: number): string =>
  `aws:///us-west-2a/i-${generation}${index.toString(16).padStart(16, '0')}`;

const CLAIM_SPEC: JsonObject = {
  nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
  requirements: [],
};

function nodePool(pool: number): JsonObject {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: `pool-${pool}` },
    spec: { template: { spec: CLAIM_SPEC } },
  };
}

function policy(): JsonObject {
  return {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'all' },
    spec: { nodePoolSelector: {}, repair: { defaultTolerationDuration: `${TOLERATION / 60_000}m` } },
  };
}

function nodeClaim(index: number, generation: number): JsonObject {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: nodeName(index, generation),
      labels: { 'karpenter.sh/nodepool': poolName(index) },
      finalizers: ['karpenter.sh/termination'],
    },
    spec: CLAIM_SPEC,
    status: { nodeName: nodeName(index, generation), providerID: providerID(index, generation) },
  };
}

function node(index: number, generation: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName(index, generation),
      labels: { 'karpenter.sh/nodepool': poolName(index), 'topology.kubernetes.io/zone': 'us-west-2a' },
      finalizers: ['karpenter.sh/termination'],
    },
    spec: { providerID: providerID(index, generation) },
    status: { conditions: [ready('True', START)] },
  };
}

const ready = (status: string, since: EpochMs): JsonObject => ({
  type: 'Ready',
  status,
  lastTransitionTime: toTimestamp(since),
});

function protectedPod(index: number, { hours: length }: DaySize): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: `pod-${index}`,
      annotations: { 'karpenter.sh/do-not-disrupt': `${1 + (index % length)}h` },
    },
    spec: { nodeName: nodeName(index, 0), containers: [{ name: 'main', image: 'main' }] },
    status: { phase: 'Running', startTime: toTimestamp(START) },
  };
}

function blip(index: number, size: DaySize): JsonObject[] {
  const begin = momentOf(index, size);
  const end = addDuration(begin, BLIP_LENGTH);
  return [readyStep(index, 'Unknown', begin), readyStep(index, 'True', end)];
}

function breakdown(index: number, size: DaySize): JsonObject[] {
  const begin = momentOf(index, size);
  const replaced = toTimestamp(addDuration(begin, REPLACED_AFTER));
  return [
    readyStep(index, 'Unknown', begin),
    { at: replaced, apply: nodeClaim(index, 1) },
    { at: replaced, apply: node(index, 1) },
  ];
}

function readyStep(index: number, status: string, at: EpochMs): JsonObject {
  return {
    at: toTimestamp(at),
    patch: { resource: 'nodes', name: nodeName(index, 0), merge: { status: { conditions: [ready(status, at)] } } },
  };
}

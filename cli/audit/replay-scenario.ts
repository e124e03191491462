/**
 * A day that was, as a scenario: its nodes with their NodeClaims and pods, which become unhealthy, recover, come and go as they did; its
 * configuration, policies and NodePools; the drains and deletions that others asked for. What Curfew did is left to the replay.
 * A node that went stays as unhealthy as it was last, since nobody knows whether it would have recovered.
 */
import { parse } from 'yaml';
import { at, textAt } from '../../packages/timeline/src/day/objects.ts';
import type { Bar, Day, Lane, PodRow } from '../../packages/timeline/src/day/types.ts';
import type { LineOf } from '../../packages/timeline/src/trace/lines.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';

export interface ReplayedDay {
  /** A document of kind Scenario. */
  readonly scenario: object;
  /** Sentences about facts that the history does not name. */
  readonly notices: readonly string[];
}

interface Step {
  readonly at: string;
}

const CONFIG = '[featureGates]\nnodeRepair = true\n';
const RESOURCES: Readonly<Record<string, string>> = {
  NodeLifecyclePolicy: 'nodelifecyclepolicies',
  NodePool: 'nodepools',
};
const iso = (time: number): string => new Date(time).toISOString();

/** @param replaced objects that take the place of those of the day */
export function scenarioOf(day: Day, replaced: readonly KubernetesObject[]): ReplayedDay {
  const { start, end, lanes, header } = day;
  const policies = policiesOf(day, replaced);
  const removed = removedByCurfew(day);
  const pools = [...new Set(lanes.map(({ pool }) => pool))].filter(
    pool =>
      pool !== '' &&
      !policies.objects.some(each => textAt(each, 'kind') === 'NodePool' && textAt(each, 'metadata', 'name') === pool),
  );
  const pods = lanes.flatMap(lane => lane.pods.map(pod => ({ lane, pod, object: podOf(day, lane, pod) })));
  const steps: readonly Step[] = [
    ...policies.steps,
    ...lanes.flatMap(lane => [...appearanceOf(lane, start), ...conditionsOf(lane), ...requestsOf(lane)]),
    ...pods.flatMap(({ pod, lane, object }) => podSteps(pod, lane, object, { start, removed })),
  ];
  return {
    notices: noticesOf(day),
    scenario: {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'Scenario',
      metadata: { name: `replay-of-${nameOf(header.name)}` },
      spec: {
        start: iso(start),
        duration: `${Math.max(1, Math.ceil((end - start) / 1000))}s`,
        config: policies.config,
        templates: policies.templates,
        objects: [
          ...pools.map(name => ({
            apiVersion: 'karpenter.sh/v1',
            kind: 'NodePool',
            metadata: { name, labels: { pool: name } },
          })),
          ...policies.objects,
          ...lanes.filter(({ from }) => from <= start).flatMap(lane => objectsOf(lane, iso(start))),
          ...budgetsOf(day),
          ...pods.filter(({ pod }) => pod.from <= start).map(({ object }) => object),
        ],
        steps: steps.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
      },
    },
  };
}

const nameOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

interface Policies {
  readonly config: string;
  readonly templates: Readonly<Record<string, unknown>>;
  readonly objects: readonly unknown[];
  readonly steps: readonly Step[];
}

/** Policies, NodePools and the configuration that the history has, but for those that are replaced. */
function policiesOf({ lines, start }: Day, replaced: readonly KubernetesObject[]): Policies {
  const named = lines.filter(
    (line): line is LineOf<'policy'> =>
      line.kind === 'policy' &&
      !replaced.some(({ kind, metadata }) => kind === line.objectKind && metadata.name === line.name),
  );
  const [first, later] = [
    named.filter(({ t }) => Date.parse(t) <= start),
    named.filter(({ t }) => Date.parse(t) > start),
  ];
  const configuration: unknown = parse(first.find(({ objectKind }) => objectKind === 'ConfigMap')?.text ?? '');
  const { 'config.toml': config, ...templates } = Object.fromEntries(Object.entries(at(configuration, 'data') ?? {}));
  return {
    config: typeof config === 'string' ? config : CONFIG,
    templates,
    objects: first
      .filter(({ objectKind }) => RESOURCES[objectKind] !== undefined)
      .map(({ text }): unknown => parse(text)),
    steps: later
      .filter(({ objectKind }) => RESOURCES[objectKind] !== undefined)
      .map(({ t, objectKind, name, text, gone }) =>
        gone === true ? { at: t, delete: { resource: RESOURCES[objectKind], name } } : { at: t, apply: parse(text) },
      ),
  };
}

const claimOf = (name: string): string => `${name}-nc`;

function objectsOf({ name, pool, zone }: Lane, since: string): readonly object[] {
  const providerID = `aws:///${zone === '' ? 'us-west-2a' : zone}/i-${name}`;
  const labels = {
    ...(pool !== '' && { 'karpenter.sh/nodepool': pool }),
    ...(zone !== '' && { 'topology.kubernetes.io/zone': zone }),
  };
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { providerID },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
  };
  if (pool === '') return [node];
  const claim = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: claimOf(name), labels, finalizers: ['karpenter.sh/termination'] },
    spec: {},
    status: { nodeName: name, providerID },
  };
  return [claim, node];
}

/** The steps that add a node which came later. */
const appearanceOf = (lane: Lane, start: number): readonly Step[] =>
  lane.from <= start ? [] : objectsOf(lane, iso(lane.from)).map(object => ({ at: iso(lane.from), apply: object }));

/** The healthy status of a condition whose unhealthy status is given. */
const healthy = (status: string): string => (status === 'True' ? 'False' : 'True');

function conditionsOf({ name, bars, end }: Lane): readonly Step[] {
  const set = (time: number, bar: Bar, isUnhealthy: boolean): Step & object => {
    const [type = 'Ready', status = 'False'] = bar.label.split('=');
    return {
      at: iso(time),
      condition: { node: name, type, status: isUnhealthy ? status : healthy(status), reason: 'Replayed' },
    } as Step;
  };
  return bars
    .filter(({ kind }) => kind === 'unhealthy')
    .flatMap(bar => [
      set(bar.from, bar, true),
      ...(bar.isOpen || bar.to === end?.time ? [] : [set(bar.to, bar, false)]),
    ]);
}

/** The requests of others: drains, and the end of the node. */
function requestsOf({ name, pool, drains, bars, end }: Lane): readonly Step[] {
  const asked = drains
    .filter(({ isRepair }) => !isRepair)
    .map(({ from }) => {
      const annotations = { [ANNOTATIONS.drainRequested]: `replay-${from}` };
      return { at: iso(from), patch: { resource: 'nodes', name, merge: { metadata: { annotations } } } };
    });
  if (end === undefined || end.by === 'repair') return asked;
  const time = bars.find(({ kind }) => kind === 'termination')?.from ?? end.time;
  const object = pool === '' ? { resource: 'nodes', name } : { resource: 'nodeclaims', name: claimOf(name) };
  return [...asked, { at: iso(time), delete: object } as Step];
}

/** PodDisruptionBudgets as the history first has them. */
const budgetsOf = ({ lines }: Day): readonly object[] =>
  lines.flatMap(line => {
    if (line.kind !== 'object' || line.resource !== 'poddisruptionbudgets' || line.object === undefined) return [];
    const { namespace, name, object } = line;
    return [
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace, name }, spec: object['spec'] },
    ];
  });

/** As the history has it, without what the API server gives. */
function podOf({ lines }: Day, { name: nodeName }: Lane, { line, namespace, name, protection }: PodRow): object {
  const found = lines[line];
  const object = found?.kind === 'object' ? found.object : undefined;
  const own = at(object, 'metadata');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      labels: at(own, 'labels'),
      ownerReferences: at(own, 'ownerReferences'),
      creationTimestamp: at(own, 'creationTimestamp'),
      annotations:
        at(own, 'annotations') ??
        (protection === undefined ? undefined : { 'karpenter.sh/do-not-disrupt': protection }),
    },
    spec: { ...Object.fromEntries(Object.entries(at(object, 'spec') ?? {})), nodeName },
    status: at(object, 'status'),
  };
}

function podSteps(
  { namespace, name, from, to, deleted, isOpen }: PodRow,
  { end }: Lane,
  object: object,
  { start, removed }: { readonly start: number; readonly removed: ReadonlySet<string> },
): readonly Step[] {
  const came = from <= start ? [] : [{ at: iso(from), apply: object }];
  const goesWithNode = end !== undefined && to >= end.time;
  if (isOpen || goesWithNode || removed.has(`${namespace}/${name}`)) return came;
  return [...came, { at: iso(deleted ?? to), delete: { resource: 'pods', namespace, name } } as Step];
}

/** Pods that Curfew evicted or deleted: another policy decides about them anew. */
const removedByCurfew = ({ lines }: Day): ReadonlySet<string> =>
  new Set(
    lines.flatMap(line =>
      line.kind === 'write' && line.resource === 'pods' && (line.verb === 'delete' || line.subresource === 'eviction')
        ? [`${line.namespace ?? ''}/${line.name}`]
        : [],
    ),
  );

/** Steps of a scenario that are seen in what became of nodes, pods and policies. */
const SEEN: ReadonlySet<string> = new Set(['apply', 'patch', 'condition', 'delete']);

function noticesOf({ lines, lanes }: Day): readonly string[] {
  const named = new Set(lanes.flatMap(({ pods }) => pods.map(({ namespace, name }) => `${namespace}/${name}`)));
  const unknown = new Set(
    lines.flatMap(line =>
      line.kind === 'audit' && line.about.kind === 'Pod'
        ? [`${line.about.namespace ?? ''}/${line.about.name ?? ''}`]
        : [],
    ),
  ).difference(named);
  const others = lines.filter(line => line.kind === 'step' && !SEEN.has(line.action)).length;
  const without = lanes.filter(({ pods }) => pods.length === 0).length;
  const count = (number: number, one: string, several: string): string => `${number} ${number === 1 ? one : several}`;
  return [
    ...(without > 0
      ? [
          `${count(without, 'node is', 'nodes are')} replayed without pods: the history names none on ${without === 1 ? 'it' : 'them'}`,
        ]
      : []),
    ...(unknown.size > 0
      ? [
          `${count(unknown.size, 'pod is', 'pods are')} named in decisions, and not replayed: the history does not have ${unknown.size === 1 ? 'it' : 'them'}`,
        ]
      : []),
    ...(lines.some(({ kind }) => kind === 'policy')
      ? []
      : ['the history names no policy: only those that were given are in force']),
    ...(others > 0
      ? [
          `${count(others, 'step', 'steps')} of the cloud, of hooks and of events ${others === 1 ? 'is' : 'are'} not replayed, but for the drains that began`,
        ]
      : []),
  ];
}

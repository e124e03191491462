/**
 * What goes wrong and stays: the API server refuses one object, one verb or one kind for minutes to hours, a kind is not served for a
 * while, settings turn unreadable, a policy observes beside those in force, NodePools and policies go in any order. Faults of single calls
 * never show what one failure holds back. They are drawn from a stream of their own, so that clusters without them stay as they are.
 */
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  minutes,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import type { Random } from '../../random.ts';
import type { Refusal, RefusedAs, RefusedRequests, StepAction, TargetRef } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { HOOKS } from './hook-resources.ts';
import { toManifest, type Draft, type Model, type Story } from './model.ts';

const LONGEST_MINUTES = 180;

/** From a minute to three hours; short ones are likelier. */
const drawLength = (random: Random): DurationMs =>
  toDurationMs(Math.floor(minutes(1) * LONGEST_MINUTES ** random.next()));

/** Permission, conflicts, throttling, a schema, a server in trouble, time-outs. A read meets neither a conflict nor a schema. */
const STATUSES: readonly (readonly [weight: number, status: number])[] = [
  [5, 403],
  [1, 409],
  [1, 422],
  [2, 429],
  [4, 500],
  [1, 503],
  [2, 504],
];

const OF_READS = STATUSES.filter(([, status]) => status !== 409 && status !== 422);
const isRead = ({ verb }: RefusedRequests): boolean => verb === 'get' || verb === 'list' || verb === 'watch';

function refuse(random: Random, requests: RefusedRequests, time: EpochMs, as?: RefusedAs): Draft {
  const refusal = {
    ...requests,
    ...(random.chance(0.25) && { by: random.pick(FUNCTION_NAMES) }),
    as: as ?? { status: pickWeighted(random, isRead(requests) ? OF_READS : STATUSES) },
  };
  const duration = drawLength(random);
  return { time, act: () => ({ kind: 'refuse', refusal, for: duration }) };
}

/** A change of one object. */
const objectRefused: Story = ({ random, model: { nodes, pods, databases, policies }, time }) => {
  const node = random.pick(nodes);
  const pod = pods.length === 0 ? undefined : random.pick(pods);
  const ofPod = pod && { resource: 'pods', namespace: pod.namespace, name: pod.name };
  const database = databases.length === 0 ? undefined : random.pick(databases);
  const requests = pickWeighted<RefusedRequests | undefined>(random, [
    [4, { verb: 'patch', resource: 'nodes', name: node.name }],
    [2, { verb: 'delete', resource: 'nodes', name: node.name }],
    [3, node.claim === undefined ? undefined : { verb: 'patch', resource: 'nodeclaims', name: node.claim }],
    [3, node.claim === undefined ? undefined : { verb: 'delete', resource: 'nodeclaims', name: node.claim }],
    [5, ofPod && { verb: 'evict', ...ofPod }],
    [3, ofPod && { verb: 'delete', ...ofPod }],
    [
      1,
      policies[0] === undefined ? undefined : { verb: 'patch', resource: 'nodelifecyclepolicies', name: policies[0] },
    ],
    [2, database === undefined ? undefined : { verb: 'patch', resource: 'manageddatabases', name: database }],
  ]);
  return requests === undefined ? [] : [refuse(random, requests, time)];
};

const READ = ['nodes', 'nodeclaims', 'nodepools', 'nodelifecyclepolicies', 'pods', 'configmaps', 'volumeattachments'];
const WRITTEN: readonly RefusedRequests[] = [
  { verb: 'patch', resource: 'nodes' },
  { verb: 'delete', resource: 'nodes' },
  { verb: 'patch', resource: 'nodeclaims' },
  { verb: 'delete', resource: 'nodeclaims' },
  { verb: 'evict', resource: 'pods' },
  { verb: 'delete', resource: 'pods' },
  { verb: 'create', resource: 'events' },
];

/** A verb on all of a kind, as when a grant is missing or a webhook is down. */
const verbRefused: Story = ({ random, time }) => {
  const verb = random.pick(['get', 'list', 'list', 'watch'] as const);
  const requests = random.chance(0.5) ? random.pick(WRITTEN) : { verb, resource: random.pick(READ) };
  return [refuse(random, requests, time)];
};

const SERVED_BY_DEFINITIONS = ['nodeclaims', 'nodepools', 'nodelifecyclepolicies', 'finalizerrules'];

/** Its CustomResourceDefinition is gone for a while, and comes back with all objects. */
const notServed: Story = ({ random, model: { kinds }, time }) => {
  const resource = random.pick([...SERVED_BY_DEFINITIONS, ...SERVED_BY_DEFINITIONS, ...kinds]);
  return [refuse(random, { resource }, time, { notServed: true })];
};

/** What the code of today cannot read, by block and field: a bound that only it has, fields of a later version. */
const UNREADABLE: readonly (readonly [block: string, field: string, value: JsonValue])[] = [
  ['protection', 'maxDuration', '9999999h'],
  ['protection', 'fromTheFuture', true],
  ['termination', 'terminationGracePeriod', '9999999h'],
  ['termination', 'fromTheFuture', true],
  ['repair', 'fromTheFuture', true],
  ['repair', 'defaultTolerationDuration', '9999999h'],
];

const settingsUnreadable: Story = ({ random, model: { policies }, time }) => {
  const [name] = policies;
  if (name === undefined) return [];
  const target: TargetRef = { resource: 'nodelifecyclepolicies', name };
  const [block, field, value] = random.pick(UNREADABLE);
  const set = (next: JsonValue): StepAction => ({
    kind: 'patch',
    target,
    merge: { spec: { [block]: { [field]: next } } },
  });
  const drafts: Draft[] = [{ time, act: () => set(value) }];
  if (random.chance(0.4)) return drafts;
  return [...drafts, { time: addDuration(time, drawLength(random)), act: () => set(null) }];
};

const BLOCKS: readonly JsonObject[] = [
  {},
  { repair: { defaultTolerationDuration: '1m', maxUnhealthy: '100%' } },
  { protection: { maxDuration: '5m' } },
  { termination: { terminationGracePeriod: '1m' } },
];

/** Beside the policies that are there, one that only looks. */
const observer: Story = ({ random, model, time }) => {
  const name = `${random.pick(['a', 'z'])}-observer-${(model.counter += 1)}`;
  const spec = { nodePoolSelector: {}, mode: 'Observe', ...random.pick(BLOCKS) };
  const body = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name }, spec };
  const drafts: Draft[] = [{ time, act: () => ({ kind: 'apply', manifest: toManifest(body, name) }) }];
  if (random.chance(0.5)) return drafts;
  const target = { resource: 'nodelifecyclepolicies', name };
  return [...drafts, { time: addDuration(time, drawLength(random)), act: () => ({ kind: 'delete', target }) }];
};

/** `kubectl delete nodepool`, its policies before it or after it, and as Karpenter does, its NodeClaims. */
const allGone: Story = ({ random, model: { pools, policies, nodes }, time }) => {
  if (pools.length === 0) return [];
  const pool = random.pick(pools);
  const claims = nodes.flatMap(node => (node.pool === pool && node.claim !== undefined ? [node.claim] : []));
  const targets: TargetRef[] = [
    { resource: 'nodepools', name: pool },
    ...policies.filter(() => random.chance(0.5)).map(name => ({ resource: 'nodelifecyclepolicies', name })),
    ...(random.chance(0.6) ? claims.map(name => ({ resource: 'nodeclaims', name })) : []),
  ];
  return targets.map(target => ({
    time: addDuration(time, drawDuration(random, seconds(0), random.pick([seconds(2), minutes(5)]))),
    act: () => ({ kind: 'delete', target }),
  }));
};

export const LASTING_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [7, objectRefused],
  [4, verbRefused],
  [4, notServed],
  [3, settingsUnreadable],
  [2, observer],
  [2, allGone],
];

export function drawLasting(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.nodes.length === 0 || !random.chance(0.25)) return [];
  return times(random.integer(1, 3)).flatMap(index => {
    const time = addDuration(start, random.chance(0.2) ? seconds(0) : drawDuration(random, seconds(0), span));
    const story = pickWeighted(random, LASTING_STORIES);
    return story({ random: random.stream(String(index)), model, time });
  });
}

type Verb = NonNullable<Refusal['verb']>;

const TARGETS: readonly (readonly [resource: string, verbs: readonly Verb[]])[] = [
  ['nodeclaims', ['get', 'list', 'patch', 'delete']],
  ['nodes', ['get', 'list', 'patch', 'delete']],
  ['pods', ['list', 'patch', 'delete']],
  ['volumeattachments', ['list']],
  ['nodelifecyclepolicies', ['list']],
  ['finalizerrules', ['list', 'patch']],
  ['manageddatabases', ['get', 'patch']],
];
const OF_FINALIZER = [403, 429, 500, 503] as const;

/** What else a step of a termination or a rule asks of: evictions, a hook of each transport, what its author reads, the end of the instance. */
const OF_STEPS: readonly (readonly [resource: string, verbs: readonly Verb[]])[] = [
  ['pods', ['evict']],
  ['hookworks', ['create', 'get']],
  ['configmaps', ['get']],
  ['events', ['create']],
  ['manageddatabases', ['list']],
  ['finalizerrules', ['get']],
];

/** Calls of the finalizer function that the API server refuses, the cloud fails or a hook answers no to: each in a stream of its own. */
export function drawRefusals(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  return [
    ...drawEarlier(random, model, start, span),
    ...drawOfSteps(random.stream('steps'), model, start, span),
    ...drawLedger(random.stream('ledger'), model, start, span),
  ];
}

/** Nothing can be written into the ledger, for minutes to hours. */
function drawLedger(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.databases.length === 0 || !random.chance(0.15)) return [];
  const time = addDuration(start, drawDuration(random, seconds(0), span));
  const length = drawLength(random);
  return [{ time, act: () => ({ kind: 'outage', of: 'ledger', for: length }) }];
}

/** In a stream of its own again, for the same reason. */
function drawOfSteps(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.nodes.length + model.databases.length === 0 || !random.chance(0.15)) return [];
  const isThere = (resource: string): boolean =>
    (resource !== 'manageddatabases' || model.databases.length > 0) &&
    (resource !== 'hookworks' || model.hasHookResources);
  const targets = OF_STEPS.filter(([resource]) => isThere(resource));
  return times(random.integer(1, 2)).flatMap((): readonly Draft[] => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const length = pickWeighted<DurationMs>(random, [
      [1, drawDuration(random, seconds(10), minutes(5))],
      [2, drawDuration(random, minutes(5), minutes(180))],
    ]);
    const [resource, verbs] = random.pick(targets);
    const as = { status: random.pick(OF_FINALIZER) };
    const refusal = { verb: random.pick(verbs), resource, by: 'finalizer', as } as const;
    const end = addDuration(time, length);
    return pickWeighted<readonly Draft[]>(random, [
      [3, [{ time, act: () => ({ kind: 'refuse', refusal, for: length }) }]],
      [1, model.nodes.length === 0 ? [] : cloudRefuses(random, random.pick(model.nodes).providerID, time, end)],
      [1, hookFails(random, time, end)],
    ]);
  });
}

const cloudRefuses = (random: Random, providerID: string, time: EpochMs, end: EpochMs): readonly Draft[] => {
  const fail = random.pick(['throttle', 'error'] as const);
  return [
    { time, act: () => ({ kind: 'cloud', providerID, fail }) },
    { time: end, act: () => ({ kind: 'cloud', providerID, fail: 'none' }) },
  ];
};

const hookFails = (random: Random, time: EpochMs, end: EpochMs): readonly Draft[] => {
  const name = random.pick(HOOKS);
  const say = (result: 'succeed' | 'fail'): StepAction => ({ kind: 'hook', name, result, message: 'no' });
  return [
    { time, act: () => say('fail') },
    { time: end, act: () => say('succeed') },
  ];
};

function drawEarlier(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.attachments.length + model.databases.length === 0 || !random.chance(0.2)) return [];
  const targets = TARGETS.filter(([resource]) => resource !== 'manageddatabases' || model.databases.length > 0);
  return times(random.integer(1, 2)).map((): Draft => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const [resource, verbs] = random.pick(targets);
    const length = pickWeighted<DurationMs>(random, [
      [3, drawDuration(random, seconds(10), minutes(5))],
      [1, drawDuration(random, minutes(5), minutes(180))],
    ]);
    const as = { status: random.pick(OF_FINALIZER) };
    const refusal = { verb: random.pick(verbs), resource, by: 'finalizer', as } as const;
    return { time, act: () => ({ kind: 'refuse', refusal, for: length }) };
  });
}

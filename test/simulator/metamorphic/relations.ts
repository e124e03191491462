/** What must not matter: another day, other names, messages twice or late, one change in two steps, neighbours, lost hints, restarts. */
import { objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { RECONCILERS, type ReconcilerFactory } from '../../../runtime/functions.ts';
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { seconds } from '../../../shared/domain/time.ts';
import { type FaultMix, type MessageFault } from '../../../simulator/faults/mix.ts';
import { createRandom } from '../../../simulator/random.ts';
import type { Mutation } from '../../../simulator/swarm/seed.ts';
import { nodeNamed, type Write } from '../modes/properties.ts';
import type { ScenarioDocument, World } from '../modes/world.ts';
import { INSTANT, type Relation } from './telling.ts';

const MINUTE_MS = 60_000;

const changeText = <Value>(value: Value, change: (text: string) => string): Value =>
  JSON.parse(change(JSON.stringify(value))) as Value;

const withSteps = (document: ScenarioDocument, steps: readonly JsonObject[]): ScenarioDocument => ({
  ...document,
  spec: { ...document.spec, steps },
});

/** 47 h 13 min: another day, hour and minute. */
const SHIFT_MS = (47 * 60 + 13) * MINUTE_MS;
const moved = (text: string, by: number): string =>
  text.replaceAll(INSTANT, instant => {
    const time = new Date(Date.parse(instant) + by).toISOString();
    return instant.includes('.') ? time : time.replace('.000Z', 'Z');
  });

const anotherDay: Relation = {
  name: 'the same story two days later',
  again: document => ({ document: changeText(document, text => moved(text, SHIFT_MS)) }),
  translate: write => ({ ...write, body: moved(write.body, -SHIFT_MS) }),
  tolerance: 0,
};

/** As long as a name is on EKS; the order of names stays. */
const LONG = 'ip-192-168-101-202.eu-central-1.compute.internal-';
const namesOf = ({ nodes }: World): readonly string[] =>
  nodes.flatMap(({ name, pods }) => [name, ...pods.map(pod => pod.name)]);

const otherNames: Relation = {
  name: 'the same story with long names',
  again: (document, world) => ({
    document: changeText(document, text =>
      namesOf(world).reduce(
        (renamed, name) =>
          renamed.replaceAll(`"${name}"`, `"${LONG}${name}"`).replaceAll(`/i-${name}"`, `/i-${LONG}${name}"`),
        text,
      ),
    ),
  }),
  translate: (write, world) => {
    const what = write.what.replaceAll(LONG, '');
    const [node] = what.split(' ').flatMap(word => nodeNamed(word, world) ?? []);
    return { ...write, what, node: node?.name, body: write.body.replaceAll(LONG, '') };
  },
  tolerance: 30_000,
};

const CALM: FaultMix = {
  probability: {
    throttled: 0,
    serverError: 0,
    timeout: 0,
    lostResponse: 0,
    conflict: 0,
    crashBefore: 0,
    crashAfter: 0,
    crashInFlight: 0,
    latency: 0,
    duplicate: 0,
    delay: 0,
    redelivery: 0,
    redrive: 0,
    watchDrop: 0,
    watchExpired: 0,
    watchStall: 0,
    busEntry: 0,
    staleIndex: 0,
  },
  perHour: { forwarderRestart: 0, outage: 0 },
  clockSkew: { behind: seconds(0), ahead: seconds(0) },
};
const always = (fault: MessageFault): FaultMix => ({ ...CALM, probability: { ...CALM.probability, [fault]: 1 } });

const twice: Relation = {
  name: 'every message twice, and every event and change told twice',
  again: document => ({
    document: withSteps(
      document,
      document.spec.steps.flatMap(step => ('delete' in step ? [step] : [step, step])),
    ),
    faults: always('duplicate'),
  }),
  tolerance: 2 * MINUTE_MS,
};

const outOfOrder: Relation = {
  name: 'messages that overtake each other',
  again: document => ({ document, faults: always('delay') }),
  tolerance: 3 * MINUTE_MS,
};

/** The patches that come two seconds after one another: the second is all that the first telling has. */
const splitCondition = (
  step: JsonObject,
  { spec: { start } }: ScenarioDocument,
): readonly [JsonObject, JsonObject] | undefined => {
  const condition = objectAt(step, 'condition');
  const node = condition && textAt(condition, 'node');
  const after = /^(\d+)m$/.exec(textAt(step, 'at') ?? '')?.[1];
  if (condition === undefined || node === undefined || after === undefined) return undefined;
  const lastTransitionTime = new Date(Date.parse(start) + Number(after) * MINUTE_MS).toISOString();
  const { type = '', status = '', reason = '' } = condition;
  const unhealthy = { type, status, reason, lastTransitionTime };
  const beside = { type: 'MemoryPressure', status: 'True', reason: 'Tight', lastTransitionTime };
  const well = { type: 'Ready', status: 'True', lastTransitionTime: '2024-11-01T12:00:00Z' };
  const patch = (conditions: readonly JsonObject[], second: number): JsonObject => ({
    at: `${after}m${second}s`,
    patch: { resource: 'nodes', name: node, merge: { status: { conditions } } },
  });
  return [patch([well, beside], 0), patch([unhealthy, beside], 2)];
};

const inTwoSteps: Relation = {
  name: 'one change in two steps',
  first: document => ({
    document: withSteps(
      document,
      document.spec.steps.map(step => splitCondition(step, document)?.[1] ?? step),
    ),
  }),
  again: document => ({
    document: withSteps(
      document,
      document.spec.steps.flatMap(step => splitCondition(step, document) ?? [step]),
    ),
  }),
  tolerance: 5000,
};

const NEIGHBOURS = ['a-neighbour-0', 'a-neighbour-1', 'z-neighbour'];
const ONE_DAY: JsonObject = { 'karpenter.sh/do-not-disrupt': '26h' };

/** A pool with a drained node, one that is held, and one that is well; and news of another cluster about nodes that are here by name. */
const neighbours: Relation = {
  name: 'neighbours: another pool, and another cluster whose nodes have the same names',
  again: (document, world) => ({
    document: {
      ...document,
      spec: {
        ...document.spec,
        objects: [
          { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'a-neighbours' }, spec: {} },
          ...NEIGHBOURS.flatMap(nodeOf),
          ...document.spec.objects,
        ],
        steps: [
          ...document.spec.steps,
          healthEvent('2m', 'a-neighbour-0', {}),
          ...world.nodes.map(({ name }) => healthEvent('3m', name, { cluster: 'elsewhere' })),
        ],
      },
    },
  }),
  isCompared: ({ what }) => !what.includes('neighbour'),
  tolerance: 30_000,
};

function nodeOf(name: string, index: number): readonly JsonObject[] {
  const labels: JsonObject = { 'karpenter.sh/nodepool': 'a-neighbours' };
  const time = '2024-11-01T12:00:00Z';
  const providerID = `aws:///us-west-2b/i-${name}`;
  return [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, labels },
      status: { nodeName: name, providerID },
    },
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels, creationTimestamp: time },
      spec: { providerID },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'neighbour', name: `${name}-pod`, ...(index === 1 && { annotations: ONE_DAY }) },
      spec: { nodeName: name },
      status: { phase: 'Running', startTime: time },
    },
  ];
}

const healthEvent = (at: string, nodeName: string, more: JsonObject): JsonObject => ({
  at,
  busEvent: {
    source: 'm',
    'detail-type': 'HealthEvent',
    detail: { id: `other-${nodeName}`, nodeName, isFatal: true, ...more },
  },
});

/** Every function as `wrap` makes it of the one that runs. */
const eachFunction =
  (wrap: (factory: ReconcilerFactory) => ReconcilerFactory) =>
  (mutation: Mutation): Mutation => ({
    ...mutation,
    reconcilers: Object.fromEntries(
      FUNCTION_NAMES.map(name => [name, wrap(mutation.reconcilers?.[name] ?? RECONCILERS[name])]),
    ),
  });

/** A hint: what it tells is told again by the forwarder, or by the sweep. */
const isHint = ({ kind }: InboxMessage): boolean =>
  kind === 'clusterEvent' || kind === 'customResource' || kind === 'wakeUp';

const LATE = '16h';
const ofAllDay = (document: ScenarioDocument): ScenarioDocument => ({
  ...document,
  spec: { ...document.spec, duration: LATE },
});
const VERBS_THAT_END = ['delete', 'evict', 'terminate', 'reboot', 'invoke'];
const isEnd = ({ what }: Write): boolean => VERBS_THAT_END.some(verb => what.startsWith(`${verb} `));

/** The hints of the first hour are lost, one in two; what they would have caused happens all the same, by the next that is told. */
const lostHints: Relation = {
  name: 'half of the hints of two hours are lost',
  first: document => ({ document: ofAllDay(document) }),
  again: document => ({
    document: ofAllDay(document),
    around: eachFunction(factory => deps => {
      const reconcile = factory(deps);
      return async message => {
        const now = deps.clock.now() - Date.parse(document.spec.start);
        const isLost = now < 120 * MINUTE_MS && createRandom(now).stream(JSON.stringify(message)).chance(0.5);
        if (!(isHint(message) && isLost)) await reconcile(message);
      };
    }),
  }),
  isCompared: isEnd,
  tolerance: Infinity,
  excused: ['I5'],
};

const restarts: Relation = {
  name: 'functions begin anew with each message, and the forwarder every ten minutes',
  again: document => ({
    document: withSteps(document, [
      ...document.spec.steps,
      ...Array.from({ length: 20 }, (_, index) => ({ at: `${index * 10 + 3}m7s`, restart: 'forwarder' })),
    ]),
    around: eachFunction(factory => deps => message => factory(deps)(message)),
  }),
  tolerance: 60_000,
};

export const RELATIONS = {
  'another-day': anotherDay,
  'other-names': otherNames,
  twice,
  'out-of-order': outOfOrder,
  'in-two-steps': inTwoSteps,
  neighbours,
  'lost-hints': lostHints,
  restarts,
} as const satisfies Readonly<Record<string, Relation>>;

/**
 * News about nodes that begins nothing, and news that does, a day and more apart: events that are old, foreign, harmless, doubled or out of
 * order, and many of them on one node. Each story has what should come of it from the oracle `simulator/invariants/drain-news.ts`.
 */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  minutes,
  seconds,
  toDurationMs,
  toIsoText,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { PlacedManifest, StepAction } from '../../scenario/scenario.ts';
import { drawBusyPod } from './busy-pods.ts';
import { drawDuration, times } from './draw.ts';
import { place, START, type Draft, type Model, type NodePlan, type Story, type StoryContext } from './model.ts';
import { patchNode } from './node-stories.ts';
import { drawHealthyNode, terminatedNode } from './terminations.ts';

/** As `maxEventAge` of the configuration. */
const MAX_AGE = hours(1);

export const NEWS_CONFIG = 'clusterNames = ["prod-eu"]\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n';

export function drawNewsObjects(random: Random, model: Model, start: EpochMs): readonly PlacedManifest[] {
  const manifests = times(random.integer(2, 3)).flatMap(() => {
    const node = drawHealthyNode(random, model, start);
    model.nodes.push(node);
    return terminatedNode(random, node);
  });
  const pods = model.nodes.map(() => drawBusyPod(random, model, start));
  return [...manifests, ...pods].map(place);
}

/** A fault of its own: no other story's recovery ends it. */
interface Fault {
  readonly node: NodePlan;
  readonly id: string;
  readonly checkName: string;
}

const drawFault = ({ random, model }: StoryContext): Fault => {
  const id = `n${(model.counter += 1)}`;
  return { node: random.pick(model.nodes), id, checkName: `check-${id}` };
};

const eventOf = ({ node, id, checkName }: Fault, more: JsonObject = {}): JsonObject => ({
  id,
  nodeName: node.name,
  agent: 'monitor',
  componentClass: 'GPU',
  checkName,
  isFatal: true,
  ...more,
});

const said = (detail: JsonObject): StepAction => ({
  kind: 'busEvent',
  source: 'nvsentinel',
  detailType: 'HealthEvent',
  detail,
});
const draft = (time: EpochMs, detail: JsonObject): Draft => ({ time, act: () => said(detail) });

/** Work comes onto the node, and a person opens it: a drain that begins now hurts it. */
function usedAgain(random: Random, model: Model, node: NodePlan, time: EpochMs): readonly Draft[] {
  return [
    { time, act: () => patchNode(node, { spec: { unschedulable: null } }) },
    {
      time: addDuration(time, minutes(1)),
      act() {
        const drawn = { ...model, nodes: [node] };
        const pod = drawBusyPod(random, drawn, time);
        // Its name is used up.
        model.counter = drawn.counter;
        return { kind: 'apply', manifest: pod };
      },
    },
  ];
}

const at = (time: EpochMs, random: Random, from: number, to: number): EpochMs =>
  addDuration(time, drawDuration(random, toDurationMs(from), toDurationMs(to)));

/** Nobody has quarantined the node for it, and it is not fatal. */
const harmless: Story = context => {
  const { random, time } = context;
  const fault = drawFault(context);
  const { node, checkName } = fault;
  const stored = (nodequarantined: string | null): JsonObject => ({
    _id: fault.id,
    healthevent: { nodename: node.name, checkname: checkName, isfatal: true },
    healtheventstatus: { nodequarantined, userpodsevictionstatus: {} },
  });
  return [
    draft(
      time,
      random.pick<JsonObject>([
        eventOf(fault, { isFatal: false }),
        eventOf(fault, { isFatal: false, recommendedAction: 'NONE' }),
        { id: `c-${fault.id}`, data: { healthEvent: eventOf(fault, { isFatal: false }) } },
        stored(''),
        stored(null),
        { kind: 'HealthEventResource', metadata: { uid: fault.id }, spec: eventOf(fault) },
        eventOf(fault, { healthEventStatus: { nodeQuarantined: 'SkippedByProfile' } }),
      ]),
    ),
  ];
};

const foreign: Story = context => {
  const fault = drawFault(context);
  const exported = { id: `c-${fault.id}`, data: { healthEvent: eventOf(fault) } };
  return [
    draft(
      context.time,
      context.random.pick<JsonObject>([
        eventOf(fault, { cluster: 'staging' }),
        { ...exported, data: { ...exported.data, metadata: { cluster: 'staging' } } },
        { ...exported, source: 'nvsentinel://staging/healthevents' },
      ]),
    ),
  ];
};

/** Ten weeks of an exporter, a redrive, a replay. */
const old: Story = context => {
  const { random, time } = context;
  const saidTime = at(time, random, 0 - hours(1700), 0 - MAX_AGE - minutes(2));
  return [draft(time, eventOf(drawFault(context), { generatedTimestamp: toIsoText(saidTime) }))];
};

/** The same event under other ids of its envelope, minutes or days later. */
const exportedAgain: Story = context => {
  const { random, model, time } = context;
  const fault = drawFault(context);
  const { id: _, ...event } = eventOf(fault, { generatedTimestamp: toIsoText(addDuration(time, seconds(-3))) });
  const exported = (index: number): JsonObject => ({ id: `c${index}-${fault.id}`, data: { healthEvent: event } });
  const again = at(time, random, minutes(12), random.chance(0.5) ? minutes(50) : hours(40));
  const opened = at(time, random, minutes(7), minutes(9));
  return [draft(time, exported(1)), ...usedAgain(random, model, fault.node, opened), draft(again, exported(2))];
};

/** A request comes again after it was answered, a hundred others later or a day. */
const answeredAgain: Story = context => {
  const { random, model, time } = context;
  const fault = drawFault(context);
  const drafts: Draft[] = [
    draft(time, eventOf(fault)),
    ...usedAgain(random, model, fault.node, at(time, random, minutes(7), minutes(9))),
  ];
  const isStorm = random.chance(0.5);
  if (isStorm) {
    for (const index of times(random.integer(101, 140))) {
      const skipped = { ...fault, id: `${fault.id}-${index}` };
      drafts.push(
        draft(addDuration(time, seconds(600 + 5 * index)), eventOf(skipped, { drainOverrides: { skip: true } })),
      );
    }
  }
  const again = isStorm ? at(time, random, minutes(25), minutes(40)) : at(time, random, hours(25), hours(60));
  return [...drafts, draft(again, eventOf(fault))];
};

/** The fault of a GPU lasts; that of a NIC, a day and more later, is over soon. Then that of the GPU is. */
const outlasts: Story = context => {
  const { random, time } = context;
  const gpu = drawFault(context);
  const nic = { ...drawFault(context), node: gpu.node };
  const over = (fault: Fault): JsonObject =>
    eventOf({ ...fault, id: `${fault.id}-over` }, { isHealthy: true, isFatal: false });
  const second = at(time, random, hours(25), hours(50));
  const drafts = [
    draft(time, eventOf(gpu)),
    draft(second, eventOf(nic)),
    draft(at(second, random, minutes(20), minutes(60)), over(nic)),
  ];
  return random.chance(0.5) ? drafts : [...drafts, draft(at(second, random, hours(2), hours(4)), over(gpu))];
};

/** Of two GPUs and one error code: another code recovers, one GPU, the other. */
const oneByOne: Story = context => {
  const { random, time } = context;
  const fault = drawFault(context);
  const gpu = (value: string): JsonObject => ({ entityType: 'GPU', entityValue: value });
  const over = (count: number, more: JsonObject): JsonObject =>
    eventOf({ ...fault, id: `${fault.id}-over-${count}` }, { isHealthy: true, isFatal: false, ...more });
  const first = at(time, random, minutes(10), hours(30));
  const both = { errorCode: ['79'], entitiesImpacted: [gpu('0'), gpu('1')] };
  return [
    draft(time, eventOf(fault, both)),
    draft(at(time, random, minutes(8), minutes(9)), over(0, { errorCode: ['48'] })),
    draft(first, over(1, { entitiesImpacted: [gpu('0')] })),
    ...(random.chance(0.7)
      ? [draft(at(first, random, minutes(10), hours(5)), over(2, { entitiesImpacted: [gpu('1')] }))]
      : []),
  ];
};

/** A clock that is hours ahead, and put right before the fault is over, or before the next fault. */
const ahead: Story = context => {
  const { random, time } = context;
  const fault = drawFault(context);
  const wrong = toIsoText(at(time, random, hours(2), hours(9)));
  const next = at(time, random, minutes(10), minutes(40));
  const right = toIsoText(addDuration(next, seconds(-1)));
  const over = { isHealthy: true, isFatal: false };
  return random.chance(0.5)
    ? [
        draft(time, eventOf(fault, { generatedTimestamp: wrong })),
        draft(next, eventOf({ ...fault, id: `${fault.id}-over` }, { ...over, generatedTimestamp: right })),
      ]
    : [
        draft(time, eventOf({ ...fault, id: `${fault.id}-over` }, { ...over, generatedTimestamp: wrong })),
        draft(next, eventOf(fault, { generatedTimestamp: right })),
      ];
};

/** What other releases and databases write: it asks for a drain all the same. */
const otherWords: Story = context => {
  const { random, time } = context;
  const fault = drawFault(context);
  const { node, checkName, id } = fault;
  const stored: JsonObject = {
    _id: { $oid: id },
    createdAt: { $date: toIsoText(time) },
    healthevent: {
      nodename: node.name,
      agent: 'monitor',
      componentclass: 'GPU',
      checkname: checkName,
      recommendedaction: { $numberInt: '24' },
    },
    healtheventstatus: { nodequarantined: 'Quarantined', userpodsevictionstatus: { status: '' } },
  };
  return [
    draft(
      time,
      random.pick<JsonObject>([
        eventOf(fault, { recommendedAction: 'RESTART_APP' }),
        eventOf(fault, { recommendedAction: '39' }),
        eventOf(fault, { errorCode: [79], metadata: { gpuCount: 8 } }),
        eventOf(fault, { cluster: 'prod-eu' }),
        eventOf(fault, { healthEventStatus: { nodeQuarantined: 'NotStarted' } }),
        stored,
      ]),
    ),
  ];
};

/** In the first hours: what follows days later comes before the end. */
const early =
  (story: Story): Story =>
  context =>
    story({ ...context, time: addDuration(START, toDurationMs(Math.round((context.time - START) / 8))) });

export const NEWS_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [1.5, early(harmless)],
  [1, early(foreign)],
  [1.5, early(old)],
  [1.5, early(exportedAgain)],
  [2, early(answeredAgain)],
  [1.5, early(outlasts)],
  [1.5, early(oneByOne)],
  [1, early(ahead)],
  [1, early(otherWords)],
];

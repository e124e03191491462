/** Mistakes about events that are old, foreign, harmless, doubled or out of order, and about what is remembered of ends. */
import { decide } from '../../functions/drain/decide.ts';
import type { DrainDecision } from '../../functions/drain/rule/decision.ts';
import { endPlanOf } from '../../functions/drain/rule/ending.ts';
import type { DrainRecord } from '../../functions/drain/record.ts';
import type { Observation } from '../../functions/drain/rule/observation.ts';
import { createReconciler } from '../../functions/drain/route.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { hours } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { seeingAny } from './drain-mutations.ts';
import type { Mutant } from './mutant.ts';

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;

/** The function hears other messages than those that came. */
export const hearing = (change: (message: BusEvent) => BusEvent): Mutation => ({
  reconcilers: {
    drain: deps => {
      const reconcile = createReconciler(deps);
      return message => reconcile(message.kind === 'busEvent' ? change(message) : message);
    },
  },
});

/** It hears another event, whatever the form is that it comes in. */
const hearingEvent = (change: (event: JsonObject, message: BusEvent) => JsonObject): Mutation =>
  hearing(message => {
    const { detail } = message;
    const data = detail['data'];
    if (!isJsonObject(data)) return { ...message, detail: { ...change(detail as JsonObject, message) } };
    const inner = data['healthEvent'];
    const event = change(isJsonObject(inner) ? inner : {}, message);
    return { ...message, detail: { ...detail, data: { ...data, healthEvent: event } } };
  });

const remembering = (change: (record: DrainRecord, seen: Observation) => DrainRecord): Mutation =>
  seeingAny(seen => ({ ...seen, record: change(seen.record, seen) }));

const closingWithoutNews = (decision: DrainDecision, seen: Observation): DrainDecision =>
  decision.kind === 'close'
    ? { ...decision, plan: endPlanOf(seen, decision.active, { ...decision.ending, over: [] }) }
    : decision;

export const DRAIN_EVENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-by-harmless-news',
    mistake: 'drains for each event, whether or not it is fatal or quarantined',
    breaks: ['I2'],
    scenario: 'drain-what-asks.yaml#drain-what-asks',
    mutation: hearingEvent(event =>
      event['isHealthy'] === true ? event : { ...event, isFatal: true, nodeQuarantined: 'Quarantined' },
    ),
  },
  {
    name: 'drain-by-news-of-another-cluster',
    mistake: 'does not look at the cluster that an event names',
    breaks: ['I2', 'I7'],
    scenario: 'drain-news-of-another-cluster.yaml#drain-news-of-another-cluster',
    mutation: hearing(message => {
      const { cluster: _, source: __, ...detail } = message.detail;
      const { data } = detail;
      return { ...message, detail: { ...detail, ...(isJsonObject(data) && { data: { ...data, metadata: {} } }) } };
    }),
  },
  {
    name: 'drain-end-knows-no-recovery',
    mistake: 'forgets that a fault is over while the end of its drain is on its way',
    breaks: ['I5'],
    scenario: 'drain-is-cancelled.yaml#drain-whose-fault-ends-before-its-end-is-written',
    mutation: {
      reconcilers: {
        drain: deps => createReconciler(deps, { decide: seen => closingWithoutNews(decide(seen), seen) }),
      },
    },
  },
  {
    name: 'drain-by-old-news',
    mistake: 'does not ask how old an event is',
    breaks: ['I2'],
    seed: 20032,
    scenario: 'drain-old-news.yaml#drain-old-news',
    mutation: hearing(message => ({ ...message, receivedTime: undefined })),
  },
  {
    name: 'drain-news-ages-while-it-is-tried',
    mistake: 'counts the age of an event to each try of it, not to its first receipt',
    breaks: ['I5'],
    scenario: 'drain-old-news.yaml#drain-old-news-of-an-outage',
    mutation: {
      reconcilers: {
        drain: deps => {
          const reconcile = createReconciler(deps);
          return message =>
            reconcile(message.kind === 'busEvent' ? { ...message, receivedTime: deps.clock.now() } : message);
        },
      },
    },
  },
  {
    name: 'drain-by-the-same-news-under-another-id',
    mistake: 'takes the id of the envelope for that of the event',
    breaks: ['I2'],
    scenario: 'drain-old-news.yaml#drain-old-news-under-another-id',
    mutation: hearingEvent((event, { detail }) => ({ id: detail['id'] as string, ...event })),
  },
  {
    name: 'drain-believes-a-clock-that-is-ahead',
    mistake: 'takes what a clock says that is ahead of the bus for the time of an event',
    breaks: ['I5'],
    scenario: 'drain-old-news.yaml#drain-news-of-a-clock-that-was-ahead',
    mutation: hearing(message => ({ ...message, receivedTime: undefined, time: undefined })),
  },
  {
    name: 'drain-refuses-words-of-other-releases',
    mistake: 'takes an action that it does not know for an error',
    breaks: ['I9'],
    scenario: 'drain-what-asks.yaml#drain-what-asks',
    mutation: hearingEvent(event => {
      const { recommendedAction = 0 } = event;
      if (recommendedAction === 0 || recommendedAction === 'NONE') return event;
      throw new TerminalError('InvalidMessage', 'HealthEvent is not valid: recommendedAction');
    }),
  },
  {
    name: 'drain-ends-more-than-a-recovery-names',
    mistake: 'ends every fault of the check, whichever codes and entities recover',
    breaks: ['I7'],
    seed: 20000,
    scenario: 'drain-recoveries.yaml#drain-recoveries-of-what-they-name',
    mutation: hearingEvent(event =>
      event['isHealthy'] === true ? { ...event, errorCode: [], entitiesImpacted: [] } : event,
    ),
  },
  {
    name: 'drain-forgets-what-has-recovered',
    mistake: 'does not add up what recovers one by one',
    breaks: ['I5'],
    seed: 20000,
    scenario: 'drain-recoveries.yaml#drain-recoveries-of-what-they-name',
    mutation: remembering(record => ({ ...record, recoveries: [] })),
  },
  {
    name: 'drain-forgets-after-a-day',
    mistake: 'forgets how a drain ended after a day, although its cordon stands',
    breaks: ['I12', 'I2', 'I5', 'I7'],
    seed: 20008,
    scenario: 'drain-recoveries.yaml#drain-recoveries-after-days',
    mutation: remembering((record, { now }) => ({
      ...record,
      answered: [],
      finished: record.finished.filter(({ endTime }) => now - endTime < hours(24)),
    })),
  },
  {
    name: 'drain-forgets-all-but-the-last-hundred',
    mistake: 'forgets the answer to a request when a hundred others have been answered',
    breaks: ['I12', 'I2'],
    seed: 20_008,
    mutation: remembering(record => ({ ...record, answered: [], finished: record.finished.slice(-100) })),
  },
  {
    name: 'drain-forgets-all-ends-but-the-last',
    mistake:
      'keeps of all ends but the last nothing but the answer, although their faults are not over and the cordon stands',
    breaks: ['I12'],
    seed: 20_012,
    mutation: remembering(record => ({
      ...record,
      answered: [
        ...(record.answered ?? []),
        ...record.finished.slice(0, -1).map(({ id, status, endTime }) => ({ id, status, endTime })),
      ],
      finished: record.finished.slice(-1),
    })),
  },
];

/** The inboxes of all functions in this process, and what fills them: an event goes to each function whose route asks for it, a wake-up to its owner. */
import type { Envelope } from '../../shared/contract/envelope.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { matchesPattern, ROUTES } from '../../shared/contract/routes.ts';
import { toWakeUpEnvelope } from '../../shared/contract/wake-up.ts';
import { seconds, toIsoText, type DurationMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { MAX_CALL_BYTES, type EventBus } from '../../shared/ports/event-bus.ts';
import type { WakeUpSender } from '../../shared/ports/inbox.ts';
import type { Inbox } from '../inbox.ts';
import type { SystemHooks } from '../system-parts.ts';

/** Puts a message into the inbox of a function. */
type Deliver = (target: FunctionName, body: string, delay: DurationMs) => void;

export interface Inboxes {
  readonly byName: Map<FunctionName, Inbox>;
  of(name: FunctionName): Inbox;
  readonly deliver: Deliver;
}

/** @param onItsWay takes each message before it is in an inbox */
export function createInboxes(onItsWay: SystemHooks['deliver']): Inboxes {
  const byName = new Map<FunctionName, Inbox>();
  const of = (name: FunctionName): Inbox => {
    const inbox = byName.get(name);
    invariant(inbox !== undefined, `the inbox of ${name} is there`);
    return inbox;
  };
  return {
    byName,
    of,
    deliver(target, body, delay) {
      const inbox = of(target);
      if (onItsWay === undefined) inbox.send(body, delay);
      else onItsWay(target, delay, actualDelay => inbox.send(body, actualDelay));
    },
  };
}

export interface InProcessBus extends EventBus {
  /** Publishes one event, of whatever size. Answers whether a route asks for it. */
  route(event: Omit<Envelope, 'id' | 'time'>): boolean;
}

/** Numbers the events. */
export function createInProcessBus(options: {
  readonly cluster: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly deliver: Deliver;
}): InProcessBus {
  const { cluster, clock, deliver } = options;
  let events = 0;

  const route: InProcessBus['route'] = event => {
    const envelope: Envelope = {
      id: `event-${(events += 1)}`,
      source: event.source,
      'detail-type': event['detail-type'],
      time: toIsoText(clock.now()),
      detail: event.detail,
    };
    const body = JSON.stringify(envelope);
    const taken = ROUTES.filter(({ pattern }) => matchesPattern(pattern(cluster), envelope));
    for (const { target } of taken) deliver(target, body, seconds(0));
    return taken.length > 0;
  };

  return {
    route,
    async publish(entries) {
      return entries.map(({ source, detailType, detail }) => {
        if (Buffer.byteLength(JSON.stringify(detail)) > MAX_CALL_BYTES)
          return {
            kind: 'rejected',
            code: 'EntryTooLarge',
            message: `the detail is larger than ${MAX_CALL_BYTES} bytes`,
          };
        route({ source, 'detail-type': detailType, detail: { ...detail } });
        return { kind: 'published' };
      });
    },
  };
}

export function createInProcessWakeUps(deliver: Deliver): WakeUpSender {
  return {
    async send(wakeUps) {
      for (const { wakeUp, delay } of wakeUps) deliver(wakeUp.owner, JSON.stringify(toWakeUpEnvelope(wakeUp)), delay);
    },
  };
}

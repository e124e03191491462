/** Messages on their way into an inbox: twice, late, out of order, once more days later. None is ever lost: SQS and EventBridge deliver at least once. */
import { addDuration, hours, minutes, type DurationMs } from '../../shared/domain/time.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { FaultInjector } from './injector.ts';
import { MESSAGE_FAULTS } from './mix.ts';

const LONGEST_DELAY = minutes(1);
/** The visibility timeout of the inboxes. */
const REDELIVERY_DELAY = minutes(3);
/** Longer than any run that is not about news of days. */
const REDRIVE_DELAY = hours(30);

/** Hands a message on: `send` queues it with the delay that SQS was asked for. */
export function deliverWithFaults(
  delay: DurationMs,
  send: (delay: DurationMs) => void,
  injector: FaultInjector,
  scheduler: Scheduler,
): void {
  const sendLater = (extra: DurationMs): void => {
    scheduler.at(addDuration(scheduler.now(), extra), () => send(delay));
  };
  switch (injector.oneOf(MESSAGE_FAULTS)) {
    case 'duplicate':
      send(delay);
      return sendLater(injector.delay(LONGEST_DELAY));
    case 'delay':
      return sendLater(injector.delay(LONGEST_DELAY));
    case 'redelivery':
      return sendLater(REDELIVERY_DELAY);
    case 'redrive':
      send(delay);
      return sendLater(REDRIVE_DELAY);
    case undefined:
      return send(delay);
  }
}

/**
 * One function's inbox, with the semantics of an SQS queue that feeds a Lambda function. Delays are in whole seconds. A message comes again
 * after a failure, or if its visibility timeout ends first. After too many receives it goes to the dead letters.
 */
import { addDuration, seconds, toDurationMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import { invariant } from '../shared/domain/invariant.ts';
import { RetryableError } from '../shared/errors.ts';
import { retryDelay } from '../shared/lambda/retry-delay.ts';
import { MAX_DELAY_SECONDS } from '../shared/contract/wake-up.ts';
import type { Cancel, Scheduler } from './scheduler.ts';

export interface InboxSettings {
  /** How long a message that was received stays hidden. */
  readonly visibilityTimeout: DurationMs;
  /** Receives before a message goes to the dead letters. */
  readonly maxReceiveCount: number;
  /** Messages that are at work at once; more wait. Default: all, as virtual time asks for, in which nothing takes time. */
  readonly concurrency?: number;
}

export interface InboxMessage {
  readonly id: string;
  readonly body: string;
  readonly receiveCount: number;
  /** Absent until then. */
  readonly firstReceived?: EpochMs;
}

export interface InboxOptions {
  readonly name: string;
  readonly settings: InboxSettings;
  readonly scheduler: Scheduler;
  /** Resolves when the message is done with, rejects when it must come again; never settles when the reader died. */
  readonly consume: (message: InboxMessage) => Promise<void>;
  /** Takes a message that was received too often. */
  readonly bury: (message: InboxMessage) => void;
}

/** A message that is not finished, for carrying it over into another inbox. */
export interface WaitingMessage {
  readonly id: string;
  readonly body: string;
  /** The count of its next receive. */
  readonly receiveCount: number;
  readonly firstReceived?: EpochMs;
  /** When it is received next if nothing finishes it before. */
  readonly visibleTime: EpochMs;
}

export interface Inbox {
  /** Queues a message, visible after `delay` (whole seconds, rounded down; at most 900 s). */
  send(body: string, delay?: DurationMs): void;
  /** All that is not finished, in the order in which it was sent. */
  waiting(): readonly WaitingMessage[];
  /** Takes over what waited in another inbox, under an id of its own. */
  takeOver(message: WaitingMessage): void;
  /** Messages that wait, are hidden or are being processed. */
  depth(): number;
}

/** A message that failed comes again as `retryDelay` says, one whose reader never settles after `visibilityTimeout`. */
export function createInbox({ name, settings, scheduler, consume, bury }: InboxOptions): Inbox {
  let sent = 0;
  /** By id. */
  const waiting = new Map<string, WaitingMessage>();
  const { concurrency = Infinity } = settings;
  let atWork = 0;
  /** Visible, and not received yet. */
  const visible: InboxMessage[] = [];

  /** @returns what gives the place back; safe to call twice */
  const takePlace = (): (() => void) => {
    atWork += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      atWork -= 1;
      const next = visible.shift();
      if (next !== undefined) receive(next);
    };
  };
  const receive = (received: InboxMessage): void => {
    if (!waiting.has(received.id)) return;
    if (atWork >= concurrency) {
      visible.push(received);
      return;
    }
    const message = { ...received, firstReceived: received.firstReceived ?? scheduler.now() };
    const finish = (): void => void waiting.delete(message.id);
    if (message.receiveCount > settings.maxReceiveCount) {
      finish();
      bury({ ...message, receiveCount: message.receiveCount - 1 });
      return;
    }
    const leave = takePlace();
    const visibleAgain = addDuration(scheduler.now(), settings.visibilityTimeout);
    const next = { ...message, receiveCount: message.receiveCount + 1 };
    // Its reader died, or takes too long.
    const callOff = receiveAt(visibleAgain, next, leave);
    consume(message).then(
      () => {
        callOff();
        finish();
        leave();
      },
      (error: unknown) => {
        const asked = error instanceof RetryableError ? error.retryAfterMs : undefined;
        callOff();
        if (waiting.has(message.id))
          receiveAt(addDuration(scheduler.now(), retryDelay(message.receiveCount, asked)), next);
        leave();
      },
    );
  };
  const receiveAt = (visibleTime: EpochMs, message: InboxMessage, before?: () => void): Cancel => {
    waiting.set(message.id, { ...message, visibleTime });
    return scheduler.at(visibleTime, () => {
      before?.();
      receive(message);
    });
  };
  const nextId = (): string => `${name}-${(sent += 1)}`;

  return {
    send(body, delay = toDurationMs(0)) {
      const wholeSeconds = Math.max(0, Math.floor(delay / 1000));
      invariant(
        wholeSeconds <= MAX_DELAY_SECONDS,
        `a message is delayed by at most ${MAX_DELAY_SECONDS} s, not ${wholeSeconds} s`,
      );
      const visibleTime = addDuration(scheduler.now(), seconds(wholeSeconds));
      receiveAt(visibleTime, { id: nextId(), body, receiveCount: 1 });
    },
    waiting: () => [...waiting.values()],
    takeOver({ visibleTime, ...message }) {
      receiveAt(visibleTime, { ...message, id: nextId() });
    },
    depth: () => waiting.size,
  };
}

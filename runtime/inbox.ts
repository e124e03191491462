/**
 * One function's inbox, with the semantics of an SQS queue that feeds a Lambda function: delays in whole seconds, redelivery
 * after a failure, or when the visibility timeout of a message that was not finished is over, and the dead letters after too many receives.
 */
import { addDuration, seconds, toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { invariant, RetryableError } from '../shared/errors.ts';
import { retryDelay } from '../shared/lambda/retry-delay.ts';
import { MAX_DELAY_SECONDS } from '../shared/contract/wake-up.ts';
import type { Scheduler } from './scheduler.ts';

export interface InboxSettings {
  /** How long a message that was received stays hidden. */
  readonly visibilityTimeout: DurationMs;
  /** Receives before a message goes to the dead letters. */
  readonly maxReceiveCount: number;
}

export interface InboxMessage {
  readonly id: string;
  readonly body: string;
  readonly receiveCount: number;
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

export interface Inbox {
  /** Queues a message, visible after `delay` (whole seconds, rounded down; at most 900 s). */
  send(body: string, delay?: DurationMs): void;
  /** Messages that wait, are hidden or are being processed. */
  depth(): number;
}

export function createInbox({ name, settings, scheduler, consume, bury }: InboxOptions): Inbox {
  let sent = 0;
  let depth = 0;

  const receive = (message: InboxMessage, state: { finished: boolean }): void => {
    if (state.finished) return;
    const finish = (): void => {
      if (!state.finished) depth -= 1;
      state.finished = true;
    };
    if (message.receiveCount > settings.maxReceiveCount) {
      finish();
      bury({ ...message, receiveCount: message.receiveCount - 1 });
      return;
    }
    const visibleAgain = addDuration(scheduler.now(), settings.visibilityTimeout);
    const next = { ...message, receiveCount: message.receiveCount + 1 };
    const callOff = scheduler.at(visibleAgain, () => receive(next, state));
    consume(message).then(
      () => {
        callOff();
        finish();
      },
      (error: unknown) => {
        const asked = error instanceof RetryableError ? error.retryAfterMs : undefined;
        callOff();
        scheduler.at(addDuration(scheduler.now(), retryDelay(message.receiveCount, asked)), () => receive(next, state));
      },
    );
  };

  return {
    send(body, delay = toDurationMs(0)) {
      const wholeSeconds = Math.max(0, Math.floor(delay / 1000));
      invariant(
        wholeSeconds <= MAX_DELAY_SECONDS,
        `a message is delayed by at most ${MAX_DELAY_SECONDS} s, not ${wholeSeconds} s`,
      );
      const id = `${name}-${(sent += 1)}`;
      depth += 1;
      const message = { id, body, receiveCount: 1 };
      const state = { finished: false };
      scheduler.at(addDuration(scheduler.now(), seconds(wholeSeconds)), () => receive(message, state));
    },
    depth: () => depth,
  };
}

/**
 * One inbox message from body to outcome; what the Lambda batch handler and every in-process runner share.
 * - not valid, or `TerminalError` → parked in the DLQ with its reason, done
 * - `RetryableError` → thrown, the message is redelivered; one that is sent every minute is soon left to the next one
 * - a bug → the same for an hour, in which it may be mended; then parked
 */
import { MAX_BUG_RECEIVES, MAX_REPEATED_RECEIVES } from '../contract/inbox.ts';
import { parseInboxMessage, type InboxMessage } from '../contract/inbox-message.ts';
import type { FunctionName } from '../contract/names.ts';
import { durationBetween, seconds, type EpochMs } from '../domain/time.ts';
import { messageOf, OUT_OF_TIME, RetryableError, TerminalError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { DeadLetters } from '../ports/dead-letters.ts';
import type { Reconcile } from '../ports/function-deps.ts';
import type { MetricSink } from '../ports/metrics.ts';
import { retryReason } from './retry-reason.ts';

export interface ProcessDeps {
  readonly function: FunctionName;
  /** The cluster that this function is deployed for. */
  readonly cluster: string;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
  readonly metrics: MetricSink;
  /** Checks what every message needs, at each tick. Throws what that message would meet. */
  readonly probe?: () => Promise<void>;
  /** Default: `parseInboxMessage`. Where many functions run in one process, each body need not be parsed by all of them. */
  readonly parse?: (body: string) => InboxMessage;
}

/**
 * SQS delays are whole seconds, so a wake-up is sent up to one second early and the rest is waited out here.
 * Anything earlier than that is a hint like any other: the function looks again and re-arms.
 */
const LONGEST_WAIT = seconds(1);

/**
 * @param receiveCount how often the message was received, from 1
 * @param options `hasTime: false` for a message that is not to be begun any more: it is tried again, or left to the next one;
 *   `firstReceived`: when it was received for the first time, default now
 */
export async function processMessage(
  body: string,
  receiveCount: number,
  deps: ProcessDeps,
  { hasTime = true, firstReceived }: { readonly hasTime?: boolean; readonly firstReceived?: EpochMs } = {},
): Promise<void> {
  let message: InboxMessage | undefined;
  try {
    message = (deps.parse ?? parseInboxMessage)(body);
    refuseOtherClusters(message, deps.cluster);
    if (!hasTime) throw new RetryableError('not begun: too little time is left', { reason: OUT_OF_TIME });
    if (message.kind === 'wakeUp') {
      const early = durationBetween(deps.clock.now(), message.wakeTime);
      if (early > 0 && early <= LONGEST_WAIT) await deps.clock.sleep(early);
    }
    if (message.kind === 'tick') await deps.probe?.();
    await deps.reconcile(withReceipt(message, firstReceived ?? deps.clock.now()));
  } catch (error) {
    if (error instanceof RetryableError && isRepeated(message) && receiveCount >= MAX_REPEATED_RECEIVES) {
      deps.metrics.count('MessageSuperseded', 1, { reason: retryReason(error.reason) });
      return;
    }
    const reason = reasonToPark(error, receiveCount);
    if (reason === undefined) throw error;
    await deps.deadLetters.park({ function: deps.function, body, reason, explanation: messageOf(error) });
    deps.metrics.count('MessageParked', 1, { reason });
  }
}

/** A bus event keeps the time at which it first came, however often it is tried. */
const withReceipt = (message: InboxMessage, receivedTime: EpochMs): InboxMessage =>
  message.kind === 'busEvent' ? { ...message, receivedTime } : message;

/** Names and UIDs of another cluster mean nothing here. The rules let no such event through; a misrouted one is parked. */
function refuseOtherClusters(message: InboxMessage, own: string): void {
  if (message.kind !== 'clusterEvent' && message.kind !== 'customResource') return;
  const { cluster } = message.event;
  if (cluster === own) return;
  throw new TerminalError(
    'OtherCluster',
    `an event of cluster ${JSON.stringify(cluster)}; this function is deployed for ${own}`,
  );
}

/** undefined: it is tried again. */
function reasonToPark(error: unknown, receiveCount: number): string | undefined {
  if (error instanceof TerminalError) return error.reason;
  if (error instanceof RetryableError || receiveCount < MAX_BUG_RECEIVES) return undefined;
  return 'Bug';
}

const isRepeated = (message: InboxMessage | undefined): boolean =>
  message?.kind === 'tick' || (message?.kind === 'wakeUp' && message.repeated === true);

/**
 * One SQS batch: every record through `processMessage`, one after the other, failures reported one by one.
 *
 * Nothing may run on after the handler has answered: Lambda freezes the environment there, and what thaws minutes later would act on what
 * it saw before (I3). So the answer waits for every record that has begun, none is ever given up, and one for which too little time is
 * left is not begun. Nor may Lambda end the run: the calls of a record end before (`run-time.ts`), and it fails.
 */
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { ACCESS_REASONS, METRICS } from '../contract/metrics.ts';
import { toDurationMs, toEpochMs, type DurationMs, type EpochMs } from '../domain/time.ts';
import { messageOf, RetryableError } from '../errors.ts';
import type { LimitClock } from '../ports/clock.ts';
import type { MessageVisibility } from '../ports/message-visibility.ts';
import type { MetricSink } from '../ports/metrics.ts';
import { logFields, withLogFields } from './log-fields.ts';
import { processMessage, type ProcessDeps } from './process-message.ts';
import { retryDelay } from './retry-delay.ts';
import { retryReason } from './retry-reason.ts';
import { DEADLINE_RESERVE, endCallsWith, startRun, type RunLimits } from './run-time.ts';

/** The lines that are written about failures; `withLogFields` says of which record. */
export interface BatchLog {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface BatchDeps {
  readonly process: ProcessDeps;
  readonly visibility: MessageVisibility;
  readonly metrics: MetricSink;
  readonly log: BatchLog;
  readonly clock: LimitClock;
  /** A record is begun only while this much is left of the run. Default: `DEADLINE_RESERVE`. */
  readonly reserve?: DurationMs;
}

/** Works on each record of the batch. Answers those that failed, which SQS delivers again; never rejects for one of them. */
export async function processBatch(event: SQSEvent, context: Context, deps: BatchDeps): Promise<SQSBatchResponse> {
  const processor = new BatchProcessor(EventType.SQS);
  using limits = startRun(deps.clock, toDurationMs(context.getRemainingTimeInMillis()));
  const process = (record: SQSRecord): Promise<void> => {
    const { messageId, attributes } = record;
    const fields = { ...logFields(), messageId, receiveCount: attributes.ApproximateReceiveCount };
    return withLogFields(fields, () => processRecord(record, context, deps, limits));
  };
  return await processPartialResponse(event, process, processor, {
    context,
    processInParallel: false,
    // The answer says which failed; an error on top would make Lambda return the whole batch.
    throwOnFullBatchFailure: false,
  });
}

async function processRecord(record: SQSRecord, context: Context, deps: BatchDeps, limits: RunLimits): Promise<void> {
  const hasTime = context.getRemainingTimeInMillis() >= (deps.reserve ?? DEADLINE_RESERVE);
  try {
    const receives = Number(record.attributes.ApproximateReceiveCount);
    const firstReceived = firstReceiptOf(record);
    const options = { hasTime, ...(firstReceived !== undefined && { firstReceived }) };
    await endCallsWith(limits.messageCalls, () => processMessage(record.body, receives, deps.process, options));
  } catch (error) {
    report(error, deps);
    await endCallsWith(limits.visibilityCalls, () => tryAgainSoon(record, error, deps, hasTime));
    throw error instanceof Error ? error : new Error(messageOf(error), { cause: error });
  }
}

/** As SQS counts it: the message that comes again after a failure has the same one. */
function firstReceiptOf({ attributes }: SQSRecord): EpochMs | undefined {
  const ms = Number(attributes.ApproximateFirstReceiveTimestamp);
  return Number.isFinite(ms) && ms > 0 ? toEpochMs(ms) : undefined;
}

/** A failed message would come back only when the inbox's visibility timeout is over; most failures pass sooner. */
async function tryAgainSoon(
  record: SQSRecord,
  error: unknown,
  { visibility, log }: BatchDeps,
  begun: boolean,
): Promise<void> {
  const asked = error instanceof RetryableError ? error.retryAfterMs : undefined;
  const delay = retryDelay(Number(record.attributes.ApproximateReceiveCount), asked, { begun });
  try {
    await visibility.hideFor(record.receiptHandle, delay);
  } catch (failure) {
    // It comes back later then, but it comes.
    log.warn('visibility not changed', { error: failure });
  }
}

/** Every failed attempt is seen: as a line with all there is to know, and as a metric. */
function report(error: unknown, { log, metrics }: BatchDeps): void {
  if (error instanceof RetryableError) {
    const { reason = 'Unknown', outcomeUnknown } = error;
    log.warn('message failed, will be redelivered', { reason, outcomeUnknown, error });
    const counted = retryReason(error.reason);
    metrics.count(METRICS.retries, 1, { reason: counted });
    if (ACCESS_REASONS.has(counted)) metrics.count(METRICS.accessFailures);
  } else {
    log.error('message failed because of a bug, will be redelivered', { error });
    metrics.count(METRICS.messageFailed);
  }
}
